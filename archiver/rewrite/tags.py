"""What is done to one start tag."""

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from archiver.rewrite.attributes import StartTag
from archiver.rewrite.css import rewrite_css
from archiver.rewrite.elements import EVERYWHERE, HTML, Rule, Treatment, rules_for
from archiver.rewrite.raw_bytes import Raw
from archiver.rewrite.url_rewriter import BLOCKED, UrlRewriter, Use
from archiver.rewrite.values import rewrite_refresh, rewrite_srcset

_HOT: Final = re.compile(
    r"href|src|style|action|target|ping|poster|background|cite|data|longdesc|integrity|nonce|icon"
    r"|crossorigin|manifest|csp|profile|attribution|codebase|referrer|\(",
    re.IGNORECASE | re.ASCII,
)
_HARMLESS_EQUIVALENTS = frozenset(
    {"content-type", "content-language", "default-style", "x-ua-compatible"}
)
_HINTS = frozenset({"dns-prefetch", "preconnect", "prerender"})
"""Relations of which nothing is left to do in an archive."""

_LOADED_AS = {
    "style": Use.STYLE,
    "script": Use.SCRIPT,
    "worker": Use.SCRIPT,
    "document": Use.FRAME,
    "iframe": Use.FRAME,
}
_OUTSIDE = frozenset({"_top", "_parent", "_blank", "_unfencedtop"})
_LAZY_SRC = (
    "data-src",
    "data-lazy-src",
    "data-original",
    "data-original-src",
    "data-lazy",
    "data-url",
)
_LAZY_SRCSET = ("data-srcset", "data-lazy-srcset", "data-original-set")
_PLACEHOLDER = re.compile(
    r"data:|about:blank|#|(?:[^?#]*/)?(?:blank|spacer|placeholder|pixel|transparent|trans|clear"
    r"|loading|loader|lazy|lazyload|grey|gray|1x1)[-_.0-9a-z]*\.(?:gif|png|svg|jpe?g|webp)(?:[?#]|\Z)",
    re.IGNORECASE,
)
_URL_PARAMETERS = frozenset({"movie", "src", "url", "data", "code", "filename", "href"})
_LONGEST_PLACEHOLDER = 2048


class Tags:
    """Rewrites the start tags of one document.

    Args:
        links: where its references lead.
        raw: between its characters and text.
        nested: rewrites the document in a ``srcdoc``; None where documents are nested too deep.
        xml: whether the document is XML.
    """

    def __init__(
        self,
        links: UrlRewriter,
        raw: Raw,
        nested: Callable[[str], str] | None,
        *,
        xml: bool = False,
    ) -> None:
        self._links = links
        self._raw = raw
        self._nested = nested
        self._xml = xml
        self._has_base = False
        self.promoted = False
        """Whether the last tag was an image that was shown by promoting its lazy source."""
        self._special: dict[str, Callable[[StartTag], None]] = {
            "base": self._base,
            "link": self._link,
            "meta": self._meta,
            "img": self._lazy,
            "source": self._lazy,
            "object": partial(self._plugin, attribute="data"),
            "embed": partial(self._plugin, attribute="src"),
            "param": self._param,
        }

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
        special = None if kind else self._special.get(local)
        is_cold = special is None and (foreign or name not in HTML)
        if is_cold and not _HOT.search(source, len(name)):
            return source
        tag = StartTag(source, name, self._raw, xml=self._xml)
        rules = rules_for(local, foreign=foreign, kind=kind)
        for attribute in tag.names():
            known = "xlink:href" if foreign and attribute.endswith(":href") else attribute
            rule = rules.get(known) or EVERYWHERE.get(known)
            if rule is not None:
                self._apply(tag, attribute, rule)
        if special is not None:
            special(tag)
        elif foreign:
            self._animation(tag)
        return str(tag)

    def hide(self, source: str, name: str) -> str:
        """A start tag with the attribute ``hidden``."""
        tag = StartTag(source, name, self._raw, xml=self._xml)
        if not tag.has("hidden"):
            tag.set("hidden", "")
        return str(tag)

    def _apply(self, tag: StartTag, attribute: str, rule: Rule) -> None:
        if isinstance(rule, Use):
            self._url(tag, attribute, rule)
        elif rule is Treatment.INERT:
            if attribute != "crossorigin" or tag.value("as").lower() != "font":
                tag.make_inert(attribute)
        elif rule is Treatment.SRCSET:
            self._change(tag, attribute, lambda value: rewrite_srcset(value, self._image))
        elif rule is Treatment.CSS:
            self._css(tag, attribute)
        elif rule is Treatment.TARGET:
            if tag.value(attribute).lower() in _OUTSIDE:
                tag.set(attribute, "_self")
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
            self._change(tag, attribute, lambda css: rewrite_css(css, self._links.lead))

    def _change(self, tag: StartTag, attribute: str, change: Callable[[str], str]) -> None:
        value = tag.value(attribute)
        changed = change(value)
        if changed != value:
            tag.set(attribute, changed)

    def _base(self, tag: StartTag) -> None:
        """The first base counts (HTML §4.2.3); none may move what was led into the archive."""
        if tag.has("href"):
            if not self._has_base:
                self._has_base = True
                self._links.set_base(tag.value("href"))
            tag.make_inert("href")

    def _meta(self, tag: StartTag) -> None:
        """Of what a page says in a header's stead only what can do no harm has its say."""
        if tag.value("name").strip().lower() == "referrer":
            tag.make_inert("name")
        equivalent = tag.value("http-equiv").strip().lower()
        if not tag.has("http-equiv") or equivalent in _HARMLESS_EQUIVALENTS:
            return
        content = tag.value("content")
        led = BLOCKED
        if equivalent == "refresh":
            led = rewrite_refresh(content, lambda url: self._links.lead(url, Use.ANCHOR))
        if led == BLOCKED:
            tag.make_inert("http-equiv")
        elif led != content:
            tag.set("content", led)

    def _link(self, tag: StartTag) -> None:
        relations = frozenset(tag.value("rel").lower().split())
        if relations and relations <= _HINTS:
            tag.make_inert("href")
            return
        loaded_as = tag.value("as").lower()
        use = Use.ANCHOR
        if "stylesheet" in relations:
            use = Use.STYLE
        elif any("icon" in relation for relation in relations) or "manifest" in relations:
            use = Use.IMAGE
        elif "modulepreload" in relations:
            use = Use.SCRIPT
        elif relations & {"preload", "prefetch"} and loaded_as:
            use = _LOADED_AS.get(loaded_as, Use.IMAGE)
        if tag.has("href"):
            self._url(tag, "href", use)
        self._late_style(tag, relations)

    def _late_style(self, tag: StartTag, relations: frozenset[str]) -> None:
        """A style that the page's script would have switched on once it is loaded."""
        script = tag.value("onload").lower()
        is_preloaded = "preload" in relations and "stylesheet" in script
        if is_preloaded:
            tag.set("rel", "stylesheet")
        is_style = is_preloaded or "stylesheet" in relations
        if is_style and "media" in script and tag.value("media") == "print":
            tag.set("media", "all")

    def _lazy(self, tag: StartTag) -> None:
        """An image that waits for the page's script: shown, as it was once the script had run."""
        source = tag.value("src")
        if self._links.is_ours(source) or not _is_placeholder(source):
            return
        if not _is_placeholder(tag.value("srcset")):
            return
        for attribute, sources in (("src", _LAZY_SRC), ("srcset", _LAZY_SRCSET)):
            value = next((tag.value(each) for each in sources if tag.has(each)), "").strip()
            if attribute == "srcset":
                led: str | None = rewrite_srcset(value, self._image)
            else:
                led = self._image(value) if value and value[0] not in "{[" else None
            if led and led != value:
                tag.set(attribute, led)
                self.promoted = tag.name == "img"

    def _plugin(self, tag: StartTag, attribute: str) -> None:
        """Objects and embeds can be pages; data that says it is an image is none."""
        value, kind = tag.value(attribute), tag.value("type").strip().lower()
        is_image = kind.startswith("image/") or value.strip().lower().startswith("data:image/")
        if tag.has(attribute):
            self._url(tag, attribute, Use.IMAGE if is_image else Use.FRAME)

    def _param(self, tag: StartTag) -> None:
        if tag.value("name").strip().lower() in _URL_PARAMETERS and tag.has("value"):
            self._url(tag, "value", Use.IMAGE)

    def _animation(self, tag: StartTag) -> None:
        """SVG's animations can set an ``href`` without any script."""
        if tag.value("attributename").strip().lower() in {"href", "xlink:href"}:
            tag.make_inert("attributename")


def _is_placeholder(value: str) -> bool:
    """Whether an image's source only holds its place."""
    given = value.strip()
    return not given or _PLACEHOLDER.match(given[:_LONGEST_PLACEHOLDER]) is not None
