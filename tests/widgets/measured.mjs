// What Python sends to a gradient-check dial, made up: errors and losses of so many cases.

const STEPS = 111;

export function measured(cases) {
  const errors = new Float32Array(cases * 2 * STEPS);
  const losses = new Float64Array(cases * 4 * STEPS);
  for (let which = 0; which < cases; which += 1)
    for (let i = 0; i < STEPS; i += 1) {
      const step = 10 ** (-12 + i / 10);
      const floor = which === 1 ? 0.1 : 0;
      errors[2 * which * STEPS + i] = floor + step ** 2 / 10 + 1e-17 / step;
      errors[(2 * which + 1) * STEPS + i] = Math.min(1, floor + step ** 2 / 10 + 1e-8 / step);
      for (const side of [0, 1]) {
        const value = -2 + (side ? -1 : 1) * 3 * step;
        losses[(4 * which + side) * STEPS + i] = value;
        losses[(4 * which + 2 + side) * STEPS + i] = Math.fround(value);
      }
    }
  const facts = Array.from({ length: cases }, (_, i) => [3, 1, i === 2 ? 0 : 0.1, 1e-17, 1e-8]);
  return { errors: new DataView(errors.buffer), losses: new DataView(losses.buffer), facts };
}
