"""Capture quality: the score and its reasons."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.model.failure import Failure, FailureKind
from archiver.model.rendering import WHOLE, Limit, QualitySignals, Rendering
from archiver.model.requisite import RequisiteKind, RequisiteOutcome
from archiver.pages.capture_quality import score_of
from archiver.pages.page_problems import is_error

LOST = Failure(FailureKind.TIMEOUT, "It took too long.")
READ = QualitySignals(readable=600, source=40_000)


def image(status: int | None, area: int = 0) -> RequisiteOutcome:
    return outcome(RequisiteKind.IMAGE, status, area)


def outcome(kind: RequisiteKind, status: int | None, area: int = 0) -> RequisiteOutcome:
    failure = None if status else LOST
    return RequisiteOutcome("https://example.org/x", kind, status, failure, area)


def hundredths(*requisites: RequisiteOutcome, signals: QualitySignals = READ, rendering="") -> int:
    return score_of(Rendering(rendering), requisites, signals).hundredths


def test_a_complete_page_has_the_highest_score():
    assert score_of(Rendering.NONE, [image(200)], READ).reasons == ()
    assert hundredths(image(200)) == WHOLE


def test_a_style_sheet_costs_more_than_a_picture_or_an_icon():
    costs = [
        hundredths(outcome(kind, None))
        for kind in (RequisiteKind.STYLE, RequisiteKind.IMAGE, RequisiteKind.FONT)
    ]

    assert costs == sorted(costs)
    assert costs[0] < costs[1] < costs[2] < WHOLE


def test_a_large_picture_costs_more_than_a_small_one():
    large, small = 800 * 600, 16 * 16

    assert hundredths(image(None, large), image(200, small)) < 80
    assert hundredths(image(200, large), image(None, small)) == WHOLE


def test_resources_missing_on_the_web_cost_less():
    assert hundredths(image(None)) < hundredths(image(404)) < WHOLE


@pytest.mark.parametrize(
    ("signals", "rendering", "text"),
    [
        (QualitySignals(0, 900), "needed", "saved without it"),
        (QualitySignals(3, 90_000), "", "has no text"),
        (QualitySignals(120, 90_000), "", "little text for its size"),
        (QualitySignals(50, 900, is_error=True), "", "looks like an error page"),
        (QualitySignals(600, 9_000, is_cut=True), "", "was truncated"),
        (QualitySignals(600, 9_000, picture=40), "done", "40% of the page looks"),
        (QualitySignals(600, 9_000, words=55), "done", "55% of the words"),
        *((QualitySignals(600, limits=(each,)), "done", str(each.sentence)) for each in Limit),
        (QualitySignals(0, 900, limits=(Limit.TAB,)), "needed", str(Limit.TAB.sentence)),
    ],
)
def test_each_problem_lowers_the_score_and_has_a_reason(signals, rendering, text):
    score = score_of(Rendering(rendering), [], signals)

    (reason,) = score.reasons
    assert text in reason.sentence
    assert score.hundredths == WHOLE - reason.cost


def test_a_failed_rendering_scores_like_a_missing_one():
    unshown = hundredths(signals=QualitySignals(0, 900), rendering="needed")

    for limit in Limit:
        assert (
            hundredths(signals=QualitySignals(0, 900, limits=(limit,)), rendering="needed")
            == unshown
        )


def test_unknown_signals_cost_nothing():
    assert hundredths(signals=QualitySignals()) == WHOLE
    assert hundredths(signals=QualitySignals(readable=5, source=400)) == WHOLE


OUTCOMES = st.lists(
    st.builds(
        outcome,
        st.sampled_from(RequisiteKind),
        st.none() | st.sampled_from([200, 304, 404, 500]),
        st.integers(0, 10**9),
    ),
    max_size=9,
)
SEEN = st.builds(
    QualitySignals,
    st.none() | st.integers(0, 600),
    st.integers(0, 10**7),
    st.booleans(),
    st.booleans(),
    st.none() | st.integers(0, 10**6),
    st.none() | st.integers(0, 10**6),
    st.lists(st.sampled_from(Limit), max_size=3, unique=True).map(tuple),
)


@given(st.sampled_from(Rendering), OUTCOMES, SEEN)
def test_any_score_is_from_0_to_1_and_fully_explained(rendering, expected, signals):
    score = score_of(rendering, expected, signals)

    assert 0 <= score.hundredths <= WHOLE
    assert score.hundredths + sum(each.cost for each in score.reasons) == WHOLE
    assert all(each.cost > 0 for each in score.reasons)


@pytest.mark.parametrize(
    "title",
    [
        "404 Not Found",
        "Page not found - Example",
        "403 Forbidden",
        "Error 500",
        "Access Denied",
        "Service Temporarily Unavailable",
        "Seite nicht gefunden | Beispiel",
        "An error occurred",
    ],
)
def test_titles_of_error_pages_are_recognised(title):
    assert is_error(title, "Sorry.")
    assert not is_error(title, "w" * 600)


@pytest.mark.parametrize(
    "title",
    [
        "HTTP 404 and what to do about it",
        "The lost city was not found",
        "500 days of summer",
        "Error handling in Rust",
        "Access denied: a history of locks",
    ],
)
def test_pages_about_errors_are_not_error_pages(title):
    assert not is_error(title, "Short.")
