"""The Python side of the living pictures: what they accept, what they hold, what they send."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import traitlets

from transformer_block import widgets
from transformer_block.block import transformer_block_backward, transformer_block_forward
from transformer_block.contrasts import contrast_block_backward, contrast_block_forward
from transformer_block.gelu import gelu, gelu_derivative
from transformer_block.gradcheck import relative_error
from transformer_block.layernorm import layernorm_forward
from transformer_block.rmsnorm import rmsnorm_forward
from transformer_block.rope import rope_angles, rope_forward
from transformer_block.swiglu import sigmoid, silu, silu_derivative, swiglu_backward, swiglu_forward
from transformer_block.widgets import GateScope, GradCheckDial, RMSNormScope, RoPEDial, Wiring
from transformer_block.widgets._base import self_contained
from transformer_block.widgets.wiring import N_HEADS, WEIGHTS, random_stack

TESTS = Path(__file__).parent
EVERY_WIDGET = [getattr(widgets, name) for name in widgets.__all__]
D = 7
ROW = [0.5, -1.0, 2.0, 0.25, -3.0, 1.5, 0.75]


def javascript(script, asked):
    """Give a script of tests/widgets JSON, and return what it makes of it."""
    return json.loads(node(TESTS / "widgets" / script, stdin=json.dumps(asked)))


def node(*arguments, stdin=""):
    """Run Node, which the book brings along, and return what it prints."""
    beside_python = Path(sys.executable).with_name("node")
    program = beside_python if beside_python.exists() else shutil.which("node")
    result = subprocess.run(
        [program, *arguments], input=stdin, capture_output=True, text=True, encoding="utf-8"
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


# ---- Every widget ---------------------------------------------------------------------------


@pytest.mark.parametrize("widget", EVERY_WIDGET)
def test_a_module_travels_alone_and_is_read_by_node(widget, tmp_path):
    text = widget()._esm
    assert not re.search(r"^import\b", text, re.MULTILINE)
    module = tmp_path / "module.mjs"
    module.write_text(text, encoding="utf-8")
    kind = node(
        "--input-type=module", "-e", f"console.log(typeof (await import('{module}')).default)"
    )
    assert kind.strip() in {"function", "object"}


@pytest.mark.parametrize("widget", EVERY_WIDGET)
def test_a_widget_asks_nothing_of_another_place(widget):
    addresses = set(re.findall(r"https?://[^\"'`\s)]+", widget()._esm + widget()._css))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name, not an address


@pytest.mark.parametrize("widget", EVERY_WIDGET)
def test_the_state_is_small(widget):
    state = widget().get_state()
    own = {name: value for name, value in state.items() if not name.startswith("_")}
    data = sum(len(own.pop(name)) for name in list(own) if isinstance(own[name], bytes))
    assert len(json.dumps(own)) < 10_000
    assert data < 460_000
    assert len(state["_esm"]) + len(state["_css"]) < 70_000


def test_a_module_is_written_once_before_its_first_use(tmp_path):
    (tmp_path / "top.js").write_text(
        'import { two } from "./mid.js";\nimport { one } from "./low.js";\n'
        "export default two + one;\n"
    )
    (tmp_path / "mid.js").write_text(
        'import {\n  one,\n} from "./low.js";\nconst own = 1;\nexport const two = one + own;\n'
    )
    (tmp_path / "low.js").write_text(
        "const own = 0;\nexport const one = 1;\nexport function unused() {}\n"
    )
    text = self_contained("top", tmp_path)
    assert text.count("const one = 1;") == 1
    bundle = tmp_path / "bundle.mjs"
    bundle.write_text(text)
    script = f"console.log((await import('{bundle}')).default)"
    assert node("--input-type=module", "-e", script) == "3\n"


# ---- RMSNorm scope --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"vector": [1.0]}, r"vector must be 2 to 10 finite numbers: got shape \(1,\)"),
        ({"vector": [0.0] * 11}, r"vector must be 2 to 10 finite numbers: got shape \(11,\)"),
        ({"vector": [[1.0, 2.0]]}, r"vector must be .*: got shape \(1, 2\)"),
        ({"vector": [1.0, np.nan]}, r"vector must be .*: got \[1.0, nan\]"),
        ({"vector": "a row"}, "vector must be .*: got 'a row'"),
        ({"scale": 0.0}, "scale must be positive and finite: got 0.0"),
        ({"scale": np.nan}, "scale must be positive and finite: got nan"),
        ({"scale": np.inf}, "scale must be positive and finite: got inf"),
        ({"eps": -1e-5}, "eps must be zero or more: got -1e-05"),
        ({"eps": np.nan}, "eps must be zero or more: got nan"),
        ({"norm": 3}, "expected a callable"),
    ],
)
def test_what_the_scope_cannot_show_is_refused_with_a_sentence(wrong, sentence):
    with pytest.raises(traitlets.TraitError, match=sentence):
        RMSNormScope(**wrong)


def test_an_array_is_as_good_as_a_list():
    scope = RMSNormScope(vector=np.array(ROW, dtype=np.float32))
    assert scope.vector == ROW
    assert scope.get_state()["vector"] == ROW


def test_the_scope_opens_on_a_vector_of_mean_0_6_and_rms_1():
    row = np.array(RMSNormScope().vector)
    assert np.mean(row) == pytest.approx(0.6, abs=1e-15)
    assert np.sqrt(np.mean(row**2)) == pytest.approx(1.0, abs=1e-15)


def test_the_scope_computes_what_python_computes():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5, D)) * 10.0 ** np.array([[-7], [-4], [-2], [0], [3]])
    sizes = np.logspace(-8, 3, 23)
    epsilons = [1e-12, 1e-8, 1e-5, 1e-2, 1.0]
    asked = {"rows": rows.tolist(), "sizes": sizes.tolist(), "epsilons": epsilons}
    told = {k: np.array(v) for k, v in javascript("norms.mjs", asked).items()}

    one, zero = np.ones(D), np.zeros(D)
    constant_rows = np.repeat(sizes[:, np.newaxis], D, axis=1)  # their RMS is their entry
    for i, eps in enumerate(epsilons):
        inside = rmsnorm_forward(constant_rows, one, eps)[0][:, 0]
        wanted = {
            "rmsnorm": rmsnorm_forward(rows, one, eps)[0],
            "layernorm": layernorm_forward(rows, one, zero, eps)[0],
            "inside": inside,
            "outside": sizes / (sizes + eps),
        }
        for name, values in wanted.items():
            np.testing.assert_allclose(told[name][i], values, rtol=1e-12, atol=0, err_msg=name)


# ---- A function of the learner in the scope -------------------------------------------------


def scope_of(norm, **traits):
    return RMSNormScope(norm=norm, vector=ROW, **traits)


def test_without_a_function_nothing_is_sent():
    assert RMSNormScope().yours == {}


def test_the_function_is_drawn_from_its_own_numbers():
    scope = scope_of(rmsnorm_forward, scale=1e-3, eps=1e-5)
    sizes = np.logspace(*scope.yours["powers"], len(scope.yours["curve"]))
    np.testing.assert_allclose(scope.yours["curve"], sizes / np.sqrt(sizes**2 + 1e-5), rtol=1e-5)
    bars = np.array(ROW) * 1e-3 / np.sqrt(np.mean(np.square(ROW)) * 1e-6 + 1e-5)
    np.testing.assert_allclose(scope.yours["bars"], bars, rtol=1e-5)
    assert scope.yours["name"] == "rmsnorm_forward"


def test_the_function_may_return_out_alone():
    scope = scope_of(lambda x, weight, eps: x * weight)
    assert scope.yours["bars"] == pytest.approx(np.array(ROW) * scope.scale)


@pytest.mark.parametrize("change", [{"vector": [1.0, 2.0]}, {"scale": 0.5}, {"eps": 0.25}])
def test_the_function_follows_every_change(change):
    scope = scope_of(rmsnorm_forward)
    scope.set_state(change)  # what the browser does
    assert scope.yours["at"] == [scope.scale, scope.eps, *scope.vector]
    assert len(scope.yours["bars"]) == len(scope.vector)


def test_another_function_can_take_its_place_and_none_clears_it():
    scope = scope_of(rmsnorm_forward)
    scope.norm = lambda x, weight, eps: 2 * x
    assert scope.yours["name"] == "<lambda>"
    scope.norm = None
    assert scope.yours == {}


def raises(x, weight, eps):
    raise KeyError("inv_rms")


def forgets_an_axis(x, weight, eps):
    return x[0]


def takes_too_little(x):
    return x


@pytest.mark.parametrize(
    ("norm", "sentence"),
    [
        (raises, "raises stopped with KeyError: 'inv_rms'"),
        (forgets_an_axis, r"ValueError: out must have the shape of x, \(90, 7\): got \(7,\)"),
        (takes_too_little, "takes_too_little stopped with TypeError: .* takes 1 positional"),
    ],
)
def test_a_function_that_fails_is_a_sentence_in_the_picture(norm, sentence):
    shown = scope_of(norm).yours
    assert re.search(sentence, shown["message"])
    assert "\n" not in shown["message"]
    assert "curve" not in shown


def test_numbers_that_json_does_not_have_become_none():
    with np.errstate(all="raise"):  # the function's own warnings are not the reader's
        scope = scope_of(lambda x, weight, eps: x / 0)
    assert scope.yours["bars"] == [None] * D
    json.dumps(scope.get_state(), allow_nan=False)


def test_the_function_cannot_change_what_it_is_given():
    def overwrites(x, weight, eps):
        x[:] = 1
        return x

    scope = scope_of(overwrites)
    assert scope.vector == ROW
    assert scope.yours["bars"] == [1.0] * D


def test_a_row_of_zeros_still_has_a_curve():
    scope = RMSNormScope(norm=rmsnorm_forward, vector=[0.0, 0.0])
    assert scope.yours["curve"][-1] == pytest.approx(1.0)


# ---- Gate scope -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"gate": -6.1}, "gate must be from -6.0 to 4.0: got -6.1"),
        ({"gate": np.nan}, "gate must be from -6.0 to 4.0: got nan"),
        ({"up": 5}, "up must be from -4.0 to 4.0: got 5"),
        ({"up": "much"}, "up must be from -4.0 to 4.0: got 'much'"),
        ({"curve": "swish"}, "expected any of .*'relu'.*, not the str 'swish'"),
        ({"activation": 3}, "expected a callable"),
    ],
)
def test_what_the_gate_scope_cannot_show_is_refused_with_a_sentence(wrong, sentence):
    with pytest.raises(traitlets.TraitError, match=sentence):
        GateScope(**wrong)


def test_the_gate_scope_computes_what_python_computes():
    rng = np.random.default_rng(3)
    gates, ups = rng.uniform(-6, 4, 31), rng.uniform(-4, 4, 31)
    told = javascript("gates.mjs", {"gates": gates.tolist(), "ups": ups.tolist()})
    s = sigmoid(gates)
    wanted = {
        "silu": (silu(gates), silu_derivative(gates)),
        "gelu": (gelu(gates), gelu_derivative(gates)),
        "relu": (np.maximum(gates, 0), np.where(gates > 0, 1.0, 0.0)),
        "sigmoid": (s, s * (1 - s)),
    }
    for kind, (value, slope) in wanted.items():
        expected = {"open": value, "slope": slope, "product": value * ups}
        for name, column in {**expected, "toUp": value, "toGate": ups * slope}.items():
            shown = [row[kind][name] for row in told]
            np.testing.assert_allclose(
                shown, column, rtol=1e-12, atol=1e-13, err_msg=f"{kind} {name}"
            )


def test_the_two_gradients_are_those_of_the_net():
    """One token of width 1 and one feature: the net's own backward pass is the oracle."""
    gate, up = -0.7, 2.3
    one = np.ones((1, 1))
    net = {"W_gate": gate * one, "W_up": up * one, "W_down": one}
    _, grads = swiglu_backward(one, swiglu_forward(one, net)[1])
    told = javascript("gates.mjs", {"gates": [gate], "ups": [up]})[0]["silu"]
    assert told["toGate"] == pytest.approx(grads["W_gate"].item(), rel=1e-12)
    assert told["toUp"] == pytest.approx(grads["W_up"].item(), rel=1e-12)


def test_a_learners_curve_is_drawn_with_the_slope_that_comes_with_it_or_with_differences():
    gates = np.linspace(-6, 4, 201)
    own = GateScope(activation=np.tanh, slope=np.cos).yours
    np.testing.assert_allclose(own["values"], np.tanh(gates), rtol=1e-5)
    np.testing.assert_allclose(own["slopes"], np.cos(gates), rtol=1e-5, atol=1e-12)
    differences = GateScope(activation=silu).yours["slopes"]
    np.testing.assert_allclose(differences, silu_derivative(gates), atol=1e-5)
    assert GateScope().yours == {}


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda x: x[1:], r"the output must have the shape of x, \(201,\): got \(200,\)"),
        (lambda x: max(x, 0), "<lambda> stopped with ValueError: The truth value of an array"),
    ],
)
def test_a_curve_that_fails_is_a_sentence_in_the_picture(function, sentence):
    shown = GateScope(activation=function).yours
    assert re.search(sentence, shown["message"])
    assert "values" not in shown


def test_a_curve_cannot_change_the_axis_and_may_overflow():
    def overwrites(x):
        x[:] = np.exp(1000 * np.abs(x))
        return x

    assert GateScope(activation=overwrites).yours["values"][0] is None


# ---- RoPE dial ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"query": [1.0, 2.0]}, "query and key must have one even width: got 2 and 8 numbers"),
        ({"query": [1.0] * 3, "key": [1.0] * 3}, "one even width: got 3 and 3 numbers"),
        ({"key": [1.0]}, r"key must be 2 to 16 finite numbers: got shape \(1,\)"),
        ({"query_at": 33}, "query_at must be a whole number from 0 to 32: got 33"),
        ({"shift": 2.5}, "shift must be a whole number from 0 to 100: got 2.5"),
        ({"rope_base": 1.0}, "rope_base must be from 10.0 to 1000000.0: got 1.0"),
        ({"pairing": "halves"}, "expected any of .*'half_split'"),
        ({"turn": "rope"}, "expected a callable"),
    ],
)
def test_what_the_dial_cannot_show_is_refused_with_a_sentence(wrong, sentence):
    with pytest.raises(traitlets.TraitError, match=sentence):
        RoPEDial(**wrong)


def test_query_and_key_may_take_another_width_together():
    assert RoPEDial(query=[1.0, 2.0], key=np.array([3.0, 4.0])).key == [3.0, 4.0]


@pytest.mark.parametrize("pairing", ["interleaved", "half_split", "mixed"])
def test_the_dial_computes_what_python_computes(pairing):
    rng = np.random.default_rng(5)
    state = {"query_at": 11, "key_at": 29, "shift": 61, "pairing": pairing, "rope_base": 500.0}
    vectors = {"query": rng.normal(size=6), "key": rng.normal(size=6)}
    asked = {**state, **{name: row.tolist() for name, row in vectors.items()}}
    (told,) = javascript("turns.mjs", [asked])

    def turned(name, positions, halves):
        rows = np.tile(vectors[name], (len(positions), 1))
        return rope_forward(rows, positions, 500.0, pairing in halves)[0]

    shifts, distances = np.arange(101), np.arange(-32, 33)
    query = turned("query", 11 + shifts, {"half_split"})
    key = turned("key", 29 + shifts, {"half_split", "mixed"})
    away = turned("query", 90 + distances, {"half_split"})
    wanted = {
        "score": query[61] @ key[61],
        "byShift": np.sum(query * key, axis=-1),
        "byDistance": away @ key[61],
        "frequencies": rope_angles(np.array([1]), 6, 500.0)[0],
    }
    for name, values in wanted.items():
        np.testing.assert_allclose(told[name], values, rtol=1e-11, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(told["turned"]["query"], query[61], atol=1e-12)
    np.testing.assert_allclose(told["turned"]["key"], key[61], atol=1e-12)


def test_a_learners_turn_is_scored_at_every_shift_and_distance():
    dial = RoPEDial(turn=rope_forward, pairing="half_split", shift=7)
    assert np.ptp(dial.yours["shifts"]) < 1e-4
    assert dial.yours["distances"][dial.query_at - dial.key_at + 32] == dial.yours["shifts"][7]
    assert dial.yours["name"] == "rope_forward"


def test_a_turn_that_adds_the_position_shows_that_its_score_moves():
    dial = RoPEDial(turn=lambda x, positions, base, halves: x + positions[:, None])
    assert np.ptp(dial.yours["shifts"]) > 1


@pytest.mark.parametrize("change", [{"shift": 3}, {"key_at": 9}, {"pairing": "half_split"}])
def test_a_learners_turn_follows_every_change(change):
    dial = RoPEDial(turn=rope_forward)
    dial.set_state(change)
    assert dial.yours["at"][:3] == [dial.query_at, dial.key_at, dial.shift]
    assert dial.yours["pairing"] == dial.pairing


def test_a_turn_that_fails_is_a_sentence_in_the_picture():
    dial = RoPEDial(turn=lambda x, positions, base, halves: x[:, :2])
    assert re.search(r"must have the shape of x, \(101, 8\): got \(101, 2\)", dial.yours["message"])


# ---- Gradient-check dial --------------------------------------------------------------------


def measured(dial):
    """The errors and losses of every case, as the browser gets them."""
    cases = len(dial.facts)
    errors = np.frombuffer(dial.errors, np.float32).reshape(cases, 2, 111)
    return errors, np.frombuffer(dial.losses, np.float64).reshape(cases, 2, 2, 111)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"step": 0.0}, "step must be from 1e-12 to 0.1: got 0.0"),
        ({"step": 0.2}, "step must be from 1e-12 to 0.1: got 0.2"),
        ({"case": "good"}, "expected any of .*'wrong'"),
        ({"loss": 3}, "expected a callable"),
    ],
)
def test_what_the_gradcheck_dial_cannot_show_is_refused_with_a_sentence(wrong, sentence):
    with pytest.raises(traitlets.TraitError, match=sentence):
        GradCheckDial(**wrong)


def test_the_three_cases_are_a_pass_a_fail_and_a_kink():
    errors, _ = measured(GradCheckDial())
    steps = 10.0 ** (np.arange(111) / 10 - 12)
    right, wrong, kink = errors[:, 0]
    assert right.min() < 1e-10
    assert 1e-6 < steps[np.argmin(right)] < 1e-4
    assert wrong.min() > 0.05
    assert kink[steps < 0.9e-4].max() < 1e-3
    assert kink[steps > 1.2e-4].min() > 0.01
    assert 1e-3 < steps[np.argmin(errors[0, 1])] < 1e-1  # float32 wants a step far larger


def test_the_straight_lines_lie_along_the_measured_errors():
    dial = GradCheckDial()
    errors, _ = measured(dial)
    _, _, truncation, wide, narrow = dial.facts[0]
    steps = 10.0 ** (np.arange(111) / 10 - 12)
    far, near = steps > 1e-4, steps < 1e-6
    np.testing.assert_allclose(errors[0, 0][far], truncation * steps[far] ** 2, rtol=0.05)
    assert 0.1 < np.median(errors[0, 0][near] / (wide / steps[near])) < 10
    middle = (steps > 1e-6) & (steps < 1e-3)
    assert 0.1 < np.median(errors[0, 1][middle] / (narrow / steps[middle])) < 10


def test_a_learners_loss_is_a_fourth_case_measured_as_the_check_measures():
    x = np.array([[0.5, -3.0], [1.5, 0.25]])
    dial = GradCheckDial(loss=lambda t: np.sum(t**3), x=x, gradient=3 * x**2, case="yours")
    errors, losses = measured(dial)
    assert errors.shape[0] == 4
    # The central difference of a cube is off by step², the step being 3 times as long at −3.
    off = 1e-4 * np.array([1, 9, 2.25, 1])
    estimate = 3 * x.ravel() ** 2 + off
    wanted = relative_error(estimate, 3 * x.ravel() ** 2)
    assert errors[3, 0, 100] == pytest.approx(wanted, rel=1e-4)
    above, below = losses[3, 0, :, 100]
    rest = np.sum(x**3) + 27
    assert above - rest == pytest.approx((-3 + 0.03) ** 3)
    assert below - rest == pytest.approx((-3 - 0.03) ** 3)
    assert dial.facts[3][:2] == pytest.approx([27.0, 3.0])


def test_the_narrow_losses_are_those_of_float32():
    _, losses = measured(GradCheckDial())
    np.testing.assert_array_equal(losses[0, 1], losses[0, 1].astype(np.float32))


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (lambda t: t[5], "<lambda> stopped with IndexError"),
        (lambda t: t, "<lambda> stopped with TypeError"),
    ],
)
def test_a_loss_that_fails_is_a_sentence_and_the_three_cases_stay(loss, sentence):
    dial = GradCheckDial(loss=loss, x=np.ones(2), gradient=np.ones(2))
    assert re.search(sentence, dial.yours["message"])
    assert measured(dial)[0].shape[0] == 3


def test_a_gradient_of_another_shape_is_a_sentence_and_it_may_come_later():
    dial = GradCheckDial(loss=lambda t: np.sum(t**2), x=np.ones(2), gradient=np.ones(3))
    assert "both gradients must have one shape" in dial.yours["message"]
    dial.gradient = 2 * np.ones(2)
    assert dial.yours["message"] == ""
    assert measured(dial)[0].shape[0] == 4


# ---- Wiring ---------------------------------------------------------------------------------


def sizes(wiring):
    """What the browser gets: streams by wiring, weights and layer; gradients depth by depth."""
    streams = np.frombuffer(wiring.streams, np.float32).reshape(-1, 3, 65)
    gradients = np.frombuffer(wiring.gradients, np.float32).reshape(-1, 3, 2144)
    return streams, gradients


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"depth": 0}, "depth must be a whole number from 1 to 64: got 0"),
        ({"depth": 65}, "depth must be a whole number from 1 to 64: got 65"),
        ({"layer": -1}, "layer must be a whole number from 0 to 64: got -1"),
        ({"order": "sandwich"}, "expected any of .*'post'"),
        ({"weights": "huge"}, "expected any of .*'middle'"),
        ({"forward": 3}, "expected a callable"),
    ],
)
def test_what_the_wiring_cannot_show_is_refused_with_a_sentence(wrong, sentence):
    with pytest.raises(traitlets.TraitError, match=sentence):
        Wiring(**wrong)


@pytest.mark.parametrize("depth", [1, 2, 7, 64])
@pytest.mark.parametrize(("place", "order"), [(0, "pre"), (1, "post"), (2, "none")])
def test_every_size_is_that_of_a_stack_run_by_itself(depth, place, order):
    """The oracle is one stack of this depth, forward and back, with no batch of depths."""
    streams, gradients = sizes(Wiring())
    for which, gain in enumerate(WEIGHTS.values()):
        blocks, x, gradient = random_stack(gain)
        up, caches = [x], []
        for params in blocks[:depth]:
            out, kept = contrast_block_forward(up[-1], params, N_HEADS, order=order)
            up.append(out)
            caches.append(kept)
        down = [gradient]
        for kept in reversed(caches):
            down.append(contrast_block_backward(down[-1], kept)[0])
        wanted = [[np.sqrt(np.mean(a**2)) for a in rows] for rows in (up, down[::-1])]
        begin = (depth - 1) * (depth + 2) // 2
        np.testing.assert_allclose(streams[place, which, : depth + 1], wanted[0], rtol=1e-6)
        shown = gradients[place, which, begin : begin + depth + 1]
        np.testing.assert_allclose(shown, wanted[1], rtol=1e-5)


def test_stream_and_gradient_begin_with_size_1():
    streams, gradients = sizes(Wiring())
    np.testing.assert_allclose(streams[..., 0], 1, rtol=1e-6)
    np.testing.assert_allclose(gradients[..., -1], 1, rtol=1e-6)


def test_a_learners_block_is_a_fourth_wiring():
    wiring = Wiring(forward=transformer_block_forward, backward=transformer_block_backward)
    streams, gradients = sizes(wiring)
    assert wiring.yours == {"name": "transformer_block_forward", "message": ""}
    np.testing.assert_array_equal(streams[3], streams[0])
    np.testing.assert_array_equal(gradients[3], gradients[0])


def test_a_block_that_fails_is_a_sentence_and_the_three_wirings_stay():
    wiring = Wiring(forward=raises, backward=transformer_block_backward)
    assert wiring.yours["message"] == "raises stopped with KeyError: 'inv_rms'"
    assert sizes(wiring)[0].shape[0] == 3
