"""What is done to one start tag."""

import re
from collections.abc import Callable
from typing import Final

from archiver.references.css import lead_css
from archiver.references.elements import EVERYWHERE, HTML, Rules, rules_for
from archiver.references.lazy import LAZY, is_placeholder
from archiver.references.relations import AHEAD
from archiver.references.use import Form, Pointer, Use, resolve
from archiver.rewrite.attributes import StartTag
from archiver.rewrite.raw_bytes import Raw
from archiver.rewrite.resting import is_handler, put_to_rest
from archiver.rewrite.treatments import ACTING, ACTING_EVERYWHERE, HANDLER, HOT_ANYWHERE, Treatment
from archiver.rewrite.url_rewriter import BLOCKED, UrlRewriter
from archiver.rewrite.values import rewrite_refresh, rewrite_srcset

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
