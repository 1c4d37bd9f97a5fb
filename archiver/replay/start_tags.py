"""Rewriting of start tags and their attributes.

The sandbox without scripts blocks everything that runs. Scripts are disabled in the markup as well,
because Chromium logs a console message for each blocked script and preloads files for them.
"""

import re
from collections.abc import Callable
from typing import Final

from archiver.http.media_types import MediaType
from archiver.pages.css_references import rewrite_css
from archiver.pages.references import (
    EVERYWHERE,
    HTML,
    LAZY,
    PRELOADS,
    Form,
    Pointer,
    Rules,
    Use,
    is_placeholder,
    resolve,
    rules_for,
)
from archiver.replay.tag_syntax import (
    ATTRIBUTE,
    EVENT_HANDLER,
    EXAMINED_IN_XML,
    GLOBAL_TREATMENTS,
    PLAYERS,
    TO_LOWER,
    TREATMENTS,
    BytesText,
    Treatment,
    decode_references,
    encode_references,
)
from archiver.replay.url_rewriter import BLOCKED, UrlRewriter, rewrite_srcset

INERT_PREFIX = "data-archived-"
"""Prefix of disabled attributes; it keeps their values readable."""

_Found = re.Match[str]

_DOUBLE, _SINGLE, _UNQUOTED = 2, 3, 4
"""Groups of ``ATTRIBUTE`` that contain a value."""


class StartTag:
    """A complete start tag that can be edited.

    Args:
        source: from ``<`` to ``>``.
        name: element name, lower case.
        raw: converter between text and ``source``, whose characters may be undecoded bytes.
        xml: whether ``<`` must be escaped in values.
    """

    def __init__(self, source: str, name: str, raw: BytesText, *, xml: bool = False) -> None:
        self.name = name
        self._source = source
        self._raw = raw
        self._xml = xml
        self._edits: dict[str, tuple[int, int, str]] = {}
        self._attributes: dict[str, _Found] = {}
        self._repeated: dict[str, list[_Found]] = {}
        self._name_end = len(name) + 1
        for match in ATTRIBUTE.finditer(source, self._name_end):
            key = match[1].translate(TO_LOWER)
            if key in self._attributes:
                self._repeated.setdefault(key, []).append(match)
            else:
                self._attributes[key] = match

    def names(self) -> tuple[str, ...]:
        """Return the names of the attributes, lower case, in order, without duplicates."""
        return tuple(self._attributes)

    def has(self, name: str) -> bool:
        """Return whether the tag has the attribute, even without a value."""
        return name in self._attributes

    def value(self, name: str) -> str:
        """Return the decoded value of an attribute; empty if missing."""
        attribute = self._attributes.get(name)
        if attribute is None:
            return ""
        group = attribute.lastindex or 1
        return decode_references(self._raw.to_text(attribute[group])) if group > 1 else ""

    def set(self, name: str, value: str) -> None:
        """Set an attribute's value, in its existing quotes; add the attribute if missing."""
        attribute = self._attributes.get(name)
        group = (attribute.lastindex or 1) if attribute else 1
        quote = "'" if group == _SINGLE else '"'
        written = encode_references(self._raw.from_text(value), quote, xml=self._xml)
        if attribute is None:
            edit = (self._name_end, self._name_end, f' {name}="{written}"')
        elif group in (_DOUBLE, _SINGLE):
            edit = (*attribute.span(group), written)
        elif group == _UNQUOTED:
            edit = (*attribute.span(group), f'"{written}"')
        elif "=" in self._source[attribute.end(1) : attribute.end()]:
            edit = (attribute.end(), attribute.end(), f'"{written}"')
        else:
            edit = (attribute.end(1), attribute.end(1), f'="{written}"')
        self._edits[name] = edit

    def make_inert(self, name: str, instead: str = "") -> None:
        """Rename an attribute so that it has no effect, with `instead` inserted before it.

        Duplicates of the attribute are renamed too, because they would become effective.
        """
        attribute = self._attributes.get(name)
        if attribute is None:
            return
        renamed = f"{INERT_PREFIX}{name.replace(':', '-')}"
        self._edits[name] = (*attribute.span(1), instead + renamed)
        for number, again in enumerate(self._repeated.get(name, ())):
            self._edits[f"{name} {number}"] = (*again.span(1), renamed)

    def __str__(self) -> str:
        if not self._edits:
            return self._source
        out: list[str] = []
        done = 0
        for start, end, text in sorted(self._edits.values(), key=lambda edit: edit[:2]):
            out += self._source[done:start], text
            done = end
        out.append(self._source[done:])
        return "".join(out)


def closes_itself(source: str) -> bool:
    """Return whether a complete tag has the self-closing flag."""
    if not source.endswith("/>"):
        return False
    ends = [match.end() for match in ATTRIBUTE.finditer(source, 1)]
    return not ends or ends[-1] < len(source) - 1


_DATA_BLOCK_TYPE: Final = "text/x-archived-script"
"""Not a script type, so the element becomes a data block (HTML §4.12.1)."""
_SCRIPT_TYPES: Final = frozenset({"", "module", "importmap", "speculationrules", "webbundle"})

_PLUGIN_TYPES: Final = re.compile("flash|java|silverlight|x-director")
"""Pattern of media types that plug-ins displayed."""


def is_handler(name: str) -> bool:
    """Return whether an attribute (lower case) is an event handler."""
    return name.startswith("on") and EVENT_HANDLER.fullmatch(name) is not None


def disable_element(tag: StartTag, name: str) -> bool:
    """Disable a script or plug-in element; return whether it changed.

    Event handlers in its attributes are not changed.

    Args:
        tag: the start tag.
        name: element name, lower case, without a prefix.
    """
    if name == "script":
        return _disable_script(tag)
    return name in {"embed", "object"} and _disable_plugin(tag)


def _disable_script(tag: StartTag) -> bool:
    """Set a type that browsers do not run; data blocks stay as they are."""
    media_type = tag.value("type").strip().lower()
    if media_type not in _SCRIPT_TYPES and not MediaType(media_type).is_javascript:
        return False
    if tag.has("type"):
        tag.make_inert("type", instead=f'type="{_DATA_BLOCK_TYPE}" ')
    else:
        tag.set("type", _DATA_BLOCK_TYPE)
    return True


def _disable_plugin(tag: StartTag) -> bool:
    """Disable loading for a plug-in, so that the element's fallback content is shown."""
    loaded = [name for name in ("data", "src") if tag.has(name)]
    paths = (tag.value(name).partition("?")[0].lower() for name in loaded)
    if not _PLUGIN_TYPES.search(tag.value("type").lower()) and not any(
        path.endswith(".swf") for path in paths
    ):
        return False
    for name in ("type", *loaded):
        tag.make_inert(name)
    return True


_SHORTEST_EXAMINED = sorted(
    name for name in EXAMINED_IN_XML if not any(each in name for each in EXAMINED_IN_XML - {name})
)
_EXAMINED_PATTERN: Final = re.compile(
    "|".join([*_SHORTEST_EXAMINED, rf"[\s/\"']{EVENT_HANDLER.pattern}", r"\("]),
    re.IGNORECASE | re.ASCII,
)
_HARMLESS_HTTP_EQUIV = frozenset(
    {"content-type", "content-language", "default-style", "x-ua-compatible"}
)
_OUTER_TARGETS = frozenset({"_top", "_parent", "_blank", "_unfencedtop"})
_MOMENT: Final = "#t=1"
"""Fragment that makes a video show its frame at one second.

It is used for autoplaying videos without a poster, whose first frame is often black.
"""
_NO_TREATMENTS: Final[dict[str, Treatment]] = {}
_LAZY_FIRST: Final = LAZY["src"][0]
"""Attribute that is in the rules of every element that can be loaded lazily."""


class Tags:
    """Rewriter of the start tags of one document.

    Args:
        links: rewriter of URLs in the document.
        raw: converter between text and the source, whose characters may be undecoded bytes.
        nested: rewriter of the HTML in a ``srcdoc``; None at the maximum depth.
        xml: whether the document is XML.
    """

    def __init__(
        self,
        links: UrlRewriter,
        raw: BytesText,
        nested: Callable[[str], str] | None,
        *,
        xml: bool = False,
    ) -> None:
        self._links = links
        self._raw = raw
        self._nested = nested
        self._xml = xml
        self._has_base = False
        self._is_still = False
        """Whether the current video has autoplay and no poster."""
        self.promoted = False
        """Whether the last tag was an image that got the URL of a lazy-loading attribute."""

    def rewrite(self, source: str, name: str, *, foreign: bool = False, kind: str = "") -> str:
        """Rewrite a complete start tag.

        Args:
            source: from ``<`` to ``>``.
            name: element name in lower case; its length equals that in the source.
            foreign: whether the tag is SVG, MathML or in an XML document.
            kind: ``svg``, ``math`` or "".
        """
        self.promoted = False
        local = name.rpartition(":")[2] if self._xml else name
        acting = TREATMENTS.get(local, _NO_TREATMENTS)
        is_known = bool(acting) or (not foreign and name in HTML)
        if not is_known and not _EXAMINED_PATTERN.search(source, len(name)):
            return source
        tag = StartTag(source, name, self._raw, xml=self._xml)
        if local in PLAYERS:
            self._prepare_player(tag)
        rules = rules_for(local, foreign=foreign, kind=kind)
        for attribute in tag.names():
            attribute_name = "xlink:href" if foreign and attribute.endswith(":href") else attribute
            treatment = acting.get(attribute_name) or GLOBAL_TREATMENTS.get(attribute_name)
            if treatment is not None:
                self._apply_treatment(tag, attribute, treatment)
            elif pointer := resolve(
                rules.get(attribute_name) or EVERYWHERE.get(attribute_name), tag.value
            ):
                self._rewrite_attribute(tag, attribute, pointer)
            elif is_handler(attribute_name):
                tag.make_inert(attribute)
        self._rewrite_whole(tag, local, rules, foreign=foreign)
        return str(tag)

    def _rewrite_whole(self, tag: StartTag, local: str, rules: Rules, *, foreign: bool) -> None:
        """Make the changes that concern several attributes of an element."""
        if local == "link":
            self._enable_late_style(tag)
        elif disable_element(tag, local):
            return
        elif _LAZY_FIRST in rules:
            self._promote_lazy_sources(tag, rules)
        elif foreign:
            self._disable_animation(tag)

    def hide(self, source: str, name: str) -> str:
        """Add the attribute ``hidden`` to a start tag."""
        tag = StartTag(source, name, self._raw, xml=self._xml)
        if not tag.has("hidden"):
            tag.set("hidden", "")
        return str(tag)

    def _apply_treatment(self, tag: StartTag, attribute: str, treatment: Treatment) -> None:
        if treatment is Treatment.TARGET:
            if tag.value(attribute).lower() in _OUTER_TARGETS:
                tag.set(attribute, "_self")
        elif treatment is Treatment.BASE:
            self._base(tag)
        elif treatment is Treatment.EQUIVALENT:
            self._disable_http_equiv(tag)
        elif treatment is Treatment.REFERRER:
            if tag.value(attribute).strip().lower() == "referrer":
                tag.make_inert(attribute)
        elif treatment is Treatment.INERT or tag.value("as").lower() != "font":
            tag.make_inert(attribute)

    def _rewrite_attribute(self, tag: StartTag, attribute: str, pointer: Pointer) -> None:
        form, use = pointer.form, pointer.use
        if use is Use.INERT:
            tag.make_inert(attribute)
        elif form is Form.URL:
            self._url(tag, attribute, use)
        elif form is Form.CSS:
            self._css(tag, attribute)
        elif form is Form.SRCSET:
            self._rewrite_value(tag, attribute, lambda value: rewrite_srcset(value, self._image))
        elif self._nested is None:
            tag.make_inert(attribute)
        else:
            self._rewrite_value(tag, attribute, self._nested)

    def _url(self, tag: StartTag, attribute: str, use: Use) -> None:
        rewritten = self._links.rewrite(tag.value(attribute), use)
        if rewritten == BLOCKED:
            is_link = use is Use.ANCHOR and attribute.endswith("href")
            tag.make_inert(attribute, instead=f'{attribute}="#" ' if is_link else "")
        elif rewritten is not None:
            is_still = use is Use.MEDIA and self._is_still and "#" not in rewritten
            tag.set(attribute, f"{rewritten}{_MOMENT}" if is_still else rewritten)

    def _prepare_player(self, tag: StartTag) -> None:
        """Give a player its controls, since autoplay does not work in a sandbox without scripts.

        Subtitles need CORS because the page's origin is opaque.
        """
        starts = tag.has("autoplay")
        self._is_still = starts and tag.name == "video" and not tag.has("poster")
        attributes = {"controls": "", "crossorigin": "anonymous"} | (
            {"preload": "auto"} if starts else {}
        )
        for name, value in attributes.items():
            if not tag.has(name) or (value and tag.value(name) != value):
                tag.set(name, value)

    def _image(self, reference: str) -> str | None:
        return self._links.rewrite(reference, Use.IMAGE)

    def _css(self, tag: StartTag, attribute: str) -> None:
        value = tag.value(attribute)
        if "(" in value:
            self._rewrite_value(tag, attribute, lambda css: rewrite_css(css, self._links.rewrite))

    def _rewrite_value(self, tag: StartTag, attribute: str, change: Callable[[str], str]) -> None:
        value = tag.value(attribute)
        changed = change(value)
        if changed != value:
            tag.set(attribute, changed)

    def _base(self, tag: StartTag) -> None:
        """Set the base URL from the first base (HTML §4.2.3), and disable the element."""
        if not self._has_base:
            self._has_base = True
            self._links.set_base(tag.value("href"))
        tag.make_inert("href")

    def _disable_http_equiv(self, tag: StartTag) -> None:
        """Disable an http-equiv that is not known to be harmless."""
        equivalent = tag.value("http-equiv").strip().lower()
        if equivalent not in _HARMLESS_HTTP_EQUIV:
            tag.make_inert("http-equiv")

    def _enable_late_style(self, tag: StartTag) -> None:
        """Enable a style sheet that the page's script would have enabled after loading."""
        script = tag.value("onload").lower()
        relations = frozenset(tag.value("rel").lower().split())
        is_preloaded = "preload" in relations and "stylesheet" in script
        if is_preloaded:
            tag.set("rel", "stylesheet")
        is_style = is_preloaded or "stylesheet" in relations
        if not is_style and not relations.isdisjoint(PRELOADS):
            tag.make_inert("rel")
        if is_style and "media" in script and tag.value("media") == "print":
            tag.set("media", "all")

    def _promote_lazy_sources(self, tag: StartTag, rules: Rules) -> None:
        """Copy URLs from lazy-loading attributes, such as ``data-src``, over placeholders."""
        is_source_waiting = self._has_placeholder(tag, "src") and self._has_placeholder(
            tag, "srcset"
        )
        for eager, lazies in LAZY.items():
            is_source = eager in {"src", "srcset"}
            if eager not in rules or not (
                is_source_waiting if is_source else self._has_placeholder(tag, eager)
            ):
                continue
            for lazy in filter(tag.has, lazies):
                if pointer := resolve(rules.get(lazy), tag.value):
                    self._promote(tag, eager, tag.value(lazy).strip(), pointer)
                    break

    def _has_placeholder(self, tag: StartTag, eager: str) -> bool:
        value = tag.value(eager)
        return not self._links.is_rewritten_reference(value) and is_placeholder(value)

    def _promote(self, tag: StartTag, eager: str, value: str, pointer: Pointer) -> None:
        if pointer.form is Form.SRCSET:
            rewritten: str | None = rewrite_srcset(value, self._image)
        else:
            rewritten = self._links.rewrite(value, pointer.use)
        if rewritten and rewritten != value:
            tag.set(eager, rewritten)
            self.promoted = tag.name == "img"

    def _disable_animation(self, tag: StartTag) -> None:
        """Disable SVG animations of ``href``, which work without scripts."""
        if tag.value("attributename").strip().lower() in {"href", "xlink:href"}:
            tag.make_inert("attributename")
