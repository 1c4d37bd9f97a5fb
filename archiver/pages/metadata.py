"""Page metadata: title, author, dates and canonical URL.

A canonical URL is ignored if the page declares several different ones. It is also ignored if it is
the root of the site and the page itself is not.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any, Final
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.http.headers import link_values
from archiver.http.text_decoders import well_formed
from archiver.http.urls import escape_bytes, join
from archiver.model.page import PageMetadata
from archiver.pages.parsing import base_of
from archiver.pages.references import MAX_LINK_HEADER, clean_reference

MAX_LINKS: Final = 20
_LINKS: Final = "link[rel~='canonical' i][href]"


def canonical_of(tree: LexborHTMLParser, url: str) -> str:
    """Return the canonical URL of a page, absolute; empty if it is missing or equals ``url``."""
    links = tree.head.css(_LINKS)[:MAX_LINKS] if tree.head else []
    if not links:
        return ""
    return _plausible_canonical(
        [each.attributes["href"] or "" for each in links], base_of(tree, url), url
    )


def canonical_in_header(link_header: str, url: str) -> str:
    """Return the canonical URL in ``Link`` header fields; empty if there is none.

    ``<base>`` has no effect on them (RFC 8288 §3.2).

    Args:
        link_header: values of the fields, joined with commas and decoded as latin-1.
        url: the URL of the response.
    """
    links = link_values(link_header[:MAX_LINK_HEADER])
    named = [
        at for at, parameters in links if "canonical" in parameters.get("rel", "").lower().split()
    ]
    return _plausible_canonical(map(escape_bytes, named[:MAX_LINKS]), url, url)


def _plausible_canonical(references: Iterable[str], base: str, url: str) -> str:
    cleaned = filter(None, map(clean_reference, references))
    named = {join(base, each) for each in cleaned}
    canonical = named.pop() if len(named) == 1 else None
    if not canonical or canonical == url or (_is_root(canonical) and not _is_root(url)):
        return ""
    return canonical


def _is_root(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


EARLIEST: Final = 1900
LATEST: Final = 2100
MAX_DATE: Final = 80
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_MONTH = rf"(?P<month>{'|'.join(each[:3] for each in _MONTHS)})[a-z]{{0,6}}\.?"
_ISO = re.compile(
    r"(?P<date>\d{4}-\d{1,2}-\d{1,2})"
    r"(?:[T ]+(?P<time>\d{1,2}:\d{2}(?::\d{2})?)(?:[.,]\d{1,9})?\s*(?P<zone>Z|[+-]\d{2}:?\d{2})?)?",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"(?P<year>\d{4})[/.年]\s?(?P<number>\d{1,2})[/.月]\s?(?P<day>\d{1,2})日?")
_COMPACT = re.compile(r"(?P<year>\d{4})(?P<number>\d{2})(?P<day>\d{2})")
_MONTH_FIRST = re.compile(
    rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})", re.IGNORECASE
)
_DAY_FIRST = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+{_MONTH},?\s+(?P<year>\d{{4}})", re.IGNORECASE
)
_MONTH_DAY_TIME_YEAR = re.compile(
    rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})\s+\d\d:\d\d:\d\d\s+(?:[a-z]{{2,5}}\s+)?(?P<year>\d{{4}})",
    re.IGNORECASE,
)
"""Dates in mail archives: ``Mon Aug 4 10:25:49 CDT 2014`` (asctime, C99 §7.23.3.1)."""

FIRST_ONLINE: Final = 1990
"""First plausible year of publication on the web; an earlier date belongs to the page's subject."""

_LEADING = re.compile(r"(?:posted|published|written|date)\b(?:\s+on\b)?[\s:]*", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_]+")
_DATE_WORD = re.compile(
    rf"(?:{'|'.join(_MONTHS)})|(?:{'|'.join(each[:3] for each in _MONTHS)}|sept)"
    r"|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
    r"|am|pm|at|st|nd|rd|th|t|z|utc|gmt|[a-z][ds]t|c?e[sd]t|\u5e74|\u6708|\u65e5",
    re.IGNORECASE,
)


def read_dateline(lines: Iterable[str]) -> str:
    """Return the first line that contains only a date, as ISO 8601; empty if there is none."""
    for line in lines:
        words = _LEADING.sub("", line.strip(), count=1) if len(line) <= MAX_DATE else ""
        if words and all(map(_DATE_WORD.fullmatch, _WORDS.findall(words))):
            iso_date = to_iso(words)
            if iso_date and int(iso_date[:4]) >= FIRST_ONLINE:
                return iso_date
    return ""


def to_iso(text: str) -> str:
    """Convert a date, optionally with time and zone, to ISO 8601.

    Returns:
        ``2019-05-04`` or ``2019-05-04T12:30:00+02:00``. Empty if the date is invalid, before 1900,
            from 2100 on, or ambiguous (unclear order of day and month).
    """
    stripped = text.strip()[:MAX_DATE]
    if match := _ISO.match(stripped):
        return _from_iso(match)
    for pattern in (_NUMBERS, _MONTH_FIRST, _DAY_FIRST, _MONTH_DAY_TIME_YEAR):
        if match := pattern.search(stripped):
            return _from_rfc(stripped) or _from_words(match)
    compact = _COMPACT.fullmatch(stripped)
    return _from_words(compact) if compact else ""


def _from_iso(match: re.Match[str]) -> str:
    year, month, day = map(int, match["date"].split("-"))
    if not match["time"]:
        return _day(year, month, day)
    zone = (match["zone"] or "").upper().replace("Z", "+00:00")
    clock = match["time"].rjust(8 if match["time"].count(":") == 2 else 5, "0")
    try:
        moment = datetime.fromisoformat(f"{year:04}-{month:02}-{day:02}T{clock}{zone}")
    except ValueError:
        return _day(year, month, day)
    return moment.isoformat() if EARLIEST <= moment.year < LATEST else ""


def _from_rfc(text: str) -> str:
    """Parse an RFC 5322 date, as in feeds and mail."""
    if ":" not in text:
        return ""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
    return moment.isoformat() if EARLIEST <= moment.year < LATEST else ""


def _from_words(match: re.Match[str]) -> str:
    parts = match.groupdict()
    name = (parts.get("month") or "").lower()
    number = int(parts.get("number") or 0)
    if name:
        number = 1 + next(n for n, each in enumerate(_MONTHS) if each.startswith(name))
    return _day(int(parts["year"]), number, int(parts["day"]))


def _day(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat() if EARLIEST <= year < LATEST else ""
    except ValueError:
        return ""


MAX_CHARACTERS = 1000
MAX_JSON = 512 << 10
MAX_LEVELS = 60
"""Maximum nesting of JSON-LD."""
MAX_NAME = 100
MAX_AUTHORS = 10
_SPACES = re.compile(r"\s+")
_SEPARATORS = re.compile(r"\s+[|\-\u2013\u2014\u00bb\u00b7/:]\s+")
_BESIDE_HEADING = re.compile(
    r"(?:([^\n]*\S)\s*[|\-\u2013\u2014\u00bb\u00b7\u2022\u203a\u00ab/:~]\s+)?\n"
    r"(?:\s*[|\-\u2013\u2014\u00bb\u00b7\u2022\u203a\u00ab/:~]\s*([^\n]*))?"
)
"""Pattern for a title in which the heading is replaced by a line break.

The groups are the texts before and after it.
"""
_TITLES = tuple(
    "dc:title dcterms:title og:title twitter:title dc.title citation_title parsely-title".split()
)
_AUTHORS = tuple(
    "dc:creator dcterms:creator author article:author dc.creator parsely-author byl "
    "sailthru.author".split()
)
_SITES = ("og:site_name", "application-name")
_EXCERPTS = ("og:description", "description", "twitter:description", "dc.description")
_DATES = tuple(
    "article:published_time datepublished parsely-pub-date dc.date dc.date.issued "
    "citation_publication_date citation_online_date date pubdate".split()
)
_TIMES = (
    "[itemprop~='datePublished']",
    "time.dt-published, time[pubdate], time.published",
    "article time[datetime]",
    "time[datetime]",
    "#title-block-header .date, .post-date, .entry-date",
)
_ARTICLE_TYPES = re.compile(r"Article|Posting|Report|WebPage|Recipe|Review|Chapter|CreativeWork")
_WRITTEN_TYPES = re.compile(r"Article|Posting|Report|Recipe|Review|Chapter")
_ARTICLE_OBJECTS = frozenset({"article", "book"})
_JSON_START = re.compile(r"\A(?:<!\[CDATA\[|<!--|/\*.{0,40}?\*/|//[^\n]{0,80}\n)\s*+", re.DOTALL)
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,30});", re.IGNORECASE)
_MARKUP_NAMES = "b|em|i|p|span|strong|sub|sup|u"
_MARKUP = re.compile(rf"<({_MARKUP_NAMES})>.*</\1>", re.IGNORECASE | re.DOTALL)
_MARKUP_TAG = re.compile(rf"</?(?:{_MARKUP_NAMES}|br)\s*/?>", re.IGNORECASE)
_MAX_TITLES = 200
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+|[\w-]+(?:\.[\w-]+)+/\S*", re.IGNORECASE)
_TRAILING_SIGNS = re.compile(r"[\W_]+\Z")
_BY = re.compile(r"\A(?:written\s+)?by:?\s+", re.IGNORECASE)
_BEHIND_NAME = re.compile(
    r"\s*[|\u2022\u00b7@\n].*|\s+\d{1,2}[:.]\d\d.*|,?\s+[A-Z][a-z]+ \d{1,2}, \d{4}.*", re.DOTALL
)
_NAMES = (
    '[itemprop~="author"] [itemprop~="name"]',
    '[rel~="author"]',
    '[itemprop~="author"]',
    ".p-author",
    ".byline",
    ".author",
    '[class*="byline" i]',
)


@dataclass(frozen=True, slots=True)
class HeadMetadata:
    """Metadata in the head of a page, parsed once for several uses.

    Attributes:
        meta: contents of ``meta`` elements by lower-case name; the first content of each name.
        data: the first JSON-LD object that describes a page or article and has a headline or name;
            empty if there is none.
    """

    meta: dict[str, str]
    data: dict[str, Any]


def read_head_metadata(tree: LexborHTMLParser) -> HeadMetadata:
    """Parse the metadata in the head of a parsed page."""
    return HeadMetadata(_meta_of(tree), _json_ld_of(tree))


def read_metadata(
    tree: LexborHTMLParser, url: str, head: HeadMetadata | None = None
) -> PageMetadata:
    """Read the metadata of a parsed page.

    ``head`` is the metadata of its head, if the caller has parsed it already.
    """
    head = head or read_head_metadata(tree)
    meta, data = head.meta, head.data
    title = _title(tree, meta, data)
    byline = _name(data.get("author")) or _author(tree, meta) or _marked_author(tree)
    return PageMetadata(
        title=title,
        byline=_decoded(byline),
        site=_decoded(_first(meta, _SITES) or _name(data.get("publisher"))),
        excerpt=_decoded(_first(meta, _EXCERPTS) or _text(data.get("description"))),
        language=_language(tree, meta),
        published=_published(tree, meta, data),
        canonical=canonical_of(tree, url),
    )


def _title(tree: LexborHTMLParser, meta: dict[str, str], data: dict[str, Any]) -> str:
    """Return the title of a page.

    The headline in JSON-LD comes first, but it may be that of another page. It is ignored if

    - the ``title`` element and the heading agree,
    - the headline is shorter than the heading, or not in the ``title`` element, and
    - the ``meta`` fields do not state it.
    """
    heading = _heading(tree)
    whole = document_title(tree)
    shown = _document_title(tree, whole, heading)
    candidate = _first(meta, _TITLES)
    if _is_site_title(candidate, shown, heading):
        candidate = ""
    candidates = (_headline(data, shown), candidate, shown, heading)
    titles = [_as_shown(each, heading, whole) for each in candidates]
    headline = titles[0]
    is_shown = len(headline) >= len(heading) and _folded(headline) in _folded(whole)
    if shown and shown == heading and not is_shown and headline != titles[1]:
        del titles[0]
    return next((each for each in titles if each and not _ADDRESS.fullmatch(each)), "")


def _as_shown(title: str, heading: str, shown: str) -> str:
    """Return a title without double escapes, unless the page displays it with them.

    A page that displays ``&amp;`` in its heading may be an article about character references. A
    title that was escaped more than twice is decoded until it equals what the page displays.
    """
    if title in heading:
        return title
    decoded = _decoded(title)
    twice = _decoded(decoded)
    return twice if decoded not in shown and twice in (heading, shown) else decoded


def _folded(title: str) -> str:
    return _SPACES.sub("", title).casefold()


def _decoded(text: str) -> str:
    """Decode the character references and remove the tags of a text that was escaped twice."""
    decoded = _clean(unescape(text)) if _REFERENCE.search(text) else text
    return _clean(_MARKUP_TAG.sub("", decoded)) if _MARKUP.search(decoded) else decoded


def document_title(tree: LexborHTMLParser) -> str:
    """Return the text of a page's ``title``, on one line; titles inside SVG are ignored."""
    titles = (each for each in tree.css("title")[:_MAX_TITLES] if not _is_in_svg(each))
    return next((_clean(each.text() or "") for each in titles), "")


def _is_in_svg(node: LexborNode) -> bool:
    """Return whether an element is inside an ``svg`` element."""
    above = node.parent
    while above is not None:
        if above.tag == "svg":
            return True
        above = above.parent
    return False


def _is_site_title(candidate: str, title: str, heading: str) -> bool:
    """Return whether a title in ``meta`` fields is that of the site instead of the page.

    Some site generators state the same title on all pages. Then the ``title`` element begins with
    the heading of the page and does not contain the stated title.

    Args:
        candidate: title in the ``meta`` fields.
        title: text of the ``title`` element.
        heading: text of the first ``h1`` element.
    """
    heading = _TRAILING_SIGNS.sub("", heading)
    is_another = candidate.casefold() not in title.casefold() and heading not in candidate
    return bool(candidate and heading) and is_another and title.startswith(heading)


def declares_article(tree: LexborHTMLParser) -> bool:
    """Return whether a parsed page declares that it is a single article."""
    meta = _meta_of(tree)
    if meta.get("og:type", "").lower() in _ARTICLE_OBJECTS:
        return True
    data = _json_ld_of(tree)
    if _WRITTEN_TYPES.search(str(data.get("@type", ""))[:200]):
        return True
    return len(tree.css("article")[:2]) == 1


def _meta_of(tree: LexborHTMLParser) -> dict[str, str]:
    values: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        value = _clean(attributes.get("content") or "")
        for key in ("property", "name", "itemprop", "http-equiv"):
            for name in (attributes.get(key) or "").lower().split():
                if value:
                    values.setdefault(name, value)
    return values


def _json_ld_of(tree: LexborHTMLParser) -> dict[str, Any]:
    """Return the first article in JSON-LD whose headline is in the page's title, or the first."""
    objects = []
    for node in tree.css('script[type="application/ld+json"]'):
        for each in objects_in(parse_json_ld(node.text() or "")):
            kind = each.get("@type")
            if kind and _ARTICLE_TYPES.search(str(kind)[:200]) and _headline(each):
                objects.append(each)
    if len(objects) > 1:
        title = _folded(document_title(tree))
        same_title = (each for each in objects if _folded(_decoded(_headline(each))) in title)
        return next(same_title, objects[0])
    return objects[0] if objects else {}


def parse_json_ld(text: str) -> Any:
    """Parse JSON in a script; None if it is malformed, too long or nested too deep."""
    if len(text) > MAX_JSON:
        return None
    try:
        parsed = json.loads(_without_wrapper(text), strict=False)
    except (ValueError, RecursionError):
        return None
    return parsed if _is_shallow(parsed) else None


def _without_wrapper(text: str) -> str:
    """Remove a comment or CDATA section around JSON."""
    text = _JSON_START.sub("", text.strip(), count=1).rstrip()
    for end in ("-->", "*/", "]]>", "//", "/*"):
        text = text.removesuffix(end).rstrip()
    return text


def _is_shallow(parsed: Any) -> bool:
    """Return whether the nesting is shallow enough for recursive functions."""
    level = [parsed]
    for _ in range(MAX_LEVELS):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return True
    return False


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def objects_in(parsed: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects of parsed JSON-LD: the outermost objects, and those in ``@graph``."""
    if isinstance(parsed, dict):
        yield parsed
        parsed = parsed.get("@graph")
    if isinstance(parsed, list):
        yield from (each for each in parsed if isinstance(each, dict))


def _document_title(tree: LexborHTMLParser, title: str, heading: str) -> str:
    """Return the page's title, or only the part of it that equals the first heading.

    The other parts are usually the site's name.
    """
    if not title:
        return heading
    parts = _SEPARATORS.split(title)
    if heading in parts and heading == parts[0]:
        return heading
    around = _BESIDE_HEADING.fullmatch(title.replace(heading, "\n", 1)) if heading else None
    is_longest = around is not None and len(heading) >= max(map(len, around.groups("")))
    # The first of several headings is often the site's name.
    return heading if is_longest and len(tree.css("h1")[:2]) == 1 else title


def _heading(tree: LexborHTMLParser) -> str:
    """Return the text of the first ``h1``, without text in icons and scripts."""
    element = tree.css_first("h1")
    if element is None:
        return ""
    unseen = {each.mem_id for each in element.css("svg *, script, style")}
    texts = (
        each.text_content or ""
        for each in element.traverse(include_text=True)
        if each.is_text_node and (each.parent is None or each.parent.mem_id not in unseen)
    )
    return _clean("".join(texts))


def _headline(data: dict[str, Any], title: str = "") -> str:
    """Return the JSON-LD headline, or the JSON-LD name if there is no headline.

    If the displayed title (``title``) contains the name and not the headline, return the name.
    """
    headline, name = _text(data.get("headline")), _text(data.get("name"))
    return name if name and name in title and headline not in title else headline or name


def _published(tree: LexborHTMLParser, meta: dict[str, str], data: dict[str, Any]) -> str:
    """Return the publication date as ISO 8601: the first valid one that the page states."""
    dates = [_text(data.get("datePublished"))]
    dates += [meta[name] for name in _DATES if name in meta]
    return next(filter(None, map(to_iso, dates)), "") or to_iso(_time(tree))


def _author(tree: LexborHTMLParser, meta: dict[str, str]) -> str:
    """Return all authors in the first ``meta`` field for authors; empty if it is a URL."""
    name = next((each for each in _AUTHORS if each in meta), "")
    if not name or meta[name].startswith(("http://", "https://")):
        return ""
    nodes = tree.css(f'meta[name="{name}" i], meta[property="{name}" i]')[:MAX_AUTHORS]
    names = [node.attributes.get("content") or "" for node in nodes]
    names = [_person(each) for each in names if not each.startswith(("http://", "https://"))]
    authors = [*dict.fromkeys(filter(None, names))] or [_person(meta[name])]
    between = "; " if any("," in each for each in authors) else ", "
    return between.join(authors)[:MAX_CHARACTERS]


def _marked_author(tree: LexborHTMLParser) -> str:
    is_any = tree.css_first(", ".join(_NAMES)) is not None
    for selector in _NAMES if is_any else ():
        for element in tree.css(selector)[:3]:
            name = _person(element.text() or "")
            if 0 < len(name) <= MAX_NAME:
                return name
    return ""


def _person(text: str) -> str:
    """Return a person's name without the words around it in a byline."""
    first = _BY.sub("", text.strip()[:MAX_CHARACTERS])
    return _clean(_BEHIND_NAME.sub("", first))


def _language(tree: LexborHTMLParser, meta: dict[str, str]) -> str:
    root = tree.css_first("html")
    language = (
        (root.attributes.get("lang") or root.attributes.get("xml:lang") or "") if root else ""
    )
    candidate = language or meta.get("content-language") or meta.get("og:locale") or ""
    return candidate.strip()[:35].replace("_", "-")


def _time(tree: LexborHTMLParser) -> str:
    is_any = tree.css_first(", ".join(_TIMES)) is not None
    for selector in _TIMES if is_any else ():
        element = tree.css_first(selector)
        if element:
            return _clean(element.attributes.get("datetime") or element.text() or "")
    return ""


def _first(meta: dict[str, str], names: tuple[str, ...]) -> str:
    return next((meta[name] for name in names if name in meta), "")


def _name(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_name, value[:10])))[:MAX_CHARACTERS]
    return _text(value.get("name")) if isinstance(value, dict) else _text(value)


def _text(value: Any) -> str:
    return _clean(value) if isinstance(value, str) else ""


def _clean(text: str) -> str:
    return well_formed(_SPACES.sub(" ", text).strip()[:MAX_CHARACTERS])
