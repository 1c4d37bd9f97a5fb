"""Capture quality score.

The score is 100 percent multiplied by one factor for each flaw. A missing resource that no longer
exists on the web (404, 410) has a quarter of the weight of other missing resources. Scores can be
computed again from the records, so these weights may change.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from archiver.model.message import Message, counted, forms
from archiver.model.rendering import WHOLE, Deduction, Limit, QualitySignals, Rendering, Score
from archiver.model.requisite import RequisiteKind, RequisiteOutcome

_COSTS: Final = {
    RequisiteKind.STYLE: (
        0.35,
        forms(
            "{missing} of {count} style sheet missing.",
            "{missing} of {count} style sheets missing.",
        ),
    ),
    RequisiteKind.PART: (
        0.35,
        forms(
            "{missing} of {count} continuation page of the article missing.",
            "{missing} of {count} continuation pages of the article missing.",
        ),
    ),
    RequisiteKind.IMAGE: (
        0.25,
        forms("{missing} of {count} image missing.", "{missing} of {count} images missing."),
    ),
    RequisiteKind.MEDIA: (
        0.15,
        forms(
            "{missing} of {count} audio or video file missing.",
            "{missing} of {count} audio or video files missing.",
        ),
    ),
    RequisiteKind.FRAME: (
        0.10,
        forms("{missing} of {count} frame missing.", "{missing} of {count} frames missing."),
    ),
    RequisiteKind.FONT: (
        0.03,
        forms("{missing} of {count} font missing.", "{missing} of {count} fonts missing."),
    ),
    RequisiteKind.OTHER: (
        0.03,
        forms(
            "{missing} of {count} other file missing.",
            "{missing} of {count} other files missing.",
        ),
    ),
    RequisiteKind.ICON: (
        0.01,
        forms("{missing} of {count} icon missing.", "{missing} of {count} icons missing."),
    ),
}
"""By kind of requisite: share of the score lost if all are missing, and message (one, several)."""
_GONE: Final = frozenset({404, 410})
_GONE_COUNTS: Final = 0.25
_USUAL_AREA: Final = 60_000
"""Assumed image area in CSS pixels if the markup gives no size."""
_LEAST_SIZE, _MAX_SIZE = 0.02, 6.0
"""Minimum and maximum weight of one requisite; ``_USUAL_AREA`` has the weight 1."""

_FACTORS: Final = {
    Limit.RESTLESS: 0.98,
    Limit.HEIGHT: 0.98,
    Limit.PICTURES: 0.98,
    Limit.LOADING: 0.9,
    Limit.REQUESTS: 0.9,
    Limit.BYTES: 0.9,
    Limit.ARTICLE: 0.7,
}
"""Factors of some limits; all other limits have the factor ``_LIMITED``."""
_LIMITED: Final = 0.95
_UNSHOWN: Final = 0.1
_ERROR: Final = 0.2
_CUT: Final = 0.6
_EMPTY: Final = 0.6
_SPARSE: Final = 0.8
_LEAST_READ: Final = 16
_LITTLE_READ: Final = 200
_LARGE_SOURCE: Final = 10_000
_MARKUP: Final = 100
_PICTURE_COSTS: Final = 0.5
_WORDS_COST: Final = 0.7


def score_of(
    rendering: Rendering, requisites: Sequence[RequisiteOutcome], appearance: QualitySignals
) -> Score:
    """Return the quality score of a snapshot.

    Args:
        rendering: whether a browser rendered the page, or the page needs a browser.
        requisites: the outcome of each requisite.
        appearance: quality signals of the page.
    """
    value, reasons = float(WHOLE), []
    for leaves, message in (
        *_of_limits(rendering, appearance),
        *_of_page(rendering, appearance),
        *_of_requisites(requisites),
        *_of_replay(appearance),
    ):
        remaining = value * leaves
        if cost := round(value) - round(remaining):
            reasons.append(Deduction(message, cost))
        value = remaining
    return Score(round(value), tuple(reasons))


def _of_limits(rendering: Rendering, signals: QualitySignals) -> Iterator[tuple[float, Message]]:
    """Yield (factor, message) for each limit that the rendering reached."""
    is_unshown = rendering is Rendering.NEEDED
    for limit in signals.limits:
        yield _UNSHOWN if is_unshown else _FACTORS.get(limit, _LIMITED), limit.sentence


def _of_page(rendering: Rendering, signals: QualitySignals) -> Iterator[tuple[float, Message]]:
    """Yield (factor, message) for each flaw of the response."""
    if rendering is Rendering.NEEDED:
        if not signals.limits:
            yield _UNSHOWN, Message("The page needs JavaScript and was saved without it.")
    elif signals.readable is not None and signals.source > _LARGE_SOURCE:
        if signals.readable < _LEAST_READ:
            yield _EMPTY, Message("The page has no text.")
        elif signals.readable < _LITTLE_READ and signals.readable * _MARKUP < signals.source:
            yield _SPARSE, Message("The page has little text for its size.")
    if signals.is_error:
        yield _ERROR, Message("The page looks like an error page.")
    if signals.is_cut:
        yield _CUT, Message("The response was truncated.")


def _of_requisites(requisites: Sequence[RequisiteOutcome]) -> Iterator[tuple[float, Message]]:
    if not any(each.is_missing for each in requisites):
        return
    for kind, (cost, sentences) in _COSTS.items():
        mine = [each for each in requisites if each.kind is kind]
        missing = [each for each in mine if each.is_missing]
        if missing:
            lost = sum(_size(each) * _blame(each) for each in missing)
            sentence = counted(*sentences, count=len(mine), missing=len(missing))
            yield 1 - cost * lost / sum(map(_size, mine)), sentence


def _of_replay(signals: QualitySignals) -> Iterator[tuple[float, Message]]:
    if signals.picture is not None:
        yield (
            1 - _PICTURE_COSTS * (WHOLE - min(signals.picture, WHOLE)) / WHOLE,
            Message(
                "{share}% of the page looks the same without scripts.",
                share=signals.picture,
            ),
        )
    if signals.words is not None:
        yield (
            1 - _WORDS_COST * (WHOLE - min(signals.words, WHOLE)) / WHOLE,
            Message("{share}% of the words are present without scripts.", share=signals.words),
        )


def _size(outcome: RequisiteOutcome) -> float:
    """Return the weight of a requisite: its area relative to ``_USUAL_AREA``; 1 if unknown."""
    if not outcome.area:
        return 1.0
    return min(max(outcome.area / _USUAL_AREA, _LEAST_SIZE), _MAX_SIZE)


def _blame(outcome: RequisiteOutcome) -> float:
    return _GONE_COUNTS if outcome.status in _GONE else 1.0


def needed(outcomes: Iterable[RequisiteOutcome]) -> tuple[RequisiteOutcome, ...]:
    """Drop the requisites that are only used as preview images in lists."""
    return tuple(each for each in outcomes if not each.is_preview_image)
