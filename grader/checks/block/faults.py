"""The four given backward passes, and what a careful check finds to be wrong in each."""

from collections.abc import Iterable

from grader.checks.block.whole import NAMES
from grader.checks.engine.calling import describe
from grader.checks.engine.exercise import Case, Claim, Exercise, by_name
from grader.checks.engine.judges import Fault
from transformer_block.block import transformer_block_backward
from transformer_block.faulty import faulty_backward


def first(dout, cache):
    """Go back with the first fault."""
    return faulty_backward(dout, cache, fault=1)


def second(dout, cache):
    """Go back with the second fault."""
    return faulty_backward(dout, cache, fault=2)


def third(dout, cache):
    """Go back with the third fault."""
    return faulty_backward(dout, cache, fault=3)


def fourth(dout, cache):
    """Go back with the fourth fault."""
    return faulty_backward(dout, cache, fault=4)


WRONG = {first: "ffn_norm", second: "x", third: "W_v", fourth: "attn_norm"}
# What lets each fault pass, as a question: not which gradient it is.
WHY = {
    first: "In which values do your weights begin? Is one of them so even that it hides a fault?",
    second: "Do you compare everything that a backward pass returns, dx included?",
    third: "How many query heads use one key/value head in your case? Is it more than one?",
    fourth: "How large an error do you let pass? And how near do your differences come?",
}


def names_the_wrong(trial):
    """Compare the names that came back with those of the wrong gradients, in any order."""
    backward = trial.inputs["backward"]
    wanted = {WRONG[backward]} if backward in WRONG else set()
    names = trial.reply.outputs["names"]
    if isinstance(names, str) or not isinstance(names, Iterable):
        return Fault(f"names should be a list of names: it is {describe(names)}.")
    names = [str(name) for name in names]
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        return Fault(f"There is no gradient {unknown[0]!r}: there are {', '.join(NAMES)}.")
    if set(names) == wanted:
        return None
    return _fault(backward, names, wanted)


def _fault(backward, names, wanted):
    """Tell a fault that was missed apart from a right gradient that was named."""
    if not wanted <= set(names):
        found = f"named {', '.join(names)}" if names else "found nothing"
        return Fault(f"You {found}, and missed what is wrong.", WHY[backward], "missed")
    return Fault(
        f"You named {len(set(names))}, and so a gradient that is right.",
        "How near do your differences come to a right gradient? Is your bound nearer still?",
        "false_alarm",
    )


def _claim(name, says, backward):
    def cases(rng):
        yield Case({"backward": backward}, says)

    return Claim(name, says, cases, ("names",), names_the_wrong)


FAULTS = Exercise(
    name="wrong_gradients",
    returns=("names",),
    reference=lambda backward: {"names": [WRONG[backward]] if backward in WRONG else []},
    claims=by_name(
        _claim("none", "In a right backward pass nothing is found.", transformer_block_backward),
        _claim("first", "The fault of the first pass is found.", first),
        _claim("second", "The fault of the second pass is found.", second),
        _claim("third", "The fault of the third pass is found.", third),
        _claim("fourth", "The fault of the fourth pass is found.", fourth),
    ),
)
