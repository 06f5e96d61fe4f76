// What a reader wrote stays in this browser, together with the version of the cell it grew from.

const PREFIX = "transformer-block/run/1/"; // the number changes when what is stored changes its form

// Asked for inside of `try`: a browser that refuses storage throws as soon as it is named.
const ofBrowser = () => window.localStorage;

// Return {source, version} of earlier work, or null; without storage there is none.
export function recall(name, storage = ofBrowser) {
  try {
    return JSON.parse(storage().getItem(PREFIX + name));
  } catch {
    return null;
  }
}

// Keep work, or forget it when it is the cell's own text; return whether the browser let us.
export function keep(name, source, original, version, storage = ofBrowser) {
  try {
    if (source === original) storage().removeItem(PREFIX + name);
    else storage().setItem(PREFIX + name, JSON.stringify({ source, version }));
    return true;
  } catch {
    return false;
  }
}
