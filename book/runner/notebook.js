// A cell as a notebook, which runs from the top in any Jupyter where the course is installed.

const code = (id, source) => ({
  cell_type: "code",
  execution_count: null,
  id,
  metadata: {},
  outputs: [],
  source,
});

export function notebook(source, check, setup) {
  const cells = [
    code("setup", setup || "import numpy as np\n\nfrom grader import check"),
    code("answer", source),
    ...(check ? [code("check", `check(${check})`)] : []),
  ];
  const kernelspec = { display_name: "Python 3", language: "python", name: "python3" };
  return { cells, metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 };
}
