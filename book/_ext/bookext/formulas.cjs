// Renders formulas: each line of the input is a request, each line of the output its answer.
// Ends with its input, so that it never outlives the build that started it.
const katex = require(process.argv[2]);
const { createInterface } = require("node:readline");

function answer({ latex, displayMode }) {
  try {
    return { html: katex.renderToString(latex, { displayMode, strict: "error" }) };
  } catch (error) {
    return { error: error.message };
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
});
