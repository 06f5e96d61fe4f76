// Makes choices of the quizzes that stand on the page as text; jupyterquiz draws and judges them.
{
  // What the library would read as a formula or as a link in Markdown has been rendered already.
  const html = (element) => element.innerHTML.replaceAll("$", "&#36;").replaceAll("[", "&#91;");

  const read = (question) => ({
    type: "multiple_choice",
    question: html(question.querySelector(".quiz-asked")),
    answers: [...question.querySelectorAll(".quiz-answers > dt")].map((answer) => ({
      answer: html(answer),
      correct: answer.classList.contains("quiz-correct"),
      feedback: html(answer.nextElementSibling),
    })),
  });

  // The library leaves its parts without roles: a group named by its question, and a spoken verdict.
  const describe = (question) => {
    const answers = question.querySelector(".Answer");
    answers.setAttribute("role", "radiogroup");
    answers.setAttribute("aria-labelledby", answers.id.replace("quizAns", "quizQn"));
    question.querySelector(".Feedback").setAttribute("aria-live", "polite");
  };

  // It judges at every click inside a label, and the browser sends a second one to the button. Let
  // it see only that one, so that a verdict is spoken once.
  const onlyTheButton = (event) => {
    if (event.target.closest("label") && !(event.target instanceof HTMLInputElement)) {
      event.stopPropagation();
    }
  };

  for (const quiz of document.querySelectorAll(".quiz")) {
    const live = document.createElement("div");
    live.className = "quiz-live";
    live.dataset.maxwidth = 1000; // pixels, wider than the text; without it the library takes 0
    show_questions([...quiz.querySelectorAll(".quiz-question")].map(read), live);
    live.querySelectorAll(".Quiz").forEach(describe);
    live.addEventListener("click", onlyTheButton, { capture: true });
    quiz.append(live);
    quiz.classList.add("quiz-drawn");
  }
}
