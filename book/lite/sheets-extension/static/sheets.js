// Two things that JupyterLite lacks for a learner: the own work as a file, under the sheet's own
// name; and a word when another version of the open sheet is there, the course's or an earlier own.
//
// It has the form of a container of webpack's module federation, written by hand: it needs nothing
// but the application that JupyterLab hands to every plugin.

const NAME = "transformer-block-sheets";
const VERSIONED = /^(.+)-v[0-9a-f]{6}\.ipynb$/; // as bookext/sheets.py names them
const NARROW = 760; // pixels; with the list of files open a phone has no room for a sheet
const own = (path) => path.replace(VERSIONED, "$1.ipynb").split("/").pop();

const openNotebook = (app) => {
  const context = app.shell.currentWidget?.context;
  return context?.path.endsWith(".ipynb") ? context : null;
};

async function download(app) {
  const context = openNotebook(app);
  if (!context) return;
  await context.save();
  const text = JSON.stringify(context.model.toJSON(), null, 1);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/x-ipynb+json" }));
  link.download = own(context.path);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The course's sheets are what the server lists; whatever else is in the browser is the learner's.
async function versions(app, path) {
  const base = document.baseURI.replace(/lab\/.*$/, "");
  const listed = await (await fetch(`${base}api/contents/all.json`)).json();
  const courses = listed.content.map((file) => file.path);
  const { content } = await app.serviceManager.contents.get("");
  const others = content.map((file) => file.path).filter((other) => VERSIONED.test(other));
  const same = others.filter((other) => other !== path && own(other) === own(path));
  return { newer: courses.includes(path) ? null : same.find((other) => courses.includes(other)),
           earlier: same.filter((other) => !courses.includes(other)) };
}

const told = new Set();

async function tellOfOthers(app) {
  const path = openNotebook(app)?.path;
  if (!path || told.has(path) || !VERSIONED.test(path)) return;
  told.add(path);
  const { newer, earlier } = await versions(app, path);
  const notify = (message, other) =>
    app.commands.execute("apputils:notify", {
      message,
      type: "info",
      options: {
        autoClose: false,
        actions: [{ label: "Open it", commandId: "docmanager:open", args: { path: other } }],
      },
    });
  if (newer) await notify("The course has a newer version of this sheet. Yours stays as it is.", newer);
  else if (earlier.length)
    await notify(`This is a new version of the sheet. Your earlier work is in ${earlier[0]}.`, earlier[0]);
}

// JupyterLab shows the list of files when it has opened one, so hide it once the sheet is ready.
async function giveRoom(app) {
  const context = openNotebook(app);
  if (!context || innerWidth >= NARROW) return;
  await context.sessionContext.ready;
  app.shell.collapseLeft();
}

const plugin = {
  id: `${NAME}:plugin`,
  autoStart: true,
  activate(app) {
    app.commands.addCommand("sheets:download", {
      label: "Download my notebook",
      caption: "Save this notebook as a file on your computer, to keep it or to hand it in",
      execute: () => download(app),
    });
    app.shell.currentChanged.connect(() => {
      giveRoom(app);
      tellOfOthers(app);
    });
  },
};

(globalThis._JUPYTERLAB ??= {})[NAME] = {
  init() {},
  get: async () => () => ({ __esModule: true, default: plugin }),
};
