import assert from "node:assert/strict";
import { test } from "node:test";

import {
  CURVES,
  look,
  sayArea,
  sayGradient,
  sayProduct,
} from "../../transformer_block/widgets/gate_scope_numbers.js";

const seen = (state) => look({ gate: 1.5, up: 2, curve: "silu", yours: {}, ...state });

test("each path gets the other's value", () => {
  for (const curve of Object.keys(CURVES)) {
    const { open, slope, product, toUp, toGate } = seen({ gate: -0.7, up: 3, curve });
    assert.equal(toUp, open);
    assert.equal(toGate, 3 * slope);
    assert.equal(product, 3 * open);
  }
});

test("a slope is the slope of its curve", () => {
  const h = 1e-6;
  for (const { value, slope } of Object.values(CURVES))
    for (const x of [-5.3, -1.28, -0.2, 0.4, 3.7]) {
      const difference = (value(x + h) - value(x - h)) / (2 * h);
      assert.ok(Math.abs(slope(x) - difference) < 1e-8);
    }
});

test("at zero SiLU is shut with slope one half, a sigmoid half open, and ReLU flat", () => {
  const { all } = seen({ gate: 0 });
  assert.deepEqual([all.silu.open, all.silu.slope], [0, 0.5]);
  assert.equal(all.sigmoid.open, 0.5);
  assert.deepEqual([all.relu.open, all.relu.slope], [0, 0]);
});

test("a function of one's own is exact at its samples and straight between", () => {
  const values = Array.from({ length: 11 }, (_, i) => (i - 6) ** 2); // the square, at −6 … 4
  const yours = { values, slopes: values.map(() => null) };
  const at = (gate) => seen({ gate, curve: "yours", yours });
  assert.deepEqual(
    [-6, -1, 0, 4].map((gate) => at(gate).open),
    [36, 1, 0, 16],
  );
  assert.equal(at(2.5).open, 6.5);
  assert.ok(Number.isNaN(at(1).toGate));
});

test("a function that stopped leaves SiLU on the gate", () => {
  const { curve, message } = seen({ curve: "yours", yours: { message: "it stopped" } });
  assert.deepEqual([curve, message], ["silu", "it stopped"]);
});

test("the first sentence says what passes", () => {
  assert.equal(
    sayProduct(seen({ gate: -0.5 })),
    "A gate of −0.5 under SiLU opens to −0.189. Of 2 on the up path it makes −0.378.",
  );
});

test("the second sentence says who learns", () => {
  const says = (state) => sayGradient(seen(state));
  assert.match(says({}), /sends 1\.23 to up and 2\.08 to the gate\. Both paths learn\.$/);
  assert.match(says({ gate: -0.5 }), /Nearly shut, and yet both paths learn\.$/);
  assert.match(says({ gate: -0.5, curve: "relu" }), /neither path learns from this token\.$/);
  assert.match(says({ up: 0 }), /With nothing to let through, the gate learns nothing\.$/);
  assert.match(says({ gate: 0 }), /The gate can learn; the path it shuts out cannot\.$/);
  assert.match(says({ gate: -1.3, up: 1 }), /Up learns; the gate hardly does\.$/);
  assert.match(says({ gate: -6, up: 0.2 }), /to up and .* to the gate\. Up learns/);
  assert.match(says({ gate: -6, curve: "gelu" }), /Hardly anything is left for either path\.$/);
});

test("the title over the area says what comes out", () => {
  assert.equal(sayArea(seen({ gate: 1.5, up: 2 })), "The gate makes 2.45 of 2");
  assert.equal(sayArea(seen({ gate: 1.5, up: 0 })), "Nothing comes along the up path");
  assert.match(sayArea(seen({ gate: -1, up: 2, curve: "relu" })), /^The gate is shut: nothing of 2/);
  assert.match(sayArea({ up: 1, open: NaN, product: NaN }), /^No number/);
});
