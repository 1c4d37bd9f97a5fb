"""Languages of the interface."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """A language.

    Attributes:
        tag: BCP 47 tag.
        name: name of the language, in the language itself.
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
