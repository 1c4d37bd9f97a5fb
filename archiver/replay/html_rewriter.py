"""Streaming rewriter of HTML and XML.

The rewriter tokenizes a document as a browser does (HTML §13.2.5), and changes start tags and style
sheets: references lead to the archive, and scripts, event handlers and plug-ins are disabled. All
other characters are copied. Between two calls of ``feed``, the rewriter holds back at most one tag
of limited length.
"""

import re
from collections.abc import Callable
from typing import Final

from archiver.http.data_urls import read_data_url, write_data_url
from archiver.http.text_decoders import Encoding
from archiver.pages.css_references import CssReferences, end_of, rewrite_css
from archiver.pages.references import (
    HTML_AGAIN,
    MAX_NESTED_DOCUMENTS,
    ROOTS,
    Use,
    element_kind,
    kind_inside,
)
from archiver.replay.start_tags import StartTag, Tags, closes_itself
from archiver.replay.tag_syntax import (
    NAME,
    PLAIN,
    RAW_TEXT,
    TAG,
    TO_LOWER,
    BytesText,
    PartialTag,
    ScriptEnd,
    decode_references,
    encode_references,
    text_end,
    waiting_from,
)
from archiver.replay.url_rewriter import BLOCKED, UrlRewriter

_HTML_TYPE = "text/html"
_STYLE = re.compile(r"<\?xml-stylesheet[\t\n\r ]")
_HREF = re.compile(r"""([\t\n\r ]href[\t\n\r ]*+=[\t\n\r ]*+)("[^"]*+"|'[^']*+')""")


def rewrite_instruction(source: str, links: UrlRewriter, raw: BytesText) -> str:
    """Rewrite the reference in a processing instruction, which extends from ``<?`` to ``?>``.

    Only ``xml-stylesheet`` has one; other instructions stay the same.
    """

    def rewrite(match: re.Match[str]) -> str:
        quote, reference = match[2][0], raw.to_text(match[2][1:-1])
        rewritten = links.rewrite(decode_references(reference), Use.STYLE)
        if rewritten is None:
            return match[0]
        return f"{match[1]}{quote}{encode_references(rewritten, quote, xml=True)}{quote}"

    return _HREF.sub(rewrite, source) if _STYLE.match(source) else source


_Step = Callable[[int], int | None]
_PIECE = 64 << 10
_TAG_START = re.compile(r"</?[a-zA-Z]")
_ENDS = {end: re.compile(re.escape(end)) for end in (">", "]]>", "?>")}
_ENDS["-->"] = re.compile("--!?>")
_AFTER_IMAGE = re.compile(r"(?>(?:[\t\n\f\r ]++|</picture>)*)", re.IGNORECASE | re.ASCII)
_FALLBACKS = ("<noscript", "</picture>")


class HtmlRewriter:
    """Rewriter of one document; its output does not depend on the size of the pieces it is fed.

    Args:
        links: rewriter of the document's references; ``<base>`` changes its base URL.
        encoding: the document's encoding if ``feed`` gets its bytes, decoded as latin-1; it must be
            a superset of ASCII. None if ``feed`` gets decoded text.
        xml: the document is XML (XHTML, SVG).
        depth: nesting level of documents in ``srcdoc``.
    """

    _plain = PLAIN
    """Pattern of markup that can be copied without examining each tag."""

    def __init__(
        self,
        links: UrlRewriter,
        *,
        encoding: Encoding | None = None,
        xml: bool = False,
        depth: int = 0,
    ) -> None:
        self._links = links
        self._raw = BytesText(encoding)
        self._xml = xml
        self._depth = depth
        nested = self._rewrite_nested if depth < MAX_NESTED_DOCUMENTS else None
        self._tags = Tags(links, self._raw, nested, xml=xml)
        self._foreign = Foreign(xml=xml)
        self._text = ""
        self._out: list[str] = []
        self._final = False
        self._partial: PartialTag | None = None
        self._until = ">"
        self._raw_name = ""
        self._script = ScriptEnd()
        self._sheet: CssReferences | None = None
        self._in_section = False
        self._hides_next = False
        self._step: _Step = self._data
        """State of the tokenizer: the method that processes the input from an offset on.

        It returns the offset of the rest, or None if it needs more input.
        """

    def feed(self, markup: str) -> str:
        """Accept more markup; return the output that is ready."""
        for start in range(0, len(markup), _PIECE):
            self._feed(markup[start : start + _PIECE])
        return self._ready()

    def close(self) -> str:
        """Process the end of the document; an incomplete tag is copied (HTML §13.2.5)."""
        self._final = True
        self._feed("")
        self._out.append(self._partial.source() if self._partial else self._text)
        self._text = ""
        self._close_sheet()
        return self._ready()

    @property
    def is_in_svg(self) -> bool:
        """Return whether exactly one foreign element is open, and no tag is incomplete."""
        is_complete = not self._text and self._partial is None and self._step == self._data
        return is_complete and self._foreign.depth == 1

    def _ready(self) -> str:
        ready = "".join(self._out)
        self._out.clear()
        return ready

    def _feed(self, piece: str) -> None:
        self._text += piece
        pos = 0
        while pos < len(self._text):
            partial = self._partial
            after = self._tag_rest(partial, pos) if partial else self._step(pos)
            if after is None:
                break
            pos = after
        self._text = self._text[pos:]

    def _copy(self, start: int, end: int) -> int:
        if end > start:
            self._out.append(self._text[start:end])
        return end

    def _data(self, pos: int) -> int | None:
        if self._tags.promoted:
            return self._after_image(pos)
        if self._foreign.near:
            end = self._text.find("<", pos)
            if end != pos:
                return self._characters(pos, end if end > 0 else len(self._text))
        else:
            end = end_of(self._plain, self._text, pos)
            if end > pos:
                return self._copy(pos, end)
        return self._markup(pos)

    def _after_image(self, pos: int) -> int | None:
        """Detect a ``noscript`` that would show an image a second time.

        It follows an image for which the rewriter has set the lazy-loaded source.
        """
        end = end_of(_AFTER_IMAGE, self._text, pos)
        if end > pos:
            return self._copy(pos, end)
        following = self._text[pos : pos + len(_FALLBACKS[-1])].lower()
        is_cut = any(mark.startswith(following) and mark != following for mark in _FALLBACKS)
        if is_cut and not self._final:
            return None
        self._tags.promoted = False
        self._hides_next = following.startswith(_FALLBACKS[0])
        return pos

    def _characters(self, start: int, end: int) -> int:
        if self._sheet is None:
            return self._copy(start, end)
        self._out.append(self._sheet.feed(self._text[start:end]))
        return end

    def _markup(self, pos: int) -> int | None:
        """Process text that starts with ``<``."""
        if self._sheet is not None:
            self._close_sheet()
            self._sheet = self._foreign_sheet()
        text = self._text
        if _TAG_START.match(text, pos):
            return self._tag(pos)
        following = text[pos + 1 : pos + 2]
        if not following or (following == "/" and pos + 2 == len(text)):
            return self._characters(pos, len(text)) if self._final else None
        if following == "!":
            return self._declaration(pos)
        if following == "?" and self._xml:
            self._step = self._instruction
            return pos
        return self._bogus_comment(following, pos)

    def _bogus_comment(self, following: str, pos: int) -> int:
        """Process ``<`` before a character that starts no tag.

        Before ``/`` or ``?``, it starts a comment up to the next ``>``; otherwise it is text.
        """
        if following not in "/?":
            return self._characters(pos, pos + 1)
        if self._text.startswith("</>", pos):
            return self._copy(pos, pos + 3)
        return self._skip_to(">", pos, pos + 2)

    def _declaration(self, pos: int) -> int | None:
        """Process a comment, a CDATA section, or a declaration that is read as a comment."""
        text = self._text
        marks = ("<!--", "<![CDATA[") if self._foreign.inside else ("<!--",)
        for mark in marks:
            start_mark = text[pos : pos + len(mark)]
            if start_mark == mark and mark == "<!--":
                return self._comment(pos)
            if start_mark == mark:
                self._in_section = True
                return self._skip_to("]]>", pos, pos + len(mark))
            if mark.startswith(start_mark) and not self._final:
                return None
        return self._skip_to(">", pos, pos + 2)

    def _comment(self, pos: int) -> int | None:
        """Process a comment; ``<!-->`` and ``<!--->`` are complete comments (HTML §13.2.5.43)."""
        behind = self._text[pos + 4 : pos + 6]
        if behind.startswith(">") or behind == "->":
            return self._copy(pos, pos + 4 + behind.index(">") + 1)
        if behind in ("", "-") and not self._final:
            return None
        return self._skip_to("-->", pos, pos + 4)

    def _skip_to(self, end: str, start: int, pos: int) -> int:
        self._step = self._skip_rest
        self._until = end
        return self._copy(start, pos)

    def _skip_rest(self, pos: int) -> int | None:
        match = _ENDS[self._until].search(self._text, pos)
        end = match.end() if match else len(self._text)
        if match:
            self._step = self._data
        elif not self._final:
            end = max(pos, end - len(self._until))
        if not self._in_section or self._sheet is None:
            self._copy(pos, end)
        else:
            inside = match.start() if match else end
            self._characters(pos, inside)
            self._copy(inside, end)
        self._in_section = self._in_section and not match
        return end if end > pos else None

    def _instruction(self, pos: int) -> int | None:
        """Process an XML processing instruction; one that is too long is renamed to disable it."""
        end = self._text.find("?>", pos)
        if (end if end >= 0 else len(self._text)) - pos > _PIECE:
            self._out.append("<?archived-")
            return self._skip_to("?>", pos + 2, pos + 2)
        if end < 0:
            return None
        self._step = self._data
        source = self._text[pos : end + 2]
        self._out.append(rewrite_instruction(source, self._links, self._raw))
        return end + 2

    def _tag(self, pos: int) -> int:
        match = TAG.match(self._text, pos)
        if match:
            self._whole_tag(match[0])
            return match.end()
        start = pos + 1 + self._text.startswith("/", pos + 1)
        self._partial = PartialTag(self._text[pos:start])
        return start

    def _tag_rest(self, partial: PartialTag, pos: int) -> int:
        end = partial.take(self._text, pos)
        if end < 0:
            return len(self._text)
        self._partial = None
        self._whole_tag(partial.source())
        return end

    def _whole_tag(self, source: str) -> None:
        match = NAME.match(source)
        if not match:
            return
        name = match[2].translate(TO_LOWER)
        if match[1]:
            self._foreign.end(name)
            self._out.append(source)
            if self._sheet is not None and name.endswith("style"):
                self._sheet = None
            return
        closed = (self._foreign.near or name in {"svg", "math"}) and closes_itself(source)
        kind = self._foreign.start(name, closes_itself=closed)
        foreign = self._xml or bool(kind)
        if self._hides_next and name == "noscript":
            source = self._tags.hide(source, name)
        self._hides_next = False
        if name == "use" and kind == "svg":
            source = self._with_copy(source)
        self._out.append(self._tags.rewrite(source, name, foreign=foreign, kind=kind))
        if foreign:
            is_sheet = name.rpartition(":")[2] == "style" and not closed
            self._sheet = self._foreign_sheet() if is_sheet else self._sheet
        else:
            self._enter_element(name)

    def _with_copy(self, source: str) -> str:
        """Return a ``use`` tag that refers to an element of the page itself.

        If its target is in another SVG file, a copy of the target is put before the tag. The tag
        stays as it is if there is no such target.
        """
        tag = StartTag(source, "use", self._raw)
        attribute = next((each for each in ("href", "xlink:href") if tag.has(each)), "")
        svg_copy = self._links.copy_of(tag.value(attribute)) if attribute else None
        if svg_copy is None:
            return source
        copy, links = svg_copy
        if copy.markup:
            inner = HtmlRewriter(links, depth=MAX_NESTED_DOCUMENTS)
            markup = inner.feed(f"<svg>{copy.markup}").removeprefix("<svg>")
            if not inner.is_in_svg:
                return source
            plain = (markup + inner.close()).encode("ascii", "xmlcharrefreplace").decode()
            self._out.append(f"<defs>{plain}</defs>")
        tag.set(attribute, f"#{copy.id}")
        return str(tag)

    def _enter_element(self, name: str) -> None:
        """Switch the tokenizer's state for elements whose content is not markup."""
        if name in RAW_TEXT:
            self._step, self._raw_name = self._raw_text, name
        elif name == "style":
            self._step = self._style_text
            self._sheet = CssReferences(self._links.rewrite, self._raw.to_text)
        elif name == "script":
            self._step, self._script = self._script_text, ScriptEnd()
        elif name == "plaintext":
            self._step = self._plaintext

    def _raw_text(self, pos: int) -> int | None:
        end = text_end(self._raw_name, self._text, pos)
        if end >= 0:
            self._step = self._data
            return self._copy(pos, end)
        end = waiting_from(self._text, pos)
        return self._copy(pos, end) if end > pos else None

    def _script_text(self, pos: int) -> int | None:
        end, is_end = self._script.find(self._text, pos)
        if is_end:
            self._step = self._data
            return self._copy(pos, end)
        return self._copy(pos, end) if end > pos else None

    def _style_text(self, pos: int) -> int | None:
        end = text_end("style", self._text, pos)
        if end >= 0:
            self._characters(pos, end)
            self._close_sheet()
            self._step = self._data
            return end
        end = len(self._text) if self._final else waiting_from(self._text, pos)
        return self._characters(pos, end) if end > pos else None

    def _plaintext(self, pos: int) -> int:
        return self._copy(pos, len(self._text))

    def _close_sheet(self) -> None:
        if self._sheet is not None:
            self._out.append(self._sheet.close())
            self._sheet = None

    def _foreign_sheet(self) -> CssReferences:
        """Return a rewriter for the text of a style element in SVG or XML.

        It decodes character references, which are text in an HTML style element.
        """
        return CssReferences(self._rewrite_in_markup, self._raw.to_text)

    def _rewrite_in_markup(self, reference: str, use: Use) -> str | None:
        if self._in_section:
            return self._links.rewrite(reference, use)
        rewritten = self._links.rewrite(decode_references(reference).strip("\"'"), use)
        return encode_references(rewritten, '"', xml=True) if rewritten else rewritten

    def _rewrite_nested(self, markup: str) -> str:
        inner = HtmlRewriter(self._links.nested(), depth=self._depth + 1)
        return inner.feed(markup) + inner.close()


def rewrite_data_url(url: str, use: Use, links: UrlRewriter) -> str | None:
    """Return the replacement of a data URL that is a style sheet or is shown in a frame.

    Args:
        url: the data URL.
        use: ``STYLE`` or ``FRAME``.
        links: rewriter of the references in its content.

    Returns:
        None if the URL can stay; ``BLOCKED`` if it must be disabled.
    """
    data = read_data_url(url)
    if data is None:
        return BLOCKED
    kind = data.media_type.essence
    if use is Use.STYLE:
        text = rewrite_css(data.text, links.rewrite)
    elif kind == _HTML_TYPE or data.media_type.is_xml:
        rewriter = HtmlRewriter(links, xml=kind != _HTML_TYPE)
        text = rewriter.feed(data.text) + rewriter.close()
    else:
        return None
    return None if text == data.text else write_data_url(kind, text, data.fragment)


# In SVG and MathML ``<style>`` and ``<script>`` contain markup, CDATA sections exist, and any
# element can have an ``href``. As in the HTML tree builder (§13.2.6.5), these elements are tracked
# with the HTML inside them and the tags that end them.
_BREAK_OUT: Final = frozenset(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li "
    "listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul "
    "var".split()
)
"""HTML elements whose start tag ends foreign content."""
_CLOSES_OUTER: Final = _BREAK_OUT | frozenset(
    "a abbr address article aside button cite details dialog fieldset figcaption figure font "
    "footer form header hgroup html label legend main mark nav noscript object option picture "
    "search section select summary tbody td template tfoot th thead time tr".split()
)
"""HTML elements whose end tag ends foreign content if it closes an element around that content."""

_TRACKED = ROOTS.union(*HTML_AGAIN.values())
_MAX_DEPTH = 256


class Foreign:
    """Stack of open foreign elements. Names are lower case.

    Args:
        xml: the document is XML, where the rules of the HTML tree builder do not apply.
    """

    def __init__(self, *, xml: bool = False) -> None:
        self._xml = xml
        self._open: list[tuple[str, str]] = []
        """Names and content kinds: ``svg``, ``math``, or empty for HTML."""

    @property
    def near(self) -> bool:
        """Return whether a foreign element is open, so that each tag must be examined."""
        return self._xml or bool(self._open)

    @property
    def depth(self) -> int:
        """The number of open SVG and MathML elements."""
        return len(self._open)

    @property
    def inside(self) -> bool:
        """Return whether the next content is foreign content."""
        return self._xml or bool(self._kind())

    def start(self, name: str, *, closes_itself: bool) -> str:
        """Process a start tag; return ``svg`` or ``math`` if it is a foreign element, else "".

        The element stays open unless the tag ``closes_itself``.
        """
        if self._xml:
            return ""
        kind = self._kind()
        if kind and name in _BREAK_OUT:
            self._leave_foreign()
            return ""
        kind = element_kind(name, kind)
        if kind and not closes_itself and len(self._open) < _MAX_DEPTH:
            self._open.append((name, kind_inside(name, kind)))
        return kind

    def end(self, name: str) -> None:
        """Process an end tag.

        It closes the nearest open element of that name, or ends foreign content.
        """
        kind = self._kind()
        if not kind and name not in _TRACKED:
            return
        if any(name == each for each, _ in self._open):
            while self._open.pop()[0] != name:
                pass
        elif kind and name in _CLOSES_OUTER:
            self._leave_foreign()

    def _kind(self) -> str:
        return self._open[-1][1] if self._open else ""

    def _leave_foreign(self) -> None:
        while self._kind():
            self._open.pop()
