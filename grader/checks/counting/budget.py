"""A budget of machines and days, turned into a model and its data by C = 6ND."""

from grader.checks.engine.exercise import Case, Claim, Exercise, Mistake, by_name

A_DAY = 24 * 60 * 60


def _case(about, **inputs):
    return Case(inputs, about, tolerance=1e-6)  # N and D may be rounded to whole numbers


def _budgets(rng):
    yield _case(
        "three weeks on 512 accelerators", days=21, chips=512, flops_per_second=312e12,
        utilisation=0.4, tokens_per_parameter=20.0,
    )  # fmt: skip
    yield _case(
        "a made-up budget",
        days=float(rng.uniform(0.3, 0.9)),
        chips=int(rng.integers(2, 9)),
        flops_per_second=float(rng.uniform(1e12, 9e12)),
        utilisation=float(rng.uniform(0.2, 0.7)),
        tokens_per_parameter=float(rng.uniform(30, 200)),
    )


def _compute(days, chips, flops_per_second, utilisation):
    return A_DAY * days * chips * flops_per_second * utilisation


def _split(C, r, factor=6.0):
    """Share C = factor · N · D out with D = r N."""
    N = (C / (factor * r)) ** 0.5
    return {"C": C, "N": N, "D": r * N}


def _plan(compute=_compute, split=_split):
    """Make a plan of a rule for the compute and a rule for the split."""
    return lambda days, chips, flops_per_second, utilisation, tokens_per_parameter: split(
        compute(days, chips, flops_per_second, utilisation), tokens_per_parameter
    )


def _with(N, D):
    """Split by two formulas of C and r."""
    return _plan(split=lambda C, r: {"C": C, "N": N(C, r), "D": D(C, r)})


def _factor(factor):
    return _plan(split=lambda C, r: _split(C, r, factor))


BUDGET = Exercise(
    name="training_plan",
    returns=("C", "N", "D"),
    reference=_plan(),
    claims=by_name(
        Claim("compute", "C is what the machines really compute in that time.", _budgets, ("C",)),
        Claim(
            "split",
            "Training N parameters on D tokens takes just C, and D / N is as wanted.",
            _budgets,
            ("N", "D"),
        ),
    ),
    mistakes=(
        Mistake(
            "peak",
            "Do the machines reach their peak all the time? Which argument says how much of it?",
            _plan(lambda days, chips, speed, used: A_DAY * days * chips * speed),
        ),
        Mistake(
            "divided_by_utilisation",
            "Does a machine that stands idle half of the time compute more or less?",
            _plan(lambda days, chips, speed, used: A_DAY * days * chips * speed / used),
        ),
        Mistake(
            "idle_share",
            "Is the fourth argument the share that is used, or the share that is lost?",
            _plan(lambda days, chips, speed, used: A_DAY * days * chips * speed * (1 - used)),
        ),
        Mistake(
            "one_chip",
            "How many machines work side by side?",
            _plan(lambda days, chips, speed, used: A_DAY * days * speed * used),
        ),
        Mistake(
            "one_second",
            "For how long do the machines work?",
            _plan(lambda days, chips, speed, used: chips * speed * used),
        ),
        Mistake(
            "days_as_seconds",
            "How many seconds has a day?",
            _plan(lambda days, chips, speed, used: days * chips * speed * used),
        ),
        Mistake(
            "hours",
            "You have hours. In which unit of time is the speed given?",
            _plan(lambda days, chips, speed, used: 24 * days * chips * speed * used),
        ),
        Mistake(
            "minutes",
            "You have minutes. In which unit of time is the speed given?",
            _plan(lambda days, chips, speed, used: 24 * 60 * days * chips * speed * used),
        ),
        Mistake(
            "an_hour_a_day",
            "You have the seconds of an hour. How many hours has a day?",
            _plan(lambda days, chips, speed, used: 3600 * days * chips * speed * used),
        ),
        Mistake(
            "forward_only",
            "Your factor is that of a forward pass. What else happens in training?",
            _factor(2.0),
        ),
        Mistake(
            "backward_only",
            "Your factor is that of the way back. Which pass comes before it?",
            _factor(4.0),
        ),
        Mistake(
            "multiply_adds",
            "Is your factor in multiply-adds or in FLOPs?",
            _factor(3.0),
        ),
        Mistake(
            "no_factor",
            "How many FLOPs does one parameter cost for one token of training?",
            _factor(1.0),
        ),
        Mistake(
            "a_fourth_pass",
            "Which passes make up your factor? Does each multiply every weight with every token?",
            _factor(8.0),
        ),
        Mistake(
            "turned_round",
            "Are there more tokens than parameters? In which order do you return the two?",
            _with(lambda C, r: (C * r / 6) ** 0.5, lambda C, r: (C / (6 * r)) ** 0.5),
        ),
        Mistake(
            "no_root",
            "D is a multiple of N. How often is N a factor of 6ND then?",
            _with(lambda C, r: C / (6 * r), lambda C, r: C / 6),
        ),
        Mistake(
            "ratio_outside_the_root",
            "What does 6ND give with your N and D: is it C? Look at what stands under the root.",
            _with(lambda C, r: (C / 6) ** 0.5 / r, lambda C, r: (C / 6) ** 0.5),
        ),
        Mistake(
            "as_many_tokens",
            "How many tokens are wanted for each parameter?",
            _with(lambda C, r: (C / 6) ** 0.5, lambda C, r: (C / 6) ** 0.5),
        ),
        Mistake(
            "twenty_always",
            "Does your function use the last argument, or a number of its own?",
            _plan(split=lambda C, r: _split(C, 20.0)),
        ),
        Mistake(
            "ratio_inside_only",
            "Your N is right. What is D, given N and the ratio of the two?",
            _with(lambda C, r: _split(C, r)["N"], lambda C, r: _split(C, r)["N"]),
        ),
    ),
)
