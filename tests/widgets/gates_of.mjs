// A made-up state of the gate map: two blocks, two tokens, three units.

const GATES = [0, 2, -8, 1, -0.05, 3, -1, -2, -3, 4, 5, 6];
const UPS = [1, -1, 2, 0.5, 10, -2, 1, 1, 1, 2, 2, 2];

export const gatesOf = () => ({
  ...{ which: 0, token: 0, unit: 1, shown: "open", sorted: false },
  ...{ blocks: [0, 7], tokens: ["a", " b"], h: 3 },
  arrays: [["gate", "float32", 12], ["up", "float32", 12]],
  data: new DataView(Float32Array.from([...GATES, ...UPS]).buffer),
});
