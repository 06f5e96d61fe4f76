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
from transformer_block.layernorm import layernorm_forward
from transformer_block.rmsnorm import rmsnorm_forward
from transformer_block.widgets import RMSNormScope
from transformer_block.widgets._base import self_contained

TESTS = Path(__file__).parent
EVERY_WIDGET = [getattr(widgets, name) for name in widgets.__all__]
D = 7
ROW = [0.5, -1.0, 2.0, 0.25, -3.0, 1.5, 0.75]


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
    assert len(json.dumps(own)) < 2_000
    assert len(state["_esm"]) + len(state["_css"]) < 60_000


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


def test_javascript_computes_what_python_computes():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(5, D)) * 10.0 ** np.array([[-7], [-4], [-2], [0], [3]])
    sizes = np.logspace(-8, 3, 23)
    epsilons = [1e-12, 1e-8, 1e-5, 1e-2, 1.0]
    asked = {"rows": rows.tolist(), "sizes": sizes.tolist(), "epsilons": epsilons}
    script = TESTS / "widgets" / "norms.mjs"
    told = {k: np.array(v) for k, v in json.loads(node(script, stdin=json.dumps(asked))).items()}

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
