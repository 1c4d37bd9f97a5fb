"""Fields of the search language."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from archiver.model.entry_list import tidy_path
from archiver.model.failure import FailureKind
from archiver.model.listing import Kind
from archiver.model.message import Message, marked
from archiver.search.query_dates import read_dates
from archiver.search.query_tree import Column, Condition, IsValue, Numbers, Value

_NUMBERS = re.compile(r"([<>]=?)?(\d{1,9})|(\d{0,9})\.\.(\d{0,9})", re.ASCII)
_FRACTION = r"(?:0(?:\.\d{1,2})?|1(?:\.00?)?)"
_WHOLE = 100
_FRACTION_RANGE = re.compile(rf"([<>]=?)?({_FRACTION})|({_FRACTION})?\.\.({_FRACTION})?", re.ASCII)
_STATES = ("saved", "failed", "queued", "link")
_STATUS = re.compile(r"[1-5](?:\d\d|xx)", re.ASCII)
_HTTP_STATUS = re.compile(r"[1-5]\d\d", re.ASCII)
_REASONS = frozenset(FailureKind)
_LANGUAGE = re.compile(r"[a-z]{2,8}(?:-[a-z0-9]{1,8})*", re.ASCII)
_SITE = re.compile(r"[^\s/@?#]{1,253}")


@dataclass(frozen=True, slots=True)
class Field:
    """Field of the search language: ``name:value``.

    Attributes:
        name: column or condition that the field searches.
        accepted: short description of the accepted values.
        example: an example query.
        means: what the field matches; a sentence without the full stop.
        read: parser of the value, which raises ValueError; None for fields that take words.
        values: the accepted values, if they can be listed.
    """

    name: Column | Condition
    accepted: str
    example: str
    means: str
    read: Callable[[str], Value] | None = None
    values: tuple[str, ...] = ()


def _site(text: str) -> str:
    site = re.sub(r"^[a-z]+://|^\*?\.|/.*$", "", text.lower())
    if not _SITE.fullmatch(site):
        raise ValueError("not a host name")
    return site


def _one_of(*values: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.lower() not in values:
            raise ValueError(f"not one of {values}")
        return text.lower()

    return read


def _status(text: str) -> str:
    text = text.lower()
    if text not in _STATES and not _STATUS.fullmatch(text):
        raise ValueError("not a state or HTTP status")
    return text


def _failure(text: str) -> str:
    """Parse a failure kind, an HTTP status, or both (``http 404``)."""
    text = text.lower()
    kind, _, status = text.rpartition(" ") if text[-1:].isdecimal() else (text, "", "")
    if (kind and kind not in _REASONS) or (status and not _HTTP_STATUS.fullmatch(status)):
        raise ValueError("not a failure kind or HTTP status")
    return text


def _language(text: str) -> str:
    text = text.lower().replace("_", "-")
    if not _LANGUAGE.fullmatch(text):
        raise ValueError("not a language tag")
    return text


def _numbers(text: str) -> Numbers:
    match = _NUMBERS.fullmatch(text)
    if not match or text == "..":
        raise ValueError("not a number or range")
    sign, number, least, most = match.groups()
    if number is None:
        return Numbers(int(least) if least else None, int(most) if most else None)
    return Numbers(*_bounds_of(sign, int(number)))


def _percent(text: str) -> Numbers:
    """Parse a range of percentages, or of fractions if a number has a decimal point (0.5)."""
    if "." not in text.replace("..", " "):
        numbers = _numbers(text.replace("%", ""))
        if max(numbers.least or 0, numbers.most or 0) > _WHOLE:
            raise ValueError("more than 100 percent")
        return numbers
    shares = _FRACTION_RANGE.fullmatch(text)
    if not shares:
        raise ValueError("not a fraction")
    sign, number, least, most = shares.groups()
    if number is None:
        return Numbers(_to_percent(least), _to_percent(most))
    return Numbers(*_bounds_of(sign, round(100 * float(number))))


def _to_percent(share: str | None) -> int | None:
    return round(100 * float(share)) if share else None


def _bounds_of(sign: str | None, value: int) -> tuple[int | None, int | None]:
    """Return the inclusive range of whole numbers for a comparison operator and a number."""
    bounds: Mapping[str, tuple[int | None, int | None]] = {
        ">": (value + 1, None),
        ">=": (value, None),
        "<": (None, value - 1),
        "<=": (None, value),
    }
    return bounds[sign] if sign else (value, value)


def _list(text: str) -> str:
    path = tidy_path(text)
    if not path:
        raise ValueError("the path is empty")
    is_outer = text.rstrip().endswith("/") and not text.rstrip().endswith("\\/")
    return f"{path}/" if is_outer else path


def _name(text: str) -> str:
    return text


_IS_VALUES = tuple(IsValue)
_KINDS = tuple(Kind)
FIELDS: tuple[Field, ...] = (
    Field(
        Column.TITLE,
        marked("words"),
        'title:"field notes"',
        marked("pages with these words in the title"),
    ),
    Field(
        Column.URL,
        marked("words"),
        "url:blog/2019",
        marked("pages with these words in the URL"),
    ),
    Field(
        Condition.SITE,
        marked("a host"),
        "site:example.org",
        marked("pages of a site and its subdomains, such as www.example.org"),
        _site,
    ),
    Field(Condition.TAG, marked("a tag"), 'tag:"to read"', marked("pages with this tag"), _name),
    Field(
        Condition.LIST,
        marked("a list"),
        "list:Recipes/Soups",
        marked("entries in this list, in list order; list:Recipes/ also includes nested lists"),
        _list,
    ),
    Field(
        Column.NOTE,
        marked("words"),
        "note:recipe",
        marked("pages with these words in your note or highlights"),
    ),
    Field(Column.AUTHOR, marked("words"), 'by:"Ursula Franklin"', marked("pages by this author")),
    Field(
        Condition.LANG,
        marked("a language"),
        "lang:pt",
        marked("pages in this language; pt also finds pt-BR"),
        _language,
    ),
    Field(
        Condition.TYPE,
        f"one of {', '.join(_KINDS)}",
        "type:pdf",
        marked("kind: article (has text to read), page (has little text)"),
        _one_of(*_KINDS),
        _KINDS,
    ),
    Field(
        Condition.IS,
        f"one of {', '.join(_IS_VALUES)}",
        "is:gap",
        marked("state: gap (missing files), gone (404 or 410), unrendered (needs JavaScript)"),
        _one_of(*_IS_VALUES),
        _IS_VALUES,
    ),
    Field(
        Condition.STATUS,
        marked("saved, failed, queued, link, 404 or 4xx"),
        "status:4xx",
        marked("the state, or the HTTP status of the newest snapshot"),
        _status,
    ),
    Field(
        Condition.FAILED,
        marked("a reason such as timeout, dns or refused, or an HTTP status"),
        "failed:timeout",
        marked("failed pages, by reason"),
        _failure,
    ),
    Field(
        Condition.ADDED,
        marked("a date"),
        "added:2019-03..2020",
        marked("date saved"),
        read_dates,
    ),
    Field(
        Condition.CAPTURED,
        marked("a date"),
        "captured:<7d",
        marked("date of the newest snapshot"),
        read_dates,
    ),
    Field(
        Condition.PUBLISHED,
        marked("a date"),
        "published:>2015",
        marked("publication date of the page"),
        read_dates,
    ),
    Field(
        Condition.CHANGED,
        marked("a number"),
        "changed:>20",
        marked("percentage of the article's words that changed since the previous snapshot"),
        _numbers,
    ),
    Field(
        Condition.WORDS,
        marked("a number"),
        "words:>2000",
        marked("number of words in the article"),
        _numbers,
    ),
    Field(
        Condition.SCORE,
        marked("a number from 0 to 100"),
        "score:<50",
        marked("capture quality of the newest snapshot, in percent; 0.5 also means 50%"),
        _percent,
    ),
    Field(
        Condition.IMPORT,
        marked("a number or a file name"),
        "import:bookmarks.html",
        marked("entries of an import, by its number or file name"),
        _name,
    ),
    Field(
        Condition.FEED,
        marked("the URL of a feed, or its beginning"),
        "feed:blog.example.org",
        marked("entries from a feed that you follow"),
        _name,
    ),
)
BY_NAME: Mapping[str, Field] = {field.name.value: field for field in FIELDS}


def _mark_named(text: str) -> str:
    """Parse a value of ``has:``: a mark, or the nouns ``gaps`` and ``highlights``."""
    return _one_of(*_IS_VALUES)(
        {"gaps": "gap", "highlights": "highlighted"}.get(text.lower(), text)
    )


ALIASES: Mapping[str, Field] = {
    "host": BY_NAME["site"],
    "author": BY_NAME["by"],
    "kind": BY_NAME["type"],
    "date": BY_NAME["added"],
    "state": BY_NAME["status"],
    "before": replace(BY_NAME["added"], read=lambda text: read_dates(f"<{text}")),
    "after": replace(BY_NAME["added"], read=lambda text: read_dates(f">{text}")),
    "has": replace(BY_NAME["is"], read=_mark_named),
}
"""Fields by names that people know from other programs."""
DATES = marked(
    "2019, 2019-03, 2019-03-05, 2019..2021, >2019, <2019; >7d (older than 7 days), <2w (the last "
    "two weeks); units d, w, m, y"
)
"""Help text on how to write dates."""


@dataclass(frozen=True, slots=True)
class Operator:
    """Operator of the search language, with an example and its meaning."""

    example: str
    means: str


OPERATORS: tuple[Operator, ...] = (
    Operator("red kite", marked("both words; case, accents and word endings do not matter")),
    Operator('"red kite"', marked("the phrase")),
    Operator("kite -paper", marked("the first word without the second")),
    Operator(
        "kite OR heron",
        marked("either word (OR in capitals); red kite OR heron means red (kite OR heron)"),
    ),
    Operator("bird (kite OR -paper)", marked("brackets group conditions")),
    Operator("orni*", marked("words that start with this")),
)


def accepted_values(field: Field) -> Message:
    """Return a short description of the values that a field accepts."""
    if field.values:
        return Message("one of {values}", values=", ".join(field.values))
    return Message(field.accepted)


def describe_values(field: Field) -> Message:
    """Return a description of the accepted values for an error message, with the date formats."""
    if field.read is read_dates:
        return Message("a date ({dates})", dates=Message(DATES))
    return accepted_values(field)
