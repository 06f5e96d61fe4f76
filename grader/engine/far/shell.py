"""Running a student's cells in a warm IPython shell: bounded output, figures as PNG."""

import base64
import contextlib
import io
import sys
import time
import warnings

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from traitlets import Type
from traitlets.config import Config

from grader.engine.far.clock import time_limit
from grader.engine.far.errors import describe_error

MOST_TEXT = 50_000  # characters of output that one cell may keep
MOST_OUTPUTS = 40
MOST_FIGURES = 10
MOST_PICTURE = 2 << 20  # bytes of one PNG
WARM_UP = 30.0  # seconds that warming up may take
DPI = 72  # of figures: one drawing, small enough for a class
CUT = "\n… the output is cut here.\n"
REFUSED = "Not run while a notebook is marked: {}. There is no network and no shell here.\n"
SHELL_MAGICS = ("bash", "sh", "script", "pip", "conda", "mamba", "uv", "system", "sx", "cmd")
WINDOW_MAGICS = ("matplotlib", "pylab", "config", "load_ext", "reload_ext", "autoreload")
DEBUG_MAGICS = ("debug", "pdb")


class Outputs:
    """What a cell shows, in order, up to a bound."""

    def __init__(self):
        self.items = []
        self.room = MOST_TEXT
        self.full = False

    def write(self, name, text):
        """Add text to a stream, as much as there is room for."""
        kept = self._cut(text)
        if not kept:
            return
        last = self.items[-1] if self.items else {}
        if last.get("stream") == name:
            last["text"].append(kept)
        elif len(self.items) < MOST_OUTPUTS:
            self.items.append({"stream": name, "text": [kept]})

    def show(self, kind, data):
        """Add a result, something displayed, or a picture."""
        if len(self.items) >= MOST_OUTPUTS:
            return
        text = data.get("text/plain")
        kept = {} if text is None else {"text/plain": self._cut(str(text)) or CUT}
        if isinstance(data.get("image/png"), bytes | str):
            kept |= _picture(data["image/png"])
        if kept:
            self.items.append({"show": kind, "data": kept})

    def _cut(self, text):
        """Return as much of a text as there is room for; the first that is cut says so."""
        kept, full = text[: self.room], len(text) > self.room
        self.room -= len(kept)
        if full and not self.full:
            kept += CUT
        self.full |= full
        return kept

    def told(self):
        """Return the items with each stream's text in one piece."""
        return [
            {**item, "text": "".join(item["text"])} if "stream" in item else item
            for item in self.items
        ]


def _picture(png):
    """Return a PNG as text, if it is not too large."""
    text = base64.b64encode(png).decode() if isinstance(png, bytes) else png
    return {"image/png": text} if len(text) <= MOST_PICTURE * 4 // 3 else {}


class Stream(io.TextIOBase):
    """``sys.stdout`` or ``sys.stderr`` of a cell.

    Parameters
    ----------
    outputs : Outputs
        Takes the text.
    name : str
        ``"stdout"`` or ``"stderr"``.
    """

    encoding = "utf-8"

    def __init__(self, outputs, name):
        super().__init__()
        self.outputs, self.label = outputs, name

    def write(self, text):
        """Keep what there is room for."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.outputs.write(self.label, text)
        return len(text)

    def writable(self):
        """Say that this stream is for writing."""
        return True


class Hook(DisplayHook):
    """Takes the values of last expressions."""

    def write_output_prompt(self):
        """Write no prompt."""

    def write_format_data(self, format_dict, md_dict=None):
        """Keep a value as a result of the cell."""
        self.shell.outputs.show("execute_result", format_dict)

    def log_output(self, format_dict):
        """Keep no log."""

    def finish_displayhook(self):
        """End no line."""
        self._is_active = False


class Publisher(DisplayPublisher):
    """Takes what ``display`` is given."""

    def publish(self, data, *args, **kwargs):
        """Keep what is displayed."""
        self.shell.outputs.show("display_data", data)


class QuietShell(InteractiveShell):
    """IPython without history, prompts and tracebacks; ``outputs`` takes what is shown."""

    displayhook_class = Type(Hook)
    display_pub_class = Type(Publisher)
    outputs = None

    def showtraceback(self, *args, **kwargs):
        """Print nothing: the error is told by the side that marks."""

    showsyntaxerror = showtraceback

    def ask_exit(self):
        """Stay: ``quit()`` would end the notebook of a person, and its marks with it."""


@magics_class
class Harmless(Magics):
    """Magics that a notebook may hold, and what becomes of them while it is marked."""

    @line_cell_magic
    def timeit(self, line, cell=None):
        """Run the code once: its time is of no use here."""
        self.shell.ex(cell if cell is not None else line.split("-r")[-1])


class Shell:
    """A warm shell; forks of it run notebooks."""

    def __init__(self):
        settings = Config()
        settings.HistoryManager.enabled = False
        settings.InteractiveShell.colors = "nocolor"
        settings.InteractiveShell.cache_size = 0
        self.shell = QuietShell.instance(config=settings)
        self.shell.display_formatter.active_types = ["text/plain", "image/png"]
        self._replace_magics()
        self._replace_questions()
        self.names = self.shell.user_ns

    def _replace_magics(self):
        """Let windows and debuggers be asked for in vain, and refuse the shell in words."""
        self.shell.register_magics(Harmless)
        manager = self.shell.magics_manager
        for name in SHELL_MAGICS:
            self._register(manager, name, lambda *code, name=name: self._refuse(f"%{name}"))
        for name in (*WINDOW_MAGICS, *DEBUG_MAGICS):
            self._register(manager, name, lambda *code: None)
        for name in ("system", "system_piped", "system_raw", "getoutput", "getoutput_split"):
            setattr(self.shell, name, lambda command, *more, **ways: self._refuse(f"!{command}"))

    def _register(self, manager, name, run):
        manager.magics["line"][name] = manager.magics["cell"][name] = run

    def _refuse(self, what):
        self.shell.outputs.write("stderr", REFUSED.format(what.splitlines()[0][:80]))

    def _replace_questions(self):
        """Let nothing wait for a person who is not there."""
        import builtins

        def nobody(prompt=""):
            raise EOFError("input() was called, and nobody answers while a notebook is marked")

        builtins.input = nobody
        sys.breakpointhook = lambda *args, **kwargs: None

    @contextlib.contextmanager
    def watching(self):
        """Collect what is written and shown; yield where it goes."""
        self.shell.outputs = outputs = Outputs()
        with (
            contextlib.redirect_stdout(Stream(outputs, "stdout")),
            contextlib.redirect_stderr(Stream(outputs, "stderr")),
        ):
            yield outputs

    def run(self, source, limit):
        """Run one cell for so many seconds; return what it showed and its error."""
        start = time.monotonic()
        error = None
        with self.watching() as outputs, time_limit(limit) as clock:
            result = self.shell.run_cell(source, store_history=False)
            error = result.error_before_exec or result.error_in_exec
            self._show_figures(outputs)
        error = clock.error or error
        told = None if error is None else describe_error(error)
        return {"outputs": outputs.told(), "error": told, "seconds": time.monotonic() - start}

    def warm_up(self):
        """Do once what every notebook would wait for: IPython and Matplotlib load parts late."""
        for source in ("import numpy\n1 + 1", "print(1)\n%time 1", "def f(x:", "1 / 0"):
            self.run(source, WARM_UP)
        with contextlib.suppress(ImportError):
            from matplotlib import pyplot

            pyplot.loglog([1, 100], [1, 100], label="$x^2$")  # whose ticks are formulas
            pyplot.title("warm")
            pyplot.legend()
            self._show_figures(Outputs())
        self.shell.reset(new_session=True)

    def _show_figures(self, outputs):
        """Draw the figures that are open, and close them."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        for number in pyplot.get_fignums()[:MOST_FIGURES] if pyplot else []:
            file = io.BytesIO()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    pyplot.figure(number).savefig(file, format="png", dpi=DPI)
            except Exception as trouble:  # a figure may hold anything
                outputs.write("stderr", f"A figure could not be drawn: {trouble}\n")
            else:
                outputs.show("display_data", {"image/png": file.getvalue()})
        if pyplot:
            pyplot.close("all")
