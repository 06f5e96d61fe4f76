"""Good manners of functions whose first argument is not called x."""

import numpy as np

from grader.checks.engine.judges import Fault, values_first


def keeps_dtype_of(argument):
    """Make a judge: each output has the dtype of this argument, and the right values."""

    def judge(trial):
        wanted = trial.inputs[argument].dtype
        for name in trial.outputs:
            got = np.asarray(trial.reply.outputs.get(name)).dtype
            if got != wanted:
                return Fault(
                    f"{argument} is {wanted}, but {name} came back as {got}.",
                    f"The answer has another dtype than {argument}. "
                    "Which line brings it in? Look at np.sqrt of a whole number, too.",
                    "dtype_leaks",
                )
        return values_first(trial)

    return judge
