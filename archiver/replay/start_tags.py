"""Rewriting of start tags and their attributes.

Nothing runs in a sandbox without scripts, whatever stands in the markup. But Chromium tells its
console of each script that it holds off, a line for every one, and of what it preloads for them.
"""

import re
from collections.abc import Callable
from typing import Final

from archiver.http.media_types import MediaType
from archiver.pages.css_references import lead_css
from archiver.pages.reference_attributes import (
    AHEAD,
    EVERYWHERE,
    HTML,
    LAZY,
    Form,
    Pointer,
    Rules,
    Use,
    is_placeholder,
    resolve,
    rules_for,
)
from archiver.replay.tag_syntax import (
    ACTING,
    ACTING_EVERYWHERE,
    ATTRIBUTE,
    HANDLER,
    HOT_ANYWHERE,
    UPPER,
    Raw,
    Treatment,
    decode_references,
    encode_references,
)
from archiver.replay.url_rewriter import BLOCKED, UrlRewriter, rewrite_refresh, rewrite_srcset

INERT_PREFIX = "data-archived-"
"""What an attribute that must do nothing is renamed with; its value stays for who reads it."""

_Found = re.Match[str]

_DOUBLE, _SINGLE, _UNQUOTED = 2, 3, 4
"""The groups of ``ATTRIBUTE`` that hold a value."""


class StartTag:
    """A whole start tag that is edited.

    Args:
        source: from ``<`` to ``>``.
        name: of the element, lower case.
        raw: between its characters and text.
        xml: whether ``<`` has to be escaped in values.
    """

    def __init__(self, source: str, name: str, raw: Raw, *, xml: bool = False) -> None:
        self.name = name
        self._source = source
        self._raw = raw
        self._xml = xml
        self._edits: dict[str, tuple[int, int, str]] = {}
        self._attributes: dict[str, _Found] = {}
        self._repeated: dict[str, list[_Found]] = {}
        self._name_end = len(name) + 1
        for found in ATTRIBUTE.finditer(source, self._name_end):
            key = found[1].translate(UPPER)
            if key in self._attributes:
                self._repeated.setdefault(key, []).append(found)
            else:
                self._attributes[key] = found

    def names(self) -> tuple[str, ...]:
        """The attributes' names, lower case, in order; of two alike the first counts."""
        return tuple(self._attributes)

    def has(self, name: str) -> bool:
        """Whether it has that attribute, even without value."""
        return name in self._attributes

    def value(self, name: str) -> str:
        """What an attribute means; empty if there is none."""
        found = self._attributes.get(name)
        if found is None:
            return ""
        group = found.lastindex or 1
        return decode_references(self._raw.to_text(found[group])) if group > 1 else ""

    def set(self, name: str, value: str) -> None:
        """Give an attribute another value, in the quotes it had; add it if there is none."""
        found = self._attributes.get(name)
        group = (found.lastindex or 1) if found else 1
        quote = "'" if group == _SINGLE else '"'
        written = encode_references(self._raw.from_text(value), quote, xml=self._xml)
        if found is None:
            edit = (self._name_end, self._name_end, f' {name}="{written}"')
        elif group in (_DOUBLE, _SINGLE):
            edit = (*found.span(group), written)
        elif group == _UNQUOTED:
            edit = (*found.span(group), f'"{written}"')
        elif "=" in self._source[found.end(1) : found.end()]:
            edit = (found.end(), found.end(), f'"{written}"')
        else:
            edit = (found.end(1), found.end(1), f'="{written}"')
        self._edits[name] = edit

    def make_inert(self, name: str, instead: str = "") -> None:
        """Rename an attribute so that it does nothing, with other source put before it.

        One of the same name further on would come into force, so it is renamed, too.
        """
        found = self._attributes.get(name)
        if found is None:
            return
        renamed = f"{INERT_PREFIX}{name.replace(':', '-')}"
        self._edits[name] = (*found.span(1), instead + renamed)
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
    """Whether a whole tag has the self-closing flag: its slash belongs to no unquoted value."""
    if not source.endswith("/>"):
        return False
    ends = [found.end() for found in ATTRIBUTE.finditer(source, 1)]
    return not ends or ends[-1] < len(source) - 1


_DATA: Final = "text/x-archived-script"
"""No type of a script, so that its element is a block of data (HTML §4.12.1)."""
_RUNNING: Final = frozenset({"", "module", "importmap", "speculationrules", "webbundle"})

_PLUGINS: Final = re.compile("flash|java|silverlight|x-director")
"""What of a media type says that a plug-in would have shown it."""


def is_handler(name: str) -> bool:
    """Whether an attribute of this name, lower case, is an event handler."""
    return name.startswith("on") and HANDLER.fullmatch(name) is not None


def put_to_rest(tag: StartTag, name: str) -> bool:
    """Do so with an element, but for its handlers; whether there was anything to do.

    Args:
        tag: its start tag.
        name: of the element, lower case, without a prefix.
    """
    if name == "script":
        return _script(tag)
    return name in {"embed", "object"} and _plugged(tag)


def _script(tag: StartTag) -> bool:
    """Give it a type that no browser runs; a block of data stays as it is."""
    given = tag.value("type").strip().lower()
    if given not in _RUNNING and not MediaType(given).is_javascript:
        return False
    if tag.has("type"):
        tag.make_inert("type", instead=f'type="{_DATA}" ')
    else:
        tag.set("type", _DATA)
    return True


def _plugged(tag: StartTag) -> bool:
    """Have nothing loaded for a plug-in, so that what stands in its place is shown."""
    loaded = [name for name in ("data", "src") if tag.has(name)]
    paths = (tag.value(name).partition("?")[0].lower() for name in loaded)
    if not _PLUGINS.search(tag.value("type").lower()) and not any(
        path.endswith(".swf") for path in paths
    ):
        return False
    for name in ("type", *loaded):
        tag.make_inert(name)
    return True


_SHORTEST_HOT = sorted(
    name for name in HOT_ANYWHERE if not any(each in name for each in HOT_ANYWHERE - {name})
)
_HOT: Final = re.compile(
    "|".join([*_SHORTEST_HOT, rf"[\s/\"']{HANDLER.pattern}", r"\("]), re.IGNORECASE | re.ASCII
)
_REFRESH = "refresh"
_HARMLESS_EQUIVALENTS = frozenset(
    {"content-type", "content-language", "default-style", _REFRESH, "x-ua-compatible"}
)
_OUTSIDE = frozenset({"_top", "_parent", "_blank", "_unfencedtop"})
_NONE: Final[dict[str, Treatment]] = {}
_LAZY_FIRST: Final = LAZY["src"][0]
"""Elements that are loaded lazily have a rule for this."""


class Tags:
    """Rewrites the start tags of one document.

    Args:
        links: where its references lead.
        raw: between its characters and text.
        nested: rewrites the document in a ``srcdoc``; None where documents are nested too deep.
        xml: whether the document is XML.
        rests: whether what would run is put to rest.
    """

    def __init__(
        self,
        links: UrlRewriter,
        raw: Raw,
        nested: Callable[[str], str] | None,
        *,
        xml: bool = False,
        rests: bool = False,
    ) -> None:
        self._links = links
        self._raw = raw
        self._nested = nested
        self._xml = xml
        self._rests = rests
        self._has_base = False
        self.promoted = False
        """Whether the last tag was an image that was shown by promoting its lazy source."""

    def rewrite(self, source: str, name: str, *, foreign: bool = False, kind: str = "") -> str:
        """Rewrite a whole start tag.

        Args:
            source: from ``<`` to ``>``.
            name: of the element, lower case, as long as in the source.
            foreign: whether it is SVG, MathML or in an XML document.
            kind: ``svg``, ``math`` or neither.
        """
        self.promoted = False
        local = name.rpartition(":")[2] if self._xml else name
        acting = ACTING.get(local, _NONE)
        is_known = bool(acting) or (not foreign and name in HTML)
        if not is_known and not _HOT.search(source, len(name)):
            return source
        tag = StartTag(source, name, self._raw, xml=self._xml)
        rules = rules_for(local, foreign=foreign, kind=kind)
        for attribute in tag.names():
            known = "xlink:href" if foreign and attribute.endswith(":href") else attribute
            treatment = acting.get(known) or ACTING_EVERYWHERE.get(known)
            if treatment is not None:
                self._restrain(tag, attribute, treatment)
            elif pointer := resolve(rules.get(known) or EVERYWHERE.get(known), tag.value):
                self._point(tag, attribute, pointer)
            elif self._rests and is_handler(known):
                tag.make_inert(attribute)
        if local == "link":
            self._late_style(tag)
        elif self._rests and put_to_rest(tag, local):
            return str(tag)
        elif _LAZY_FIRST in rules:
            self._lazy(tag, rules)
        elif foreign:
            self._animation(tag)
        return str(tag)

    def hide(self, source: str, name: str) -> str:
        """A start tag with the attribute ``hidden``."""
        tag = StartTag(source, name, self._raw, xml=self._xml)
        if not tag.has("hidden"):
            tag.set("hidden", "")
        return str(tag)

    def _restrain(self, tag: StartTag, attribute: str, treatment: Treatment) -> None:
        if treatment is Treatment.TARGET:
            if tag.value(attribute).lower() in _OUTSIDE:
                tag.set(attribute, "_self")
        elif treatment is Treatment.BASE:
            self._base(tag)
        elif treatment is Treatment.EQUIVALENT:
            self._equivalent(tag)
        elif treatment is Treatment.REFERRER:
            if tag.value(attribute).strip().lower() == "referrer":
                tag.make_inert(attribute)
        elif treatment is Treatment.RESTING:
            if self._rests:
                tag.make_inert(attribute)
        elif treatment is Treatment.INERT or tag.value("as").lower() != "font":
            tag.make_inert(attribute)

    def _point(self, tag: StartTag, attribute: str, pointer: Pointer) -> None:
        form, use = pointer.form, pointer.use
        if use is Use.INERT:
            tag.make_inert(attribute)
        elif form is Form.URL:
            self._url(tag, attribute, use)
        elif form is Form.CSS:
            self._css(tag, attribute)
        elif form is Form.SRCSET:
            self._change(tag, attribute, lambda value: rewrite_srcset(value, self._image))
        elif form is Form.REFRESH:
            self._refresh(tag, attribute)
        elif self._nested is None:
            tag.make_inert(attribute)
        else:
            self._change(tag, attribute, self._nested)

    def _url(self, tag: StartTag, attribute: str, use: Use) -> None:
        led = self._links.lead(tag.value(attribute), use)
        if led == BLOCKED:
            is_link = use is Use.ANCHOR and attribute.endswith("href")
            tag.make_inert(attribute, instead=f'{attribute}="#" ' if is_link else "")
        elif led is not None:
            tag.set(attribute, led)

    def _image(self, reference: str) -> str | None:
        return self._links.lead(reference, Use.IMAGE)

    def _css(self, tag: StartTag, attribute: str) -> None:
        value = tag.value(attribute)
        if "(" in value:
            self._change(tag, attribute, lambda css: lead_css(css, self._links.lead))

    def _change(self, tag: StartTag, attribute: str, change: Callable[[str], str]) -> None:
        value = tag.value(attribute)
        changed = change(value)
        if changed != value:
            tag.set(attribute, changed)

    def _base(self, tag: StartTag) -> None:
        """The first base counts (HTML §4.2.3); none may move what was led into the archive."""
        if not self._has_base:
            self._has_base = True
            self._links.set_base(tag.value("href"))
        tag.make_inert("href")

    def _equivalent(self, tag: StartTag) -> None:
        """Of what a page says in a header's stead only what can do no harm has its say."""
        equivalent = tag.value("http-equiv").strip().lower()
        if equivalent not in _HARMLESS_EQUIVALENTS or (self._rests and equivalent == _REFRESH):
            tag.make_inert("http-equiv")

    def _refresh(self, tag: StartTag, attribute: str) -> None:
        content = tag.value(attribute)
        led = rewrite_refresh(content, lambda url: self._links.lead(url, Use.ANCHOR))
        if led == BLOCKED:
            tag.make_inert("http-equiv")
        elif led != content:
            tag.set(attribute, led)

    def _late_style(self, tag: StartTag) -> None:
        """A style that the page's script would have switched on once it is loaded."""
        script = tag.value("onload").lower()
        relations = frozenset(tag.value("rel").lower().split())
        is_preloaded = "preload" in relations and "stylesheet" in script
        if is_preloaded:
            tag.set("rel", "stylesheet")
        is_style = is_preloaded or "stylesheet" in relations
        if self._rests and not is_style and not relations.isdisjoint(AHEAD):
            tag.make_inert("rel")
        if is_style and "media" in script and tag.value("media") == "print":
            tag.set("media", "all")

    def _lazy(self, tag: StartTag, rules: Rules) -> None:
        """What waits for the page's script: shown, as it was once the script had run."""
        is_source_waiting = self._is_waiting(tag, "src") and self._is_waiting(tag, "srcset")
        for eager, lazies in LAZY.items():
            is_source = eager in {"src", "srcset"}
            if eager not in rules or not (
                is_source_waiting if is_source else self._is_waiting(tag, eager)
            ):
                continue
            for lazy in filter(tag.has, lazies):
                if pointer := resolve(rules.get(lazy), tag.value):
                    self._promote(tag, eager, tag.value(lazy).strip(), pointer)
                    break

    def _is_waiting(self, tag: StartTag, eager: str) -> bool:
        value = tag.value(eager)
        return not self._links.is_ours(value) and is_placeholder(value)

    def _promote(self, tag: StartTag, eager: str, value: str, pointer: Pointer) -> None:
        if pointer.form is Form.SRCSET:
            led: str | None = rewrite_srcset(value, self._image)
        else:
            led = self._links.lead(value, pointer.use)
        if led and led != value:
            tag.set(eager, led)
            self.promoted = tag.name == "img"

    def _animation(self, tag: StartTag) -> None:
        """SVG's animations can set an ``href`` without any script."""
        if tag.value("attributename").strip().lower() in {"href", "xlink:href"}:
            tag.make_inert("attributename")
