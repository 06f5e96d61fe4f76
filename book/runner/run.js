// Every block marked {run} becomes a cell with an editor and buttons.

import { Cell } from "./cell.js";

for (const place of document.querySelectorAll("div.run")) new Cell(place);
