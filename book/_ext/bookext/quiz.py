"""Questions to choose from: ``{quiz} rmsnorm`` shows those of ``book/quizzes/rmsnorm.yml``.

A quiz file is a list of questions, in the terms of the library jupyterquiz::

    - question: A row is multiplied by −2. What happens to its output?
      answers:
        - answer: It changes its sign.
          correct: true
          feedback: RMSNorm keeps the direction of a row.
        - answer: Nothing.
          feedback: The sign is not divided out, since $r > 0$.

Everything is Markdown, and an answer is one paragraph. The page holds all of it as plain text, for
print and where no script runs; ``quiz.js`` hands the text to the library, which makes choices of
it. Only pages with a quiz load the two.
"""

import re

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util import logging

from bookext.written import Written

STYLES = ("quiz/styles.css", "quiz.css")
SCRIPTS = ("quiz/helpers.js", "quiz/multiple_choice.js", "quiz/show_questions.js", "quiz.js")

FORMULA = re.compile(r"\$[^$]*\$")

logger = logging.getLogger(__name__)


class QuizError(ValueError):
    """A quiz file is not as it should be."""


def setup(app):
    """Add the directive, and its styles and scripts to the pages that use it."""
    app.add_directive("quiz", Quiz)
    app.connect("html-page-context", _load_on_pages_with_a_quiz)


class Quiz(Written):
    """The questions of one page."""

    required_arguments = 1

    def run(self):
        """Write the questions as text; a file with a mistake gives one warning and no quiz."""
        name = f"book/quizzes/{self.arguments[0]}.yml"
        try:
            questions = read_questions(self.depend_on(name))
        except QuizError as error:
            logger.warning("%s: %s", name, error, location=self.get_location())
            return []
        return [_box("quiz", *map(self._question, questions))]

    def _question(self, question):
        asked = _box("quiz-asked", *self._parse(question["question"]))
        choices = map(self._choice, question["answers"])
        return _box(
            "quiz-question",
            asked,
            nodes.definition_list("", *choices, classes=["quiz-answers"]),
        )

    def _choice(self, answer):
        right = answer.get("correct", False)
        (choice,) = self._parse(answer["answer"])
        feedback = self._parse(f"**{'Right.' if right else 'Not quite.'}** {answer['feedback']}")
        term = nodes.term("", "", *choice.children, classes=["quiz-correct"] if right else [])
        return nodes.definition_list_item("", term, nodes.definition("", *feedback))

    def _parse(self, text):
        """Read Markdown as if it stood on the page."""
        holder = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), source=self.name), 0, holder)
        return holder.children


def _box(name, *children):
    return nodes.compound("", *children, classes=[name])


def read_questions(path):
    """Read a quiz file.

    Parameters
    ----------
    path : Path
        The file, ``book/quizzes/rmsnorm.yml``.

    Returns
    -------
    questions : list of dict
        Each with a ``question`` and its ``answers``: ``answer``, ``feedback``, maybe ``correct``.

    Raises
    ------
    QuizError
        If the file is missing or no list of questions, or a question lacks something. The message
        has the number of the question.
    """
    try:
        questions = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError:
        raise QuizError("there is no such file") from None
    except yaml.YAMLError as error:
        raise QuizError(f"no YAML: {' '.join(str(error).split())}") from None
    if not (isinstance(questions, list) and questions):
        raise QuizError("a quiz is a list of questions, each beginning with `- question:`")
    for number, question in enumerate(questions, start=1):
        fault = fault_of(question)
        if fault:
            raise QuizError(f"question {number}: {fault}")
    return questions


def fault_of(question):
    """Say what is wrong with a question as a quiz file has it.

    Parameters
    ----------
    question : object
        One entry of the list.

    Returns
    -------
    fault : str or None
        A sentence without its end, or None if all is well.
    """
    if not (_has_words(question, "question") and isinstance(question.get("answers"), list)):
        return "it needs a `question` and a list of `answers`"
    answers = question["answers"]
    if not 3 <= len(answers) <= 4:
        return f"it needs 3 or 4 answers: got {len(answers)}"
    for number, answer in enumerate(answers, start=1):
        for key in ("answer", "feedback"):
            if not _has_words(answer, key):
                return f"answer {number} has no `{key}` in words"
        if "\n\n" in answer["answer"].strip():
            return f"answer {number} must be one paragraph"
        if not re.search(r"\w", FORMULA.sub("", answer["answer"])):
            return f"answer {number} needs a word beside its formula, to be named by"
    right = [answer.get("correct", False) for answer in answers].count(True)
    if right != 1:
        return f"one answer must have `correct: true`: got {right}"
    return None


def _has_words(entry, key):
    text = entry.get(key) if isinstance(entry, dict) else None
    return isinstance(text, str) and bool(text.strip())


def _load_on_pages_with_a_quiz(app, page, template, context, doctree):
    if doctree and any("quiz" in box["classes"] for box in doctree.findall(nodes.compound)):
        for style in STYLES:
            app.add_css_file(style)
        for script in SCRIPTS:
            app.add_js_file(script, loading_method="defer")
