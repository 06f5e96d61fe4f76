"""Answers of learners' kinds: right ones that look different, wrong ones with their mistake."""

import importlib
import pkgutil

RIGHT, WRONG = {}, {}  # exercise → answers; wrong ones as (answer, name of the mistake or None)

for _module in pkgutil.iter_modules(__path__):
    _answers = importlib.import_module(f"answers.{_module.name}")
    RIGHT.update(getattr(_answers, "RIGHT", {}))
    WRONG.update(getattr(_answers, "WRONG", {}))
