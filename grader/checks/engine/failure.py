"""The failure that a learner reads: a question first, then the evidence, then how to repeat it."""


class CheckFailed(AssertionError):
    """An answer does not hold; the text says which claim, what was wanted and what came."""

    def __init__(
        self,
        exercise,
        claim,
        sentence,
        *,
        seed,
        evidence=(),
        mistakes=(),
        values=None,
        unusable=False,
        repeatable=True,
        public=None,
    ):
        """Keep the facts beside the text, so that reports can count them."""
        self.exercise, self.claim, self.seed = exercise, claim, seed
        self.unusable = unusable  # nothing came back that could be compared
        self.values = values  # wanted and received, where they can be shown side by side
        self.mistakes = tuple(mistakes)  # names from the catalogue that fit what came
        self.sentence = sentence
        self.public = public or sentence  # without what the answer says of hidden inputs
        repeat = f'Same inputs again: check({exercise}, "{claim}", seed={seed})'
        super().__init__("\n".join([sentence, *evidence, *([repeat] if repeatable else [])]))

    def _render_traceback_(self):
        """Show the text alone in a notebook: the lines of the checker help nobody."""
        first, *rest = str(self).splitlines()
        return [f"✗ {self.exercise}, {self.claim}: {first}", *("  " + line for line in rest)]
