"""The self-test questions in the built book: by mouse and key, spoken, on paper, unscripted."""

import pytest
from accessibility import violations
from bookext.quiz import SCRIPTS, STYLES, read_questions
from browser import ROOT, visit
from pages import page_names
from playwright.sync_api import expect
from test_site_widgets import colours, contrast

pytestmark = pytest.mark.site

RIGHT, WRONG = "Right.", "Not quite."
QUIZZES = sorted(file.stem for file in (ROOT / "book/quizzes").glob("*.yml"))
every_quiz = pytest.mark.parametrize("name", QUIZZES)


def questions_on(page, site_url, name):
    """Open a page, and give its groups of answers with what the quiz file says of each."""
    visit(page, f"{site_url}book/{name}.html")
    return list(
        zip(groups(page).all(), read_questions(ROOT / f"book/quizzes/{name}.yml"), strict=True)
    )


def groups(page):
    return page.locator(".quiz").get_by_role("radiogroup")  # pictures have such groups too


def feedback_of(group):
    return group.locator("xpath=following-sibling::*[@aria-live='polite']")


def wanted(answer):
    return RIGHT if answer.get("correct") else WRONG


@every_quiz
def test_each_answer_chosen_by_mouse_says_whether_it_is_right_and_why(page, site_url, name):
    found = questions_on(page, site_url, name)
    assert found
    for group, question in found:
        reasons = set()
        answers = group.locator("label").all()
        assert len(answers) == len(question["answers"])
        for label, answer in zip(answers, question["answers"], strict=True):
            label.click()
            expect(label.get_by_role("radio")).to_be_checked()
            expect(feedback_of(group)).to_contain_text(wanted(answer))
            reasons.add(feedback_of(group).inner_text())
        assert len(reasons) == len(answers)


def test_a_click_on_a_formula_chooses_its_answer_and_judges_once(page, site_url):
    (_, (group, question), *_) = questions_on(page, site_url, "attention")
    feedback_of(group).evaluate("""node => {
        window.changes = 0;
        new MutationObserver(() => (window.changes += 1)).observe(node, {childList: true});
    }""")
    group.locator("label .katex-html .mord").first.click()
    expect(feedback_of(group)).to_contain_text(wanted(question["answers"][0]))
    assert page.evaluate("window.changes") == 1


@every_quiz
def test_the_tab_key_and_the_arrows_are_enough(page, site_url, name):
    found = questions_on(page, site_url, name)
    group, question = found[0]
    group.get_by_role("radio").first.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(group.get_by_role("radio").first).to_be_focused()
    expect(feedback_of(group)).to_be_empty()
    page.keyboard.press("Space")
    for place, answer in enumerate(question["answers"]):
        if place:
            page.keyboard.press("ArrowDown")
        expect(group.get_by_role("radio").nth(place)).to_be_checked()
        expect(feedback_of(group)).to_contain_text(wanted(answer))
        assert ring(group.locator("label").nth(place)) == "solid 3px"


def ring(label):
    return label.evaluate("""node => {
        const its = getComputedStyle(node);
        return `${its.outlineStyle} ${its.outlineWidth}`;
    }""")


@every_quiz
def test_the_tab_key_goes_from_question_to_question(page, site_url, name):
    found = questions_on(page, site_url, name)
    found[0][0].get_by_role("radio").first.focus()
    for group, question in found:
        expect(group.locator(":focus")).to_have_count(1)
        page.keyboard.press("ArrowDown")
        expect(feedback_of(group)).to_contain_text(wanted(question["answers"][1]))
        page.keyboard.press("Tab")


def test_questions_do_not_touch_each_other(page, site_url):
    (first, one), (second, two), *_ = questions_on(page, site_url, "rmsnorm")
    first.locator("label").nth(1).click()
    expect(feedback_of(second)).to_be_empty()
    before = feedback_of(first).inner_text()
    second.locator("label").nth(0).click()
    expect(first.get_by_role("radio").nth(1)).to_be_checked()
    assert feedback_of(first).inner_text() == before
    expect(feedback_of(second)).to_contain_text(wanted(two["answers"][0]))


@every_quiz
def test_a_group_is_named_by_its_question(page, site_url, name):
    for group, _ in questions_on(page, site_url, name):
        asked = group.locator("xpath=preceding-sibling::*").inner_text().strip()
        assert asked
        name_of_group = group.evaluate(
            "node => document.getElementById(node.getAttribute('aria-labelledby')).innerText.trim()"
        )
        assert name_of_group == asked


@every_quiz
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_verdicts_are_readable_and_axe_is_content(new_page, site_url, name, scheme):
    page = new_page(width=375, scheme=scheme, reduced_motion="reduce")
    for place, (group, _) in enumerate(questions_on(page, site_url, name)):
        group.locator("label").nth(place % 3).click()
        expect(feedback_of(group)).not_to_be_empty()
    assert violations(page) == []
    paper = colours(page, "body", "backgroundColor").pop()
    for part in (".MCButton > span", ".Feedback", ".Feedback strong:first-child"):
        for colour in colours(page.locator(".quiz-live"), part, "color"):
            assert contrast(colour, paper) >= 4.5, (part, colour, paper)
    for colour in colours(page.locator(".quiz-live"), ".MCButton:has(:checked)", "borderLeftColor"):
        assert contrast(colour, paper) >= 3, (colour, paper)


@every_quiz
def test_nothing_sticks_out_on_a_phone(new_page, site_url, name):
    page = new_page(width=320, has_touch=True)
    for group, _ in questions_on(page, site_url, name):
        for label in group.locator("label").all():
            label.click()
            assert label.bounding_box()["height"] >= 24
            assert page.evaluate("document.documentElement.scrollWidth") <= 320
            assert label.evaluate("node => node.scrollWidth <= node.clientWidth")


@every_quiz
def test_on_paper_and_without_scripts_all_answers_stand_with_their_reasons(
    new_page, site_url, name
):
    printed, unscripted = new_page(), new_page(java_script_enabled=False)
    printed.emulate_media(media="print")
    for page in (printed, unscripted):
        page.goto(f"{site_url}book/{name}.html")
        questions = read_questions(ROOT / f"book/quizzes/{name}.yml")
        answers = sum(len(question["answers"]) for question in questions)
        for part, count in (("dt", answers), ("dd", answers), ("dt.quiz-correct", len(questions))):
            found = page.locator(f".quiz .quiz-answers > {part}")
            expect(found).to_have_count(count)
            for element in found.all():
                expect(element).to_be_visible()
        expect(page.locator(".quiz").get_by_text(RIGHT, exact=True)).to_have_count(len(questions))
        for drawn in page.locator(".quiz-live").all():
            expect(drawn).to_be_hidden()


def test_the_text_gives_way_to_the_choices_on_the_screen(page, site_url):
    questions_on(page, site_url, "rmsnorm")
    for text in page.locator(".quiz-question").all():
        expect(text).to_be_hidden()


def test_nothing_moves_when_an_answer_is_judged(page, site_url):
    ((group, _), *_) = questions_on(page, site_url, "rmsnorm")
    for label in group.locator("label").all():
        label.click()
        assert label.evaluate("node => node.getAnimations().length") == 0


def test_only_pages_with_a_quiz_load_what_a_quiz_needs(page, site_url):
    for name in page_names():
        html = page.request.get(f"{site_url}{name}.html").text()
        has_quiz = name.removeprefix("book/") in QUIZZES
        assert ('class="quiz compound"' in html) == has_quiz, name
        for file in (*STYLES, *SCRIPTS):
            assert html.count(f"_static/{file}") == has_quiz, (name, file)


def test_no_mathjax_is_on_a_page_with_a_quiz(page, site_url):
    """With one the library would fetch another from elsewhere."""
    assert questions_on(page, site_url, "rmsnorm")
    assert page.evaluate("typeof MathJax") == "undefined"
