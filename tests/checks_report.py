"""How good the checks are, in figures; ``make checks-report`` fails if one of them is missed.

Every right answer passes 200 seeds in a row, of which ``--check`` tries 40: the rest would take as
long as all other tests together. Every wrong answer is rejected, and at least 95 % are named right.
Every mutant of every solved answer is rejected, or a stored note says why it is the same function.
A learner waits for none of it.
"""

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import matplotlib
from answers import RIGHT, WRONG
from mutants import mutants
from rich import box
from rich.console import Console
from rich.table import Table

from grader import authoring
from grader.checks import CheckFailed, check, exercises

ROOT = Path(__file__).parents[1]
NOTES = ROOT / "tests/data/equivalent_mutants.toml"
SCORES = ROOT / "tests/data/mutation_scores.json"
SEEDS_FOR_RIGHT, SEEDS_TO_CHECK, SEEDS = 200, 40, range(3)
SECONDS = 20  # for one answer: a mutant may loop for ever
LEAST_NAMED = 0.95
MOST_COLD, MOST_SHEET = 0.4, 1.0  # seconds of CPU


def quietly(function, *arguments, **options):
    """Call a function without its output, and stop it if it takes too long."""

    def too_long(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return function(*arguments, **options)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def failure(answer, name, seed, companions):
    """Return what stands against an answer: the failed check, another error, or ``None``."""
    try:
        quietly(check, answer, exercise=name, seed=seed, **companions)
    except (Exception, RecursionError) as error:
        return error
    return None


def solved_answers(sheet):
    """Yield (exercise, source, names that are there) for each answer of a sheet that is checked."""
    names, known = {}, exercises()
    for cell in authoring.master(sheet).cells:
        if cell.cell_type != "code":
            continue
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in known:
            yield known[name], cell.source, dict(names)
        quietly(exec, cell.source, names)


def companions_of(exercise, names):
    """Return the functions that go with an answer, as the graded cell passes them."""
    return {key: names[function] for key, function in exercise.companions.items()}


def survivors(sheet):
    """Return for each exercise of a sheet how many mutants there are, and which survived."""
    matplotlib.use("agg")
    found = {}
    for exercise, source, names in solved_answers(sheet):
        made = mutants(source)
        alive = [mutant for mutant in made if _survives(exercise, mutant, names)]
        found[exercise.name] = (len(made), [(mutant.was, mutant.now) for mutant in alive])
    return found


def _survives(exercise, mutant, names):
    """Tell whether a mutant passes all claims on at least one seed."""
    own = dict(names)
    exec(compile(mutant.source, "<mutant>", "exec"), own)
    answer, companions = own[exercise.name], companions_of(exercise, own)
    return any(failure(answer, exercise.name, seed, companions) is None for seed in SEEDS)


def seeds_for_right(name, most):
    """Return the seeds that a right answer must pass; one, where no seed changes its inputs."""
    claims = exercises()[name].claims.values()
    inputs = [value for one in claims for case in one.drawn(0) for value in case.inputs.values()]
    return range(1 if all(map(callable, inputs)) else most)


def judged_right(name, most):
    """Return how many right answers there are, and those that did not pass every seed."""
    failed = []
    for entry in RIGHT[name]:
        answer, *rest = entry if isinstance(entry, tuple) else (entry,)
        companions = rest[0] if rest else {}
        for seed in seeds_for_right(name, most):
            error = failure(answer, name, seed, companions)
            if error is not None:
                failed.append(f"{name}, {answer.__name__}, seed {seed}: {error}".splitlines()[0])
                break
    return len(RIGHT[name]), failed


def judged_wrong(name):
    """Return how many wrong answers there are, which passed, and how many were named right."""
    passed, named, catalogued = [], 0, 0
    for answer, mistake in WRONG[name]:
        found = [failure(answer, name, seed, {}) for seed in SEEDS]
        passed += [answer.__name__] if None in found else []
        catalogued += mistake is not None
        named += mistake is not None and all(
            isinstance(error, CheckFailed) and error.mistakes == (mistake,) for error in found
        )
    return len(WRONG[name]), passed, catalogued, named


def sheet_seconds(sheet):
    """Return the CPU seconds that all checks of a right sheet take."""
    right = list(solved_answers(sheet))
    names = {}
    for cell in authoring.master(sheet).cells:
        if cell.cell_type == "code":
            quietly(exec, cell.source, names)
    start = time.process_time()
    for exercise, _, _ in right:
        companions = companions_of(exercise, names)
        quietly(check, names[exercise.name], exercise=exercise.name, **companions)
    return time.process_time() - start


COLD = """
import resource
before = resource.getrusage(resource.RUSAGE_SELF)
from grader import check
from transformer_block.rmsnorm import rmsnorm_forward
check(rmsnorm_forward)
"""


def cold_seconds():
    """Return the CPU seconds of a new interpreter that checks RMSNorm forward: the best of five."""
    program = f"{COLD}\nimport time\nprint(time.process_time())"
    runs = (
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
        )
        for _ in range(5)
    )
    return min(float(run.stdout.splitlines()[-1]) for run in runs)


def explained(exercise, survivor):
    """Tell whether a stored note shows that a surviving mutant is the same function."""
    return any(
        all(map(_fits, (note["exercise"], note["was"], note["now"]), (exercise, *survivor)))
        for note in tomllib.loads(NOTES.read_text("utf-8")).get("mutant", [])
    )


def _fits(pattern, text):
    """Compare with a text in which … stands for anything."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("…"))), text) is not None


def score(sheet, most):
    """Return the figures of one sheet, with so many seeds, and all that is wrong with them."""
    figures, trouble = {}, []
    for name, (made, alive) in survivors(sheet).items():
        open_ones = [one for one in alive if not explained(name, one)]
        trouble += [f"{name}: a mutant passes: {was}  →  {now}" for was, now in open_ones]
        right, failed = judged_right(name, most)
        wrong, passed, catalogued, named = judged_wrong(name)
        trouble += failed + [f"{name}: {answer} passes, and is wrong" for answer in passed]
        figures[name] = {
            "claims": len(exercises()[name].claims),
            "mistakes": len(exercises()[name].mistakes),
            "mutants": made,
            "equivalent": len(alive) - len(open_ones),
            "alive": len(open_ones),
            "right": right,
            "wrong": wrong,
            "catalogued": catalogued,
            "named": named,
        }
    seconds = min(sheet_seconds(sheet) for _ in range(3))
    if seconds > MOST_SHEET:
        trouble.append(f"{sheet.stem}: its checks take {seconds:.2f} s of CPU")
    return sheet.stem, figures, seconds, trouble


def print_scores(scores):
    """Print one line for each exercise, and one for each sheet."""
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("exercise")
    for heading in ("claims", "mistakes", "mutants", "equivalent", "right", "wrong", "named"):
        table.add_column(heading, justify="right")
    for sheet, figures, seconds, _ in scores:
        table.add_row(f"{sheet}: {seconds:.2f} s for a right sheet", style="bold")
        for name, row in figures.items():
            counts = (row[key] for key in ("claims", "mistakes", "mutants", "equivalent"))
            named = f"{row['named']} of {row['catalogued']}"
            table.add_row(name, *map(str, counts), str(row["right"]), str(row["wrong"]), named)
    Console(width=110).print(table)


def main(words):
    """Measure all sheets, or those named; print the figures; return 1 if one is missed.

    Their figures are stored, or with ``--check`` compared with those that are.
    """
    os.environ["TRANSFORMER_BLOCK_CACHE"] = os.devnull  # the cells of a sheet find no real model
    keep, words = "--check" not in words, [word for word in words if word != "--check"]
    most = SEEDS_FOR_RIGHT if keep else SEEDS_TO_CHECK
    sheets = [sheet for sheet in authoring.sheets(ROOT) if not words or sheet.stem in words]
    largest_first = sorted(sheets, key=lambda sheet: sheet.stat().st_size, reverse=True)
    with ProcessPoolExecutor(2) as pool:
        scores = sorted(pool.map(partial(score, most=most), largest_first))
    print_scores(scores)
    trouble = [line for *_, lines in scores for line in lines]
    rows = [row for _, figures, _, _ in scores for row in figures.values()]
    share = sum(row["named"] for row in rows) / sum(row["catalogued"] for row in rows)
    trouble += [] if share >= LEAST_NAMED else [f"only {share:.1%} of the mistakes are named right"]
    cold = cold_seconds()
    trouble += [] if cold < MOST_COLD else [f"a check from a cold start takes {cold:.2f} s of CPU"]
    print(f"{share:.1%} of the wrong answers in the catalogue are named right and alone")
    print(f"{sum(row['mutants'] for row in rows)} mutants, {cold:.2f} s of CPU from a cold start")
    trouble += stored({sheet: rows for sheet, rows, _, _ in scores}, keep)
    print(*trouble, sep="\n", file=sys.stderr)
    return 1 if trouble else 0


def stored(figures, keep):
    """Put the figures among those of the other sheets; or say what to do if others are there."""
    before = SCORES.read_text("utf-8") if SCORES.exists() else "{}"
    after = json.dumps(dict(sorted((json.loads(before) | figures).items())), indent=1) + "\n"
    if keep:
        SCORES.write_text(after, "utf-8")
    elif after != before:
        return [f"{SCORES.relative_to(ROOT)} is not up to date; run: make checks-report"]
    return []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
