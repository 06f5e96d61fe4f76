"""The nouns of a check: exercises state claims, claims draw cases, mistakes have questions."""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.checks.engine import judges

Inputs = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """One witness: the inputs by name, and what is special about them in words."""

    inputs: Inputs
    about: str
    tolerance: float = 1e-9  # of the largest wanted entry in the same row


@dataclass(frozen=True)
class Claim:
    """One thing that must be true of an answer, on every case that it draws."""

    name: str
    says: str  # one sentence, shown to learners above the graded cell
    cases: Callable[[np.random.Generator], Iterable[Case]]
    outputs: tuple[str, ...]
    judge: Callable[[judges.Trial], judges.Fault | None] = judges.agrees

    def drawn(self, seed):
        """Yield the cases of a seed, the same for the claim alone as for it among others."""
        yield from self.cases(np.random.default_rng([seed, zlib.crc32(self.name.encode())]))


@dataclass(frozen=True)
class Mistake:
    """A wrong way to compute some outputs, and the question that finds it."""

    name: str
    question: str  # never the answer
    outputs: Callable[..., Mapping[str, np.ndarray]]


@dataclass(frozen=True)
class Exercise:
    """A function that learners write: what it returns, what is claimed, what goes wrong."""

    name: str
    returns: tuple[str, ...]  # names of what comes back; ``**grads`` for a dict of outputs
    reference: Callable[..., Mapping[str, np.ndarray]]
    claims: Mapping[str, Claim]
    mistakes: tuple[Mistake, ...] = ()
    arguments: Callable[[Inputs, Mapping[str, Callable]], Iterable[Inputs]] = (
        lambda inputs, companions: [inputs]
    )
    companions: Mapping[str, str] = field(default_factory=dict)  # keyword of check → function
    # Draws a case of the sizes that the text shows, which may get written into code.
    example: Callable[[np.random.Generator], Case] | None = None

    def claim(self, name):
        """Return one claim; ``LookupError`` lists the names otherwise."""
        if name not in self.claims:
            raise LookupError(
                f"{self.name} has no claim {name!r}: its claims are {', '.join(self.claims)}"
            )
        return self.claims[name]


def by_name(*items):
    """Return items in a dict keyed by their names."""
    return {item.name: item for item in items}
