"""Detection of error pages, parked domains, bot walls and empty pages.

Only pages with little text are examined, because an article about such pages may contain the same
text. Scripts that bot protection adds to ordinary pages are not signs of a wall. Good pages, too,
may have scripts and little text. So a page is rendered in a browser only if there is another sign
that scripts insert its content.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode

from archiver.pages.metadata import document_title

LEAST_CHARACTERS: Final = 200
"""Minimum characters of text for a page to be usable without its scripts."""
MAX_COUNTED: Final = 600
_PLACEHOLDER = 40
"""Maximum characters of a placeholder such as ``Loading…``."""
_NEARLY_EMPTY = 16
_LEAST_MARKUP = 100
"""Ratio of source length to text length above which a page is a JavaScript application."""
_LONG_SOURCE = 10_000

_UNREAD = frozenset(
    "script style noscript template head title svg math canvas object audio video iframe select "
    "textarea datalist".split()
)
_VISIBLE_ELEMENTS = (
    "img, picture, svg, canvas, video, audio, iframe, frame, object, embed, form, input"
)
_ROOTS = frozenset(
    "root app __next __nuxt ___gatsby app-root main-app react-root react-app vue-app q-app svelte "
    "ember-app application app-container app-mount mount redoc redoc-container "
    "swagger-ui spa docs-app elm mountnode reactroot app-main appmountpoint".split()
)
_HTML_ELEMENTS = frozenset(
    "a abbr acronym address applet area article aside audio b base basefont bdi bdo big blink "
    "blockquote body br button canvas caption center cite code col colgroup data datalist dd del "
    "details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame "
    "frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img input ins kbd label "
    "legend li link main map mark marquee math menu meta meter nav nobr noembed noframes noscript "
    "object ol optgroup option output p param picture plaintext pre progress q rp rt ruby s samp "
    "script search section select slot small source span strike strong style sub summary sup svg "
    "table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr "
    "xmp".split()
)
_ASKS_FOR_SCRIPTS = re.compile(r"java\s?script|ecmascript|\bscripts?\b", re.IGNORECASE)
_DATA = re.compile(
    r"json|text/(?:template|html|x-)|x-handlebars|importmap|speculation", re.IGNORECASE
)


def browser_needs(tree: LexborHTMLParser, source_length: int, read: int) -> tuple[bool, bool]:
    """Return whether a page is empty until its scripts have run, and whether they may add content.

    Scripts may add content, so that rendering is worthwhile, if the page has little text apart from
    links, navigation and the like, if it has an empty element and not much more text, or if the
    root of an application is empty.

    Args:
        tree: the tree of the page.
        source_length: number of characters of its source.
        read: length of the text from ``readable_start``.
    """
    if tree.body is None or not _has_scripts(tree):
        return False, False
    main = _MainContent(tree.body)
    has_empty_root = _is_any_empty(filter(_is_named_root, tree.css("body [id]")))
    most = MAX_COUNTED if main.has_gap else LEAST_CHARACTERS
    may_add = has_empty_root or main.length < most
    if main.is_missing:
        return True, may_add
    if read >= LEAST_CHARACTERS and main.is_enough:
        return False, may_add
    if has_empty_root or _has_empty_custom_root(tree) or _asks_for_scripts(tree):
        return True, may_add
    is_script = source_length > _LONG_SOURCE and read * _LEAST_MARKUP < source_length
    is_blank = read < _NEARLY_EMPTY and tree.css_first(_VISIBLE_ELEMENTS) is None
    return read < LEAST_CHARACTERS and (is_script or is_blank), may_add


_Attributes = Mapping[str, str | None]
_FURNITURE = frozenset({"nav", "footer", "header", "aside", "dialog"})
_OWN_HEADS = frozenset({"header", "footer"})
"""Elements that are part of the content if they are in ``main`` or ``article``."""
_FURNITURE_ROLES = frozenset(
    "banner navigation contentinfo complementary dialog alertdialog search menu menubar "
    "toolbar".split()
)
_FURNITURE_NAMES = re.compile(
    r"(?:^|[\s_-])(?:cookies?|consent|gdpr|cmp|newsletter|popup|modal|breadcrumbs?)(?:$|[\s_-])"
    r"|(?:^|\s)(?:(?:site|page|main|top|global)[_-]?)?(?:nav|navbar|navigation|menu|sidebar|header"
    r"|footer|topbar|toolbar)(?:$|\s)",
    re.IGNORECASE,
)
_WAITING_NAMES = re.compile(
    r"(?:^|[\s_-])(?:skeletons?|spinners?|loading|loader|placeholder|shimmer|preloader)(?:$|[\s_-])",
    re.IGNORECASE,
)
_ASKS_TO_WAIT = re.compile(
    r"\A(?=.{1,60}\Z)(?:loading|fetching|pleasewait|onemoment|justamoment|initiali[sz]ing|laden"
    r"|\w{0,20}w[ie]rd(?:en)?geladen|ladevorgang|bittewarten|bezigmetladen|chargement"
    r"|veuillezpatienter|cargando|espere|caricamento|carregando|aguarde|ładowanie|proszęczekać"
    r"|\w{0,20}загрузка|подождите|読み込|ロード中|加载中|正在加载|載入中|로딩|불러오는중)"
    r"[\w,\uff0c\u3001]{0,40}[.…·!]{0,5}\Z"
    r"|\A\{\{.+\}\}\Z"
    r"|(?:enable|activat|turnon|allow|requires?|needs?|without|aktivier|einschalten|benötigt"
    r"|activ|habilit|включите)\w{0,30}java-?script"
    r"|java-?script\w{0,30}(?:require|disabled|enable|aktivier|einschalten|activ|habilit|включ"
    r"|有効|启用|啟用|사용)",
    re.IGNORECASE,
)
"""Texts, without spaces, that ask to wait or to enable JavaScript, and fields of templates."""
_MOST_REQUEST = 300
"""Maximum characters of such a text, without spaces."""
_WAITING_ROLES = frozenset({"progressbar"})
_MAIN = frozenset({"main", "article"})
_MEDIA = frozenset("img picture svg canvas video audio iframe object embed form".split())


class _MainContent:
    """Content of a page apart from its header, navigation, footer, sidebars and notices.

    Args:
        body: the body of the page.

    Attributes:
        length: number of characters of text outside of links, without spaces. Reading stops at
            ``MAX_COUNTED``.
        linked: number of characters of link texts, without spaces.
        has_gap: whether the content has an empty element that may be filled by scripts.
    """

    def __init__(self, body: LexborNode) -> None:
        self.length = self.linked = 0
        self.has_gap = False
        self._waits = self._has_hole = self._has_empty_main = False
        self._media = self._before_main = 0
        self._read(body)

    @property
    def is_enough(self) -> bool:
        """Return whether the content has at least ``LEAST_CHARACTERS``, including link texts."""
        return self.length + self.linked >= LEAST_CHARACTERS

    @property
    def is_missing(self) -> bool:
        """Return whether scripts still have to insert the content."""
        if self.length >= LEAST_CHARACTERS:
            return False
        if self._waits or self._has_empty_main:
            return True
        return self._has_hole and not (self.is_enough or self._media)

    @property
    def _seen(self) -> int:
        """Return a measure of the content that was read so far; any content increases it."""
        return self.length + self.linked + self._media

    def _read(self, body: LexborNode) -> None:
        node: LexborNode | None = body.child
        main: LexborNode | None = None  # the main element that the node is in
        link: LexborNode | None = None
        while node is not None and self.length < MAX_COUNTED:
            if node.is_text_node:
                self._take("".join((node.text_content or "").split()), is_linked=link is not None)
            elif node.is_element_node and self._is_content(node, main):
                if node.child is not None:
                    if main is None and _is_main(node):
                        main, self._before_main = node, self._seen
                    link = link or (node if node.tag == "a" else None)
                    node = node.child
                    continue
            elif node.tag in _MEDIA:
                self._media += 1
            while node.next is None:
                parent = node.parent
                if parent is None or parent.mem_id == body.mem_id:
                    return
                if main is not None and main.mem_id == parent.mem_id:
                    self._has_empty_main |= self._seen == self._before_main
                    main = None
                link = None if link is not None and link.mem_id == parent.mem_id else link
                node = parent
            node = node.next

    def _take(self, text: str, *, is_linked: bool) -> None:
        if len(text) <= _MOST_REQUEST and _ASKS_TO_WAIT.search(text):
            self._waits = True
        elif not any(map(str.isalnum, text)):
            return  # dots or blocks in place of text
        elif is_linked:
            self.linked += len(text)
        else:
            self.length += len(text)

    def _is_content(self, node: LexborNode, main: LexborNode | None) -> bool:
        """Return whether an element is visible content; record whether scripts will fill it."""
        attributes = node.attributes
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"[:_MOST_NAMES]
        if _is_unread(node, attributes) or self._is_outside(node, attributes, names, main):
            return False
        self._note_missing_content(node, attributes, names)
        return True

    def _is_outside(
        self, node: LexborNode, attributes: _Attributes, names: str, main: LexborNode | None
    ) -> bool:
        """Return whether an element is outside of the content, such as navigation."""
        tag = node.tag or ""
        if tag in _MAIN or tag == "body":
            return False
        if tag in _FURNITURE and not (main is not None and tag in _OWN_HEADS):
            return True
        if (attributes.get("role") or "").lower() in _FURNITURE_ROLES:
            return True
        if main is not None or not _FURNITURE_NAMES.search(names):
            return False
        return node.css_first("main, article") is None

    def _note_missing_content(self, node: LexborNode, attributes: _Attributes, names: str) -> None:
        """Record the signs that scripts will fill an element."""
        tag = node.tag or ""
        if tag in _MEDIA:
            self._media += 1
        is_busy = (attributes.get("aria-busy") or "").lower() == "true"
        is_waiting = is_busy or (attributes.get("role") or "").lower() in _WAITING_ROLES
        if is_waiting or _WAITING_NAMES.search(names):
            self._waits = True
        if node.child is not None:
            return
        self.has_gap |= tag in _GAPS or _is_custom_element(node)
        if _is_main(node):
            self._has_empty_main = True
        elif _is_custom_element(node) or (tag in _CONTAINERS and attributes.get("id")):
            self._has_hole = True


_CONTAINERS = frozenset({"div", "section", "main", "article"})
_GAPS = _CONTAINERS | frozenset("p span ul ol dl tbody".split())
_MOST_NAMES = 400
"""Maximum characters of the class and id of an element that are searched."""


def _is_main(node: LexborNode) -> bool:
    return node.tag in _MAIN or node.attributes.get("role") == "main"


def readable_start(tree: LexborHTMLParser) -> str:
    """Return the first ``MAX_COUNTED`` visible characters without spaces."""
    return _start_of(tree.body, MAX_COUNTED) if tree.body else ""


def _start_of(root: LexborNode, most: int) -> str:
    pieces, length = [], 0
    for piece in _texts(root):
        pieces.append(piece)
        length += len(piece)
        if length >= most:
            break
    return "".join(pieces)[:most]


def _texts(root: LexborNode) -> Iterator[str]:
    """Yield the visible text nodes of an element, without spaces."""
    node: LexborNode | None = root.child
    while node is not None:
        if node.is_text_node:
            if text := "".join((node.text_content or "").split()):
                yield text
        elif (
            node.is_element_node
            and node.child is not None
            and not _is_unread(node, node.attributes)
        ):
            node = node.child
            continue
        node = _following(node, root)


def _following(node: LexborNode, root: LexborNode) -> LexborNode | None:
    """Return the next node after the subtree of this one."""
    while node.next is None:
        if node.parent is None or node.parent.mem_id == root.mem_id:
            return None
        node = node.parent
    return node.next


def _is_unread(node: LexborNode, attributes: _Attributes) -> bool:
    if node.tag in _UNREAD:
        return True
    style = (attributes.get("style") or "").replace(" ", "").lower()
    return "hidden" in attributes or "display:none" in style


def _has_scripts(tree: LexborHTMLParser) -> bool:
    if tree.body is not None and "onload" in tree.body.attributes:
        return True
    return any(not _DATA.search(node.attributes.get("type") or "") for node in tree.css("script"))


def _has_empty_custom_root(tree: LexborHTMLParser) -> bool:
    """Return whether the root of an application is a custom element, and empty."""
    return _is_any_empty(filter(_is_custom_element, tree.css("body > *, body > div > *")))


def _is_any_empty(nodes: Iterable[LexborNode]) -> bool:
    """Return whether an element has no more text than a placeholder."""
    return any(len(_start_of(node, _PLACEHOLDER)) < _PLACEHOLDER for node in nodes)


def _is_named_root(node: LexborNode) -> bool:
    return (node.attributes.get("id") or "").lower() in _ROOTS


def _is_custom_element(node: LexborNode) -> bool:
    """Return whether a node is an element whose name is not defined by HTML."""
    return node.is_element_node and (node.tag or "div") not in _HTML_ELEMENTS


def _asks_for_scripts(tree: LexborHTMLParser) -> bool:
    return any(
        _ASKS_FOR_SCRIPTS.search(node.text(deep=True) or "") for node in tree.css("noscript")
    )


_MAX_SEARCHED: Final = 128 << 10
"""Maximum characters of the source that are searched; error pages and bot walls are short."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Signature of a provider of bot walls or parked domains; title and source must match.

    Attributes:
        name: name of the provider.
        title, source: case-insensitive regular expressions; empty if not required.
    """

    name: str
    title: str = ""
    source: str = ""


def marked_by(marks: Iterable[Mark], tree: LexborHTMLParser, source: str, text: str) -> str:
    """Return the name of the first matching mark; empty if none matches.

    Args:
        marks: the marks to search for.
        tree: the tree of the page.
        source: the source of the page.
        text: the start of its text, from ``readable_start``. If it has ``MAX_COUNTED`` characters,
            no mark matches.
    """
    if len(text) >= MAX_COUNTED:
        return ""
    title = document_title(tree)
    start = source[:_MAX_SEARCHED]
    for each in marks:
        if re.search(each.title, title, re.IGNORECASE) and re.search(
            each.source, start, re.IGNORECASE
        ):
            return each.name
    return ""


_ERROR_TITLE: Final = re.compile(
    r"^\W*(?:error\W*)?(?:4(?:0[0134]|10|29)|50[0234])\W*"
    r"(?:$|[|\u2013\u2014-]|not found|error|forbidden|unauthorized|bad|gone|page|internal|service)"
    r"|\b(?:page|file|site|url) (?:was |is |could |cannot |can.t )?(?:not |be )+found\b"
    r"|^\W*(?:not found|access denied|forbidden|unauthorized|internal server error|bad gateway"
    r"|service (?:temporarily )?unavailable|gateway time-?out|too many requests"
    r"|(?:an )?error(?: occurred)?|database error|account suspended|domain (?:for sale|expired)"
    r"|seite nicht gefunden|page introuvable|p[aá]gina no encontrada"
    r"|strona nie (?:istnieje|została znaleziona))\W*(?:$|[|\u2013\u2014-])",
    re.IGNORECASE,
)
"""Titles of error pages; articles about errors have longer titles."""


def is_error(title: str, text: str) -> bool:
    """Return whether a page is an error page.

    Args:
        title: title of the page.
        text: the start of its text, from ``readable_start``; a page with much text is not an error
            page, regardless of its title.
    """
    return len(text) < MAX_COUNTED and _ERROR_TITLE.search(title) is not None


_SELLERS = r"hugedomains\.com|afternic\.com|\bdan\.com|sedo\.com|undeveloped\.com|efty\.com"
PARKED = (
    Mark("Sedo", source=r"[/.]sedoparking\.com/"),
    Mark("ParkingCrew", source=r"[/.]parkingcrew\.net/|d38psrni17bvxu\.cloudfront\.net"),
    Mark("Bodis", source=r"[/.]bodis\.com/|window\.park\s*=\s*[\"']"),
    Mark("ParkLogic", source=r"[/.]parklogic\.com/"),
    Mark("GoDaddy", source=r"location\.href\s*=\s*[\"']/lander|wsimg\.com/parking-lander"),
    Mark("a dealer in names", source=r"<html[^>]{0,400}\sdata-adblockkey="),
    Mark("a dealer in names", title=r"\bfor sale\b", source=_SELLERS),
)
"""Marks of parking services and of sellers of domains."""


_CHALLENGES: Final = (
    ("cf-mitigated", "challenge", "Cloudflare"),
    ("x-amzn-waf-action", "challenge", "AWS WAF"),
    ("x-amzn-waf-action", "captcha", "AWS WAF"),
    ("x-vercel-mitigated", "challenge", "Vercel"),
)
"""Response headers of bot walls: (header, value, provider)."""


WALLS = (
    Mark("Cloudflare", source=r"cf_chl_opt|cf-challenge-running"),
    Mark("Cloudflare", title=r"^Just a moment", source=r"challenge-platform|cf-|cloudflare"),
    Mark("Cloudflare", title=r"^Attention Required! \| Cloudflare"),
    Mark("DataDome", source=r"https?://(?:geo|ct|interstitial)\.captcha-delivery\.com"),
    Mark("DataDome", source=r"var dd\s*=\s*\{[^}]{0,400}captcha-delivery\.com"),
    Mark("HUMAN", source=r"id=[\"']?px-captcha|window\._pxMobileSdk|/px/captcha"),
    Mark("HUMAN", title=r"^Access to this page has been denied"),
    Mark("Akamai", title=r"^Access Denied", source=r"Reference\s*(?:#|&#35;|&#32;&#35;)\s*\d+\."),
    Mark("Akamai", source=r"id=[\"']?sec-if-cpt-container|[?&]bm-verify="),
    Mark("Imperva", source=r"<iframe[^>]{0,400}_Incapsula_Resource|Incapsula incident ID"),
    Mark("Imperva", title=r"^Pardon Our Interruption"),
    Mark("Kasada", source=r"KPSDK[^<]{0,2000}</script>\s*<script[^>]{0,400}/ips\.js"),
    Mark("Anubis", source=r"id=[\"']?anubis_challenge"),
    Mark("Sucuri", source=r"sucuri_cloudproxy_js"),
    Mark("AWS WAF", source=r"awsWafCookieDomainList|window\.gokuProps"),
)
"""Marks of bot walls."""


def wall_in_headers(headers: Sequence[tuple[str, str]]) -> str:
    """Return the provider of a bot wall according to the response's headers; empty for none.

    Args:
        headers: (name, value), names in lower case.
    """
    for name, value in headers:
        for header, challenge, guard in _CHALLENGES:
            if name == header and value.strip().lower() == challenge:
                return guard
    return ""
