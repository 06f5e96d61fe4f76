"""Checks: right answers pass, wrong ones are rejected, and the mistake is named."""

import inspect
from xml.etree import ElementTree

import numpy as np
import pytest
from answers import RIGHT, WRONG

from grader.checks import CheckFailed, check, exercises, find_exercise
from grader.checks.engine import drawing, judging, picture
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name

SEEDS = range(3)


def rows(answers):
    """Make one test case of each answer, named after its exercise and its function."""
    for name, several in answers.items():
        for number, entry in enumerate(several):
            entry = entry if isinstance(entry, tuple) else (entry,)
            label = entry[0].__name__.replace("<lambda>", str(number))
            yield pytest.param(name, *entry, id=f"{name}-{label}")


def failure(answer, **arguments):
    with pytest.raises(CheckFailed) as caught:
        check(answer, **arguments)
    return caught.value


@pytest.mark.parametrize(("name", "answer"), [*rows(RIGHT)])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_answer_passes_every_claim(name, answer, seed, capsys):
    check(answer, exercise=name, seed=seed)
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"✓ {name}: right")


@pytest.mark.parametrize(("name", "answer", "mistake"), [*rows(WRONG)])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_wrong_answer_is_rejected_and_its_mistake_named(name, answer, mistake, seed):
    found = failure(answer, exercise=name, seed=seed)
    if mistake:
        assert found.mistakes == (mistake,)


@pytest.mark.parametrize("name", [*exercises()])
def test_every_exercise_has_six_right_answers_of_different_looks(name):
    assert len({inspect.getsource(answer) for answer in RIGHT[name]}) >= 6


def catalogue():
    for exercise in exercises().values():
        for mistake in exercise.mistakes:
            yield pytest.param(exercise, mistake, id=f"{exercise.name}-{mistake.name}")


@pytest.mark.parametrize(("exercise", "mistake"), [*catalogue()])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_mistake_of_the_catalogue_is_rejected_and_named_alone(exercise, mistake, seed):
    answer = player(exercise, mistake, seed)
    verdicts = (judging.judge(exercise, c, answer, {}, seed) for c in exercise.claims.values())
    found = next((failure for failure in verdicts if failure), None)
    assert found is not None, "no claim has an input that shows this mistake"
    assert found.mistakes == (mistake.name,)
    assert mistake.question in str(found)


def player(exercise, mistake, seed):
    """Return a function that answers each case of the exercise as the mistake does."""
    known = {}
    for claim in exercise.claims.values():
        apart = claim.cases(np.random.default_rng(seed))  # to separate mistakes
        for case in (*claim.drawn(seed), *apart, *drawing.other_cases(exercise, claim, seed)):
            arguments = next(iter(exercise.arguments(case.inputs, {})))
            key = fingerprint(arguments.values())
            known[key] = known[key] if key in known else played(exercise, mistake, case)
    return lambda *arguments: known[fingerprint(arguments)]


def fingerprint(arguments):
    return repr([one_print(argument) for argument in arguments])


def one_print(argument):
    if isinstance(argument, dict):
        return fingerprint(argument.values())
    if isinstance(argument, np.random.Generator):
        return repr(argument.bit_generator.state)
    if callable(argument):
        return getattr(argument, "__qualname__", "") + fingerprint(vars(argument).values())
    if isinstance(argument, tuple | list):
        return fingerprint(argument)
    return np.asarray(argument).tobytes()


def played(exercise, mistake, case):
    """Return what a function with this mistake returns; right where the mistake has no values."""
    values = dict(exercise.reference(**case.inputs))
    with np.errstate(all="ignore"):
        try:
            made = mistake.outputs(**case.inputs)
        except (ValueError, IndexError):
            made = {}
        for name, value in made.items():
            values[name] = np.asarray(value, dtype=np.asarray(values[name]).dtype)
    named = {name: values.pop(name, None) for name in exercise.returns}
    result = tuple(dict(values) if name[:2] == "**" else named[name] for name in named)
    return result if len(result) > 1 else result[0]


@pytest.mark.parametrize("exercise", [*exercises().values()], ids=[*exercises()])
def test_claims_and_questions_read_as_sentences(exercise):
    for claim in exercise.claims.values():
        assert claim.says.endswith(".")
        assert (
            claim.says[0].isupper()
            or claim.says.split()[0] in ("x", "out", "dx", "dout", "ε")
            or (claim.says.split()[0] in ("dweight", "float32"))
        )
    for mistake in exercise.mistakes:
        assert "?" in mistake.question, f"{mistake.name} asks nothing"
    questions = [mistake.question for mistake in exercise.mistakes]
    assert len(set(questions)) == len(questions)


def eps_outside(x, weight, eps=1e-5):
    return x * weight / (np.sqrt(np.mean(x * x, axis=-1, keepdims=True)) + eps), None


def test_a_failure_shows_the_question_the_values_the_input_and_how_to_repeat_it():
    found = failure(eps_outside, exercise="rmsnorm_forward", claim="eps", seed=7)
    lines = str(found).splitlines()
    assert lines[0] == "Is your ε inside the square root, next to the mean square?"
    assert "should be" in lines[1]
    assert "rows of size 1e-3, ε = 1e-5" in lines[2]
    assert lines[3] == 'Same inputs again: check(rmsnorm_forward, "eps", seed=7)'


def test_the_same_seed_repeats_the_same_inputs_alone_and_among_other_claims():
    alone = failure(eps_outside, exercise="rmsnorm_forward", claim="eps", seed=7)
    among = failure(eps_outside, exercise="rmsnorm_forward", seed=7)
    fresh = failure(eps_outside, exercise="rmsnorm_forward", claim="eps", seed=8)
    assert str(alone) == str(among) != str(fresh)


def test_a_fresh_seed_is_drawn_each_time():
    seeds = {failure(eps_outside, exercise="rmsnorm_forward").seed for _ in range(3)}
    assert len(seeds) == 3


def test_a_count_that_is_off_says_by_how_many_and_shows_the_model():
    found = failure(lambda d, h, net: 4 * d * d + 3 * d * h + 7, exercise="block_parameters")
    assert str(found).startswith("You are 7 too many. Which part has exactly that many?")
    lost = failure(lambda model: 1, exercise="model_parameters", seed=3)
    assert "too few" in str(lost)
    assert "n_kv_heads: " in str(lost)


def test_a_body_that_is_not_written_yet_is_told_so():
    def rmsnorm_forward(x, weight, eps=1e-5):
        raise NotImplementedError()

    assert str(failure(rmsnorm_forward)) == (
        "rmsnorm_forward is not written yet: its body still raises NotImplementedError."
    )


def test_an_exception_is_told_with_the_learner_s_line_and_the_shapes():
    def rmsnorm_forward(x, weight, eps=1e-5):
        return x @ weight[:2], None

    text = str(failure(rmsnorm_forward, seed=0, claim="value"))
    assert text.startswith("rmsnorm_forward raised ValueError: matmul")
    assert "return x @ weight[:2], None" in text
    assert "It was called with x (" in text
    assert "calling.py" not in text


def test_an_axis_that_a_mean_has_dropped_is_asked_about():
    def rmsnorm_forward(x, weight, eps=1e-5):
        return weight * x / np.sqrt(np.mean(x * x, axis=-1) + eps), None

    found = failure(rmsnorm_forward, seed=0, claim="value")
    assert str(found).startswith("Does a mean or a sum drop an axis here that keepdims=True")
    assert found.public.splitlines()[1] == "rmsnorm_forward raised ValueError."


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (lambda x: (x, None), "takes one array and was given a tuple of 2"),
        (lambda x: x[..., 0, 0], "takes all tokens at once and was given an array of shape"),
    ],
)
def test_a_sublayer_says_what_it_was_given_in_place_of_rows(given, told):
    def pre_norm_update(x, sublayer, weight, eps=1e-5):
        return x + sublayer(given(x))

    text = str(failure(pre_norm_update, seed=0))
    assert told in text
    assert "in pre_norm_update: return x + sublayer(given(x))" in text
    assert "__call__" not in text  # no line of the checks themselves


def test_an_answer_that_returns_one_thing_for_two_is_told_what_is_missing():
    def rmsnorm_forward(x, weight, eps=1e-5):
        return x

    text = str(failure(rmsnorm_forward, seed=0, claim="value"))
    assert text.startswith("rmsnorm_forward returned an array of shape (")
    assert "It should return 2 things: out and cache.\nSame inputs again: check(" in text


def test_a_backward_pass_may_read_a_cache_of_the_learner_s_own():
    def rmsnorm_forward(x, weight, eps=1e-5):
        return eps_outside(x, weight, eps)[0], {"x": x, "w": weight, "eps": eps}

    def rmsnorm_backward(dout, cache):
        x, w, eps = cache["x"], cache["w"], cache["eps"]
        r = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
        dz = dout * w
        dweight = (dout * x * r).reshape(-1, x.shape[-1]).sum(axis=0)
        return r * dz - x * r**3 * np.mean(dz * x, axis=-1, keepdims=True), dweight

    check(rmsnorm_backward, forward=rmsnorm_forward)
    with pytest.raises(CheckFailed, match="tuple indices"):
        check(rmsnorm_backward)


def test_a_wrong_forward_does_not_cost_a_right_backward_its_marks():
    def rmsnorm_forward(x, weight, eps=1e-5):
        return x, (x, weight, np.ones(x.shape[:-1])[..., None], x)

    check(RIGHT["rmsnorm_backward"][0], exercise="rmsnorm_backward", forward=rmsnorm_forward)


def test_warnings_and_stderr_of_an_answer_become_plain_output(capsys, recwarn):
    import sys

    def rmsnorm_forward(x, weight, eps=1e-5):
        print("to stderr", file=sys.stderr)
        np.log(np.zeros(1))
        return RIGHT["rmsnorm_forward"][0](x, weight, eps)

    check(rmsnorm_forward, "value")
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "to stderr" in captured.out
    assert not recwarn.list


def test_an_array_that_equals_everything_gains_nothing():
    class Always(np.ndarray):
        def __eq__(self, other):
            return True

        def __array_function__(self, function, types, args, kwargs):
            return True

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return np.zeros(1)

    def rmsnorm_forward(x, weight, eps=1e-5):
        return x.view(Always), None

    failure(rmsnorm_forward)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: find_exercise("rmsnorm_forwards"),
            "no exercise is called 'rmsnorm_forwards': did you mean rmsnorm_forward?",
        ),
        (
            lambda: check(RIGHT["half_rms"][0], "valeu", exercise="half_rms"),
            "half_rms has no claim 'valeu': its claims are value",
        ),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(call, text):
    with pytest.raises(LookupError) as caught:
        call()
    assert caught.value.args[0] == text


def test_a_notebook_shows_the_sentence_and_no_line_of_the_checker():
    shown = failure(eps_outside, exercise="rmsnorm_forward", claim="eps")._render_traceback_()
    assert shown[0].startswith("✗ rmsnorm_forward, eps: Is your ε inside")
    assert not any("File" in line for line in shown)


def test_a_notebook_is_shown_wanted_and_received_with_the_wrong_entries_framed():
    want, got = np.array([[1.0, -2.0, 3.0]]), np.array([[1.0, 2.0, np.nan]])
    svg = ElementTree.fromstring(picture.draw(want, got))
    assert svg.get("aria-label") == "2 of 3 entries shown differ from what was wanted"
    cells = svg.findall("{*}rect")
    assert [cell.get("stroke-width") for cell in cells] == ["0.4"] * 4 + ["2"] * 2
    assert [text.text for text in svg.findall("{*}text")] == ["wanted", "received", "?"]


def test_an_answer_for_the_example_s_size_alone_is_asked_about_it():
    def rmsnorm_forward(x, weight, eps=1e-5):
        root = np.sqrt(np.sum(x * x, axis=-1, keepdims=True) / 4 + eps)
        return x / root * weight, None

    assert "Is a size of that example written into" in str(failure(rmsnorm_forward))


def test_outputs_in_a_dict_are_judged_by_their_keys():
    exercise = Exercise(
        name="halves",
        returns=("total", "**parts"),
        reference=lambda x: {"total": x, "low": x / 4, "high": 3 * x / 4},
        claims=by_name(
            Claim("parts", "x is split.", lambda rng: [Case({"x": 8.0}, "8")], ("low", "high"))
        ),
    )

    def told(answer):
        return judging.judge(exercise, exercise.claims["parts"], answer, {}, 0)

    assert told(lambda x: (x, {"high": 6.0, "low": 2.0, "more": None})) is None
    assert "high is missing: there is total, low." in str(told(lambda x: (x, {"low": 2.0})))
    assert "high should be 6: it is 5." in str(told(lambda x: (x, {"low": 2.0, "high": 5.0})))
    assert "parts should be a dict of arrays: it is a list of 2." in str(
        told(lambda x: (x, [2, 6]))
    )


def test_gradients_of_several_blocks_are_judged_block_by_block():
    exercise = Exercise(
        name="blocks",
        returns=("**grads",),
        reference=lambda x: {"E": x, "blocks.0.W": x, "blocks.1.W": 2 * x},
        claims=by_name(
            Claim("all", "x goes everywhere.", lambda rng: [Case({"x": 8.0}, "8")], ("blocks.1.W",))
        ),
    )

    def told(blocks):
        grads = {"E": 8.0, "blocks": blocks}
        return judging.judge(exercise, exercise.claims["all"], lambda x: grads, {}, 0)

    assert told([{"W": 8.0}, {"W": 16.0}]) is None
    assert told(({"W": 8.0}, {"W": 16.0})) is None
    assert "blocks.1.W should be 16: it is 8." in str(told([{"W": 16.0}, {"W": 8.0}]))
    assert "blocks.1.W is missing" in str(told([{"W": 8.0}]))


def test_a_body_that_is_missing_in_another_function_is_looked_for_there():
    def rmsnorm_forward(x, weight, eps=1e-5):
        raise NotImplementedError()

    def layernorm_from_rmsnorm(x, weight, bias, eps=1e-5):
        return rmsnorm_forward(x, weight, eps)[0]

    assert str(failure(layernorm_from_rmsnorm)) == (
        "layernorm_from_rmsnorm calls rmsnorm_forward, and rmsnorm_forward is not written yet."
    )


@pytest.mark.parametrize(
    "gain", [np.abs, np.reciprocal, np.mean], ids=["size", "reciprocal", "mean"]
)
def test_a_wrong_gain_is_not_taken_for_a_size_of_the_example(gain):
    def rmsnorm_forward(x, weight, eps=1e-5):
        return RIGHT["rmsnorm_forward"][0](x, gain(weight) * np.ones_like(weight), eps)

    found = failure(rmsnorm_forward)
    assert "example" not in str(found)
    assert found.mistakes[0].startswith("gain")


def test_a_call_in_place_of_a_function_is_told_so():
    with pytest.raises(TypeError, match="check takes the function itself, without calling it"):
        check(np.ones(3), exercise="rmsnorm_forward")


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("inv_rms_gradient", RIGHT["inv_rms_gradient"][0]),
        ("normalize_vjp", RIGHT["normalize_vjp"][0]),
        ("layernorm_from_rmsnorm", RIGHT["layernorm_from_rmsnorm"][0]),
    ],
)
def test_an_argument_that_is_written_into_is_named(name, answer):
    def writes(*arguments):
        result = answer(*arguments)
        arguments[0][...] = 0.0
        return result

    found = failure(writes, exercise=name)
    assert found.mistakes == ("writes_into_arguments",)


def test_an_answer_that_is_right_at_other_sizes_is_not_asked_about_the_example_s():
    def rmsnorm_forward(x, weight, eps=1e-5):
        with np.errstate(all="ignore"):
            return RIGHT["rmsnorm_forward"][0](x, weight, 0.0)[0] + eps, None

    assert "example" not in str(failure(rmsnorm_forward, seed=0, claim="eps"))


@pytest.mark.parametrize("claim", ["types", "untouched"])
def test_wrong_values_are_not_told_as_bad_manners(claim):
    def rmsnorm_forward(x, weight, eps=1e-5):
        return (0.123 * x).astype(x.dtype), None

    found = failure(rmsnorm_forward, seed=0, claim=claim)
    assert str(found).startswith("This check counts for right values only")
    assert found.mistakes == ("values_first",)
