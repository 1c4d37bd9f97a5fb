"""Languages of the interface, and language negotiation."""

from dataclasses import dataclass

MOST_HEADER = 1_000
"""Maximum characters of ``Accept-Language`` that are parsed."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language.

    Attributes:
        tag: BCP 47 tag.
        name: in the language itself.
        locale: CLDR locale, for dates and numbers.
        direction: ``ltr`` or ``rtl``.
        least_grouped: smallest number with a thousands separator.
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
    """Return the best supported tag for an ``Accept-Language``; empty if none matches.

    Ranges are truncated until they match (lookup, RFC 4647 §3.4), and a language without a script
    matches the only one there is: ``zh-CN`` is ``zh-Hans``.

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
    """Parse a range; return its weight (RFC 9110 §12.4.2; 0 if invalid) and its tag."""
    wanted, _, weight = text.strip().lower().partition(";")
    try:
        share = float(weight.strip().removeprefix("q=")) if weight else 1.0
    except ValueError:
        share = 0.0
    return (share if 0 <= share <= 1 else 0.0), wanted.strip()
