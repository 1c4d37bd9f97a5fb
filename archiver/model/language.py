"""Languages of pages, and language negotiation."""

from dataclasses import dataclass

MOST_HEADER = 1_000
"""Characters of an ``Accept-Language`` that are read."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    Attributes:
        tag: of BCP 47, as pages name it.
        name: its own.
        locale: of CLDR, for dates and numbers.
        direction: ``ltr`` or ``rtl``.
        least_grouped: the least number whose thousands stand apart.
    """

    tag: str
    name: str
    locale: str
    direction: str = "ltr"
    least_grouped: int = 1_000


ENGLISH = Language("en", "English", "en_GB")
LANGUAGES = (
    ENGLISH,
    Language("de", "Deutsch", "de"),
    Language("fr", "Français", "fr"),
    Language("es", "Español", "es", least_grouped=10_000),
    Language("zh-Hans", "中文", "zh_Hans"),
)
TAGS = tuple(each.tag for each in LANGUAGES)


def preferred_language(header: str) -> str:
    """The tag that an ``Accept-Language`` asks for most; empty where it names none of ours.

    A range is cut from its end until it fits, as in a lookup (RFC 4647 §3.4), and a language
    without its script means the one that there is: ``zh-CN`` is ``zh-Hans``.

    >>> preferred_language("pt-BR,zh-CN;q=0.8,en;q=0.5")
    'zh-Hans'
    """
    ranges = [_range(each) for each in header[:MOST_HEADER].split(",")]
    for _, wanted in sorted((each for each in ranges if each[0] > 0), key=lambda each: -each[0]):
        primary = wanted.partition("-")[0]
        for tag in TAGS:
            if tag.lower().partition("-")[0] == primary:
                return tag
    return ""


def _range(text: str) -> tuple[float, str]:
    """Its weight (RFC 9110 §12.4.2), 0 for what can't be read; and what is wanted."""
    wanted, _, weight = text.strip().lower().partition(";")
    try:
        share = float(weight.strip().removeprefix("q=")) if weight else 1.0
    except ValueError:
        share = 0.0
    return (share if 0 <= share <= 1 else 0.0), wanted.strip()
