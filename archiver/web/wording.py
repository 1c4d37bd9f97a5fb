"""Translations, dates and numbers of one language.

Babel reads the catalogues and CLDR once for each language, never while a page is rendered.

A failure is stored with an English message, which has details such as the host or a limit. English
pages show this message. Pages in other languages show a translated sentence without these details.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from typing import Final

from babel import Locale
from babel.dates import parse_pattern
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from markupsafe import Markup, escape

from archiver import helpers
from archiver.model.failure import Failure, FailureKind
from archiver.model.feed import NO_FEED, FeedState
from archiver.model.language import ENGLISH, LANGUAGES, TAGS, Language
from archiver.model.message import Message, marked

MAX_HEADER = 1_000
"""Maximum characters of ``Accept-Language`` that are parsed."""


def preferred_language(header: str) -> str:
    """Return the best supported tag for an ``Accept-Language``; empty if none matches.

    Only the primary language is compared (see lookup, RFC 4647 §3.4), so ``zh-CN`` matches
    ``zh-Hans``.

    >>> preferred_language("pt-BR,zh-CN;q=0.8,en;q=0.5")
    'zh-Hans'
    """
    ranges = [_range(each) for each in header[:MAX_HEADER].split(",")]
    for _, requested in sorted((each for each in ranges if each[0] > 0), key=lambda each: -each[0]):
        primary = requested.partition("-")[0]
        for tag in TAGS:
            if tag.lower().partition("-")[0] == primary:
                return tag
    return ""


def _range(text: str) -> tuple[float, str]:
    """Parse a range; return its weight (RFC 9110 §12.4.2; 0 if invalid) and its tag."""
    tag, _, weight = text.strip().lower().partition(";")
    try:
        share = float(weight.strip().removeprefix("q=")) if weight else 1.0
    except ValueError:
        share = 0.0
    return (share if 0 <= share <= 1 else 0.0), tag.strip()


_SIZES = (
    marked("%(amount)s kB"),
    marked("%(amount)s MB"),
    marked("%(amount)s GB"),
    marked("%(amount)s TB"),
)


@dataclass(frozen=True, slots=True)
class Forms:
    """Formats of dates and numbers in a language.

    Attributes:
        day, moment: patterns for dates and times.
        months: short names of months within a date, from January.
        month_names: short names of months used alone.
        group, decimal: separators of thousands and fractions.
        least_grouped: smallest number with a thousands separator.
        percent: pattern with ``#`` for the number.
    """

    day: str
    moment: str
    months: tuple[str, ...]
    month_names: tuple[str, ...]
    group: str
    decimal: str
    least_grouped: int
    percent: str

    @classmethod
    def of(cls, language: Language) -> "Forms":
        """Return the formats in CLDR."""
        locale = Locale.parse(language.locale)
        day = str(parse_pattern(locale.datetime_skeletons["yMMMd"]).format)
        time = str(parse_pattern(locale.datetime_skeletons["Hm"]).format)
        both = str(locale.datetime_formats["medium"])
        signs = locale.number_symbols["latn"]
        return cls(
            day=day,
            moment=both.replace("{1}", day).replace("{0}", time).replace("'", "") + " UTC",
            months=tuple(locale.months["format"]["abbreviated"].values()),
            month_names=tuple(locale.months["stand-alone"]["abbreviated"].values()),
            group=signs["group"],
            decimal=signs["decimal"],
            least_grouped=language.least_grouped,
            percent=str(locale.percent_formats[None].pattern).replace("#,##0", "#"),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """Texts and formats of one language.

    Attributes:
        language: the language.
        texts: its catalogue; for English the source texts.
        forms: its formats of dates and numbers.
    """

    language: Language
    texts: NullTranslations
    forms: Forms

    @property
    def is_source(self) -> bool:
        """Return whether this is the language of the source texts."""
        return type(self.texts) is NullTranslations

    def text_of(self, message: Message | str) -> str:
        """Translate a message; return other text unchanged."""
        if isinstance(message, str):
            return message
        values = {name: self.formatted(value) for name, value in message.values.items()}
        if message.many:
            count = message.values["count"]
            text = self.texts.ngettext(message.text, message.many, int(str(count)))
        else:
            text = self.translated(message.text)
        return text.format(**values) if values else text

    def translated(self, text: str) -> str:
        """Translate a text that was marked for extraction."""
        return self.texts.gettext(text) if text else ""

    def gettext(self, text: str, /, **values: object) -> Markup:
        """Translate a text of a template (Jinja's newstyle gettext).

        Values are escaped, and numbers are formatted.
        """
        if not values:
            return _alone(self.texts, text)
        return self._filled(self.texts.gettext(text), values)

    def pgettext(self, context: str, text: str, /, **values: object) -> Markup:
        """Translate a text of a template that has a context; see ``gettext``."""
        return self._filled(self.texts.pgettext(context, text), values)

    def ngettext(self, one: str, many: str, count: int, /, **values: object) -> Markup:
        """Translate a text of a template that has plural forms; see ``gettext``."""
        return self._filled(self.texts.ngettext(one, many, count), {"num": count, **values})

    def _filled(self, text: str, values: Mapping[str, object]) -> Markup:
        formatted = {name: self.formatted(value) for name, value in values.items()}
        return _markup(text, formatted)

    def formatted(self, value: object) -> object:
        """Format a value for a sentence: numbers and messages in this language."""
        if isinstance(value, bool):
            return value
        if isinstance(value, int):
            return self.number(value)
        return self.text_of(value) if isinstance(value, Message) else value

    def number(self, count: int) -> str:
        """Format a number with thousands separators."""
        if -self.forms.least_grouped < count < self.forms.least_grouped:
            return str(count)
        return f"{count:,}".replace(",", self.forms.group)

    def percent(self, count: int) -> str:
        """Format a percentage: ``44%``."""
        return self.forms.percent.replace("#", str(count))

    def size(self, count: int) -> str:
        """Format a number of bytes: ``1.4 MB``."""
        if count < 1000:
            return str(self.ngettext("%(num)s byte", "%(num)s bytes", count))
        amount, unit = count / 1000, 0
        while amount >= 1000 and unit < len(_SIZES) - 1:
            amount, unit = amount / 1000, unit + 1
        decimal = f"{amount:.1f}".replace(".", self.forms.decimal)
        return str(self.gettext(_SIZES[unit], amount=decimal))

    def moment(self, when: datetime) -> str:
        """Format a datetime in UTC: ``20 Nov 2026, 22:18 UTC``."""
        return self.forms.moment % self._fields(when)

    def to_the_second(self, when: datetime) -> str:
        """Format a datetime in UTC with seconds: ``20 Nov 2026, 22:18:05 UTC``."""
        return self.forms.moment.replace("%(mm)s", "%(mm)s:%(ss)s") % self._fields(when)

    def day(self, when: datetime) -> str:
        """Format a date: ``5 Mar 2019``."""
        return self.forms.day % self._fields(when)

    def _fields(self, when: datetime) -> dict[str, object]:
        """Return the fields of the CLDR patterns in use (UTS #35, Date Field Symbols)."""
        return {
            "y": f"{when.year:04}",
            "M": when.month,
            "MM": f"{when.month:02}",
            "MMM": self.forms.months[when.month - 1],
            "d": when.day,
            "dd": f"{when.day:02}",
            "H": when.hour,
            "HH": f"{when.hour:02}",
            "mm": f"{when.minute:02}",
            "ss": f"{when.second:02}",
        }


@lru_cache(4096)
def _alone(texts: NullTranslations, text: str) -> Markup:
    """Translate a template's text that contains no values."""
    return _markup(texts.gettext(text), {})


def _markup(text: str, values: Mapping[str, object]) -> Markup:
    # ``text`` is a text of this program or its translation, so it is safe. Values are escaped.
    return Markup(text % {name: escape(value) for name, value in values.items()})  # noqa: S704


@cache
def wordings() -> Mapping[str, Wording]:
    """Return all languages by tag. Reads files, so it runs before the server starts."""
    return {each.tag: Wording(each, _texts(each), Forms.of(each)) for each in LANGUAGES}


def _texts(language: Language) -> NullTranslations:
    if language is ENGLISH:
        return NullTranslations()
    with (helpers.LOCALES / f"{language.locale}.po").open("rb") as file:
        catalogue = read_po(file, locale=language.locale)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return GNUTranslations(compiled)


ANSWERED: Final = marked("The server responded with {status}.")
SENTENCES: Final = {
    FailureKind.DNS: marked("The domain was not found."),
    FailureKind.REFUSED: marked("The host refused the connection."),
    FailureKind.TLS: marked("The host's certificate is not valid."),
    FailureKind.TIMEOUT: marked("The server did not respond in time."),
    FailureKind.DISCONNECTED: marked("The connection was interrupted."),
    FailureKind.PROTOCOL: marked("The server's response is not valid HTTP."),
    FailureKind.HTTP_STATUS: marked("The server responded with an error."),
    FailureKind.RESTING: marked("The server asked archiver to slow down."),
    FailureKind.TOO_LARGE: marked("The page is larger than the limit in the settings."),
    FailureKind.TOO_MANY_REDIRECTS: marked("The page redirects too many times."),
    FailureKind.BLOCKED_ADDRESS: marked(
        "This address is on a private network. To allow it, add the network, such as "
        "192.168.1.0/24, to “Private networks” in Settings."
    ),
    FailureKind.EXCLUDED: marked(
        "You have a rule never to save this site. You can change it in Settings, under “Sites”."
    ),
    FailureKind.INVALID_URL: marked("The URL is not valid."),
    FailureKind.NOT_A_PAGE: marked("The server sent no page to save."),
    FailureKind.NOT_IN_FILE: marked("The imported file does not contain this page."),
    FailureKind.WRONG_TYPE: marked(
        "The server sent a different type of file than the page expected."
    ),
    FailureKind.WALLED: marked(
        "The site showed a CAPTCHA or bot check. Open the page in your browser, save it, and "
        "upload the file."
    ),
    FailureKind.PARKED: marked("The domain is for sale; the page no longer exists."),
    FailureKind.NOT_ARCHIVED: marked("No public archive has a copy."),
    FailureKind.NOT_RESCUED: marked("The public archives could not be reached."),
    FailureKind.CANCELLED: marked("You cancelled saving this page."),
    FailureKind.LOST: marked("The stored page was lost."),
    FailureKind.INTERNAL: marked("An internal error occurred. See the log for details."),
}
SHORT: Final = {
    FailureKind.DNS: marked("domain not found"),
    FailureKind.REFUSED: marked("connection refused"),
    FailureKind.TLS: marked("invalid certificate"),
    FailureKind.TIMEOUT: marked("timed out"),
    FailureKind.DISCONNECTED: marked("connection interrupted"),
    FailureKind.PROTOCOL: marked("invalid HTTP response"),
    FailureKind.HTTP_STATUS: marked("server error"),
    FailureKind.RESTING: marked("too many requests"),
    FailureKind.TOO_LARGE: marked("too large"),
    FailureKind.TOO_MANY_REDIRECTS: marked("too many redirects"),
    FailureKind.BLOCKED_ADDRESS: marked("private network"),
    FailureKind.EXCLUDED: marked("excluded by a rule"),
    FailureKind.INVALID_URL: marked("invalid URL"),
    FailureKind.NOT_A_PAGE: marked("no page"),
    FailureKind.NOT_IN_FILE: marked("not in the file"),
    FailureKind.WRONG_TYPE: marked("wrong file type"),
    FailureKind.WALLED: marked("CAPTCHA or bot check"),
    FailureKind.PARKED: marked("domain for sale"),
    FailureKind.NOT_ARCHIVED: marked("in no public archive"),
    FailureKind.NOT_RESCUED: marked("public archives unreachable"),
    FailureKind.CANCELLED: marked("cancelled by you"),
    FailureKind.LOST: marked("stored page lost"),
    FailureKind.INTERNAL: marked("internal error"),
}
"""Short descriptions of failures for table rows; ``SENTENCES`` has the long ones."""


def why(wording: Wording, failure: Failure) -> str:
    """Return the sentence for a failure."""
    if wording.is_source:
        return failure.message
    if failure.kind is FailureKind.HTTP_STATUS and failure.status:
        return wording.text_of(Message(ANSWERED, status=str(failure.status)))
    return wording.translated(SENTENCES[failure.kind])


def why_no_feed(wording: Wording, state: FeedState) -> str:
    """Return why a feed could not be read; the English message if the reason is unknown."""
    if wording.is_source or not state.reason:
        return state.problem
    return failure_label(wording, state.reason)


def sentences(wording: Wording) -> dict[str, str]:
    """Return the sentences by failure kind, for scripts.

    They are empty for English, where the message of each failure is shown.
    """
    if wording.is_source:
        return {}
    return {kind.value: wording.translated(text) for kind, text in SENTENCES.items()}


def status_sentence(wording: Wording) -> str:
    """Return the sentence for an HTTP status, for scripts, which replace ``{status}`` in it."""
    return wording.translated(ANSWERED)


def failure_label(wording: Wording, text: str) -> str:
    """Return the label of a group of failures.

    ``text`` is the kind of the failures, followed by the HTTP status if there is one.
    """
    kind, _, status = text.partition(" ")
    if kind == NO_FEED:
        return wording.translated(marked("no feed found"))
    if status:
        return wording.text_of(Message(marked("the server responded with {status}"), status=status))
    return wording.translated(SHORT[FailureKind(kind)]) if kind in SHORT else kind
