"""Leads the media of a sanitised article, and its links to what is kept, into the archive."""

import re
from collections.abc import Callable, Collection, Mapping
from functools import partial
from html import escape, unescape
from urllib.parse import unquote

from archiver.model.capture import Timestamp
from archiver.references.srcset import read_candidates
from archiver.rewrite.address import Modifier, PathWriter, ReplayAddress, plain_path
from archiver.rewrite.values import rewrite_srcset

LONGEST_NAME = 100
"""Characters of a file's name that are shown for a picture."""
_TAG = re.compile(r'<(?:img|source|video|audio)(?:[^<>"]|"[^"]*")*>')
_HEADING = re.compile(
    r"(?:<(?:div|article|section|main|header)[^<>]*>\s*)*"
    r"(?P<dated><(?P<line>p|time|div)[^<>]*>[^<>]{1,60}</(?P=line)>\s*)?"
    r"(?:<(?:div|article|section|main|header)[^<>]*>\s*)*"
    r"(?P<heading><h[12](?:[^<>]*)>(?P<words>.{0,400}?)</h[12]>)",
    re.DOTALL,
)
_PERMALINK = re.compile(r'<a\b[^<>]* class="permalink"[^<>]*>[^<>]*</a>')
_EMPTY_HEAD = re.compile(r"<header[^<>]*>\s*</header>\s*")
_LEVEL = re.compile(r"(</?h)([2-6])(?=[\s>])")
_LINK = re.compile(
    r'<a(?P<before>(?:\s[a-z]+="[^"]*")*?)\shref="(?P<url>[^"]*)"(?P<after>(?:\s[a-z]+="[^"]*")*)>'
)
_HELD = re.compile(r'(?P<link> class="held" href="[^"]*" title=")(?P<url>[^"]*)')
_REL = re.compile(r'\s(?:rel|class|title)="[^"]*"')
_ANY_TAG = re.compile(r"<[^<>]*>")
_WIDE = re.compile(r"<(pre|table|div(?= class=\"vertical-))(?=[\s>])")
_FORMULA = re.compile(r"<math(?=[^<>]* display=\"block\").*?</math>", re.DOTALL)
_SIGN = re.compile(r"<m(?:i|o|n|text|s)[\s>]")
_NARROW = 14
"""So many signs of a formula stand beside each other on any screen."""
_UNNAMED = re.compile(r'<img(?!(?:[^<>"]|"[^"]*")*\salt=)(?P<rest>(?:[^<>"]|"[^"]*")*>)')
_IMAGE = re.compile(r'<img(?=\s)(?:[^<>"]|"[^"]*")*>')
_IMAGE_OR_SOURCE = re.compile(r'<(?:img|source)(?=\s)(?:[^<>"]|"[^"]*")*>')
_PICTURE = re.compile(rf"<picture>(?:(?!</?picture).)*</picture>|{_IMAGE.pattern}", re.DOTALL)
_SET = re.compile(r'\ssrcset="([^"]*)"')
_NAME = re.compile(r'\salt="([^"]*)"')
_SOURCE = re.compile(r'\ssrc="([^"]*)"')
_ATTRIBUTE = re.compile(r'(\s(src|srcset|poster)=)"([^"]*)"')


def links_of(html: str, most: int) -> list[str]:
    """The addresses on the web that a sanitised article links to, each once, without fragments."""
    found: dict[str, None] = {}
    for link in _LINK.finditer(html):
        url = unescape(link["url"]).partition("#")[0]
        if url.startswith(("http://", "https://")):
            found[url] = None
        if len(found) >= most:
            break
    return [*found]


def lead_to_entries(html: str, held: Mapping[str, str]) -> str:
    """Lead links to what the archive holds to its entries, and mark them.

    Args:
        html: as ``html.sanitise`` gives it.
        held: hash_urls by address, without fragment.
    """

    def lead(link: re.Match[str]) -> str:
        url, mark, fragment = unescape(link["url"]).partition("#")
        key = held.get(url)
        if key is None:
            return link[0]
        address = f"/{key}/{mark}{'a-' if fragment else ''}{escape(fragment)}"
        rest = _REL.sub("", link["before"] + link["after"])
        return f'<a{rest} class="held" href="{address}" title="{escape(url)}">'

    return _LINK.sub(lead, html) if held else html


def say_kept(html: str, title: Callable[[str], str]) -> str:
    """Say of the links that ``lead_to_entries`` led to entries that their page is kept here.

    Args:
        html: what that gave.
        title: what says so of an address, in the language of the page.
    """
    return _HELD.sub(lambda link: link["link"] + escape(title(unescape(link["url"]))), html)


def let_wide_scroll(html: str) -> str:
    """Let whoever has no mouse come to code, tables, vertical text and long formulas.

    They may be wider than the page. What is around a formula is come to, not the formula: checkers
    of HTML know no ``tabindex`` of MathML.

    Args:
        html: as ``html.sanitise`` gives it: ``<`` begins tags only.
    """
    found = _WIDE.sub(r'<\1 tabindex="0"', html)
    return _FORMULA.sub(_let_formula_scroll, found)


def _let_formula_scroll(formula: re.Match[str]) -> str:
    if len(_SIGN.findall(formula[0])) <= _NARROW:
        return formula[0]
    return f'<span class="formula" tabindex="0">{formula[0]}</span>'


def archive_images(html: str, timestamp: Timestamp, *, write: PathWriter = plain_path) -> str:
    """Rewrite what images, films and recordings are loaded from; links stay as they are.

    What an image holds itself, as ``data:``, stays, too.

    Args:
        html: as ``html.sanitise`` gives it: attributes in double quotes, URLs absolute.
        timestamp: of the snapshot the article is of.
        write: writes where an image is asked for.
    """

    def lead(url: str) -> str:
        if not url.startswith(("http://", "https://")):
            return ""
        return write(ReplayAddress(timestamp, Modifier.IMAGE, url))

    def attribute(found: re.Match[str]) -> str:
        value = unescape(found[3])
        if found[2] == "src" and value.startswith("data:image/"):
            return found[0]
        led = rewrite_srcset(value, lead) if found[2] == "srcset" else lead(value)
        return f'{found[1]}"{escape(led)}"'

    return _TAG.sub(lambda tag: _ATTRIBUTE.sub(attribute, tag[0]), html)


def replace_lost_images(html: str, lost: Collection[str], words_for: Callable[[str], str]) -> str:
    """Put words in the place of images that the archive does not have: nothing asks for them.

    They stand in no text, so that the places of marks in it are what they were. Of an image that
    there is in some sizes, those stay.

    Args:
        html: as ``name_images`` gives it.
        lost: addresses of what could not be had.
        words_for: says so of an image, given what its text is, in the language of the page.
    """
    replace = partial(_what_is_had, lost=lost, words_for=words_for)
    return _PICTURE.sub(replace, html) if lost else html


def _what_is_had(
    found: re.Match[str], lost: Collection[str], words_for: Callable[[str], str]
) -> str:
    """A ``picture``, or an image that stands alone, without what was lost."""
    held = _IMAGE_OR_SOURCE.sub(partial(_with_what_is_had, lost=lost), found[0])
    image = _IMAGE.search(held)
    if image is None or held == found[0] or _SOURCE.search(image[0]):
        return held
    spare = _SET.search(image[0]) or _SET.search(held)
    if spare:
        url = read_candidates(unescape(spare[1]))[0][0]
        return held.replace("<img", f'<img src="{escape(url)}"', 1)
    name = _NAME.search(image[0])
    text = escape(words_for(unescape(name[1]) if name else ""))
    return f'<span class="lost" role="img" aria-label="{text}"></span>'


def _with_what_is_had(tag: re.Match[str], lost: Collection[str]) -> str:
    """An image or a source without the addresses that were lost; no source that had no other."""

    def is_lost(url: str) -> bool:
        return url.partition("#")[0] in lost

    def attribute(found: re.Match[str]) -> str:
        held = [
            (url, size) for url, size in read_candidates(unescape(found[1])) if not is_lost(url)
        ]
        srcset = ", ".join(f"{url} {size}".strip() for url, size in held)
        return f' srcset="{escape(srcset)}"' if held else ""

    written = _SET.sub(attribute, tag[0])
    source = _SOURCE.search(written)
    if source and is_lost(unescape(source[1])):
        written = written.replace(source[0], "", 1)
    has_any = _SET.search(written) or _SOURCE.search(written)
    return "" if tag[0].startswith("<source") and not has_any else written


def name_images(html: str) -> str:
    """Let an image that says nothing of itself be told by the name of its file.

    Whoever hears the page hears at least that, and a link that holds nothing else has a name
    (HTML §4.8.4.4, WCAG 2.2 §1.1.1).

    Args:
        html: as ``html.sanitise`` gives it, its URLs those of the web.
    """
    return _UNNAMED.sub(lambda tag: f'<img alt="{_file_name(tag[0])}"{tag["rest"]}', html)


def _file_name(tag: str) -> str:
    source = _SOURCE.search(tag)
    url = unescape(source[1]).partition("?")[0] if source else ""
    if url.startswith("data:"):
        return ""
    name = unquote(url.rpartition("/")[2])[:LONGEST_NAME]
    return escape("".join(each for each in name if each.isprintable()))


def without_title(html: str, title: str) -> str:
    """An article without a first heading that only repeats the page's title.

    A line may stand before it, of when it was. What it headed is headed by the title then: other
    headings go up to its level. A head that held nothing else goes with it. A heading that says
    nothing in words, as a picture, stays.
    """
    found = _HEADING.match(html)
    said = _ANY_TAG.sub("", _PERMALINK.sub("", found["words"])) if found else ""
    words = " ".join(unescape(said).split())
    if (
        found
        and words
        and _is_in(title, words)
        and (not found["dated"] or 2 * len(words) > len(title))
    ):
        left = html[: found.start("heading")] + html[found.end("heading") :]
        return _raised(_EMPTY_HEAD.sub("", left, count=1))
    return html


def _is_in(title: str, words: str) -> bool:
    """Whether a title has these words, and not as pieces of others: no I in *In the wood*."""
    return any(
        not (
            _is_one_word(title[max(at - 1, 0) : at] + words[0])
            or _is_one_word(words[-1] + title[end : end + 1])
        )
        for at, end in (each.span() for each in re.finditer(re.escape(words), title))
    )


def _is_one_word(pair: str) -> bool:
    return len(pair) > 1 and all(each.isdecimal() or each.lower() != each.upper() for each in pair)


def _raised(html: str) -> str:
    """An article whose first heading is of the second level; none is of a higher one than it."""
    levels = [int(each[2]) for each in _LEVEL.finditer(html)]
    up = min(levels, default=2) - 2
    if up <= 0:
        return html
    return _LEVEL.sub(lambda tag: f"{tag[1]}{int(tag[2]) - up}", html)
