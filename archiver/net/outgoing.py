"""A request on its way out: what the crawl asks for, or a browser that it drives."""

from dataclasses import dataclass

_OWN = frozenset({"none", "same-origin", "same-site"})


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request.

    Attributes:
        url: serialised http(s) URL without fragment.
        method: as RFC 9110 §9 has it.
        headers: (name, value) in order. Of a browser's request they are all there are.
        body: its content.
        is_browser: whether a browser says what the headers are, and how long it waits.
    """

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    is_browser: bool = False

    @property
    def page(self) -> str:
        """The page that needs what is asked for; empty for a page itself, and for a browser's."""
        return "" if self.is_browser else self._field("referer")

    @property
    def is_own_site(self) -> bool:
        """Whether no page of another site asks: of a browser's request it must itself say so.

        A page could otherwise have what is shown to a person sent to itself: the browser does not
        know of the cookies that are given beside it, and lets it read what is for everybody.
        """
        return not self.is_browser or self._field("sec-fetch-site") in _OWN

    def _field(self, wanted: str) -> str:
        return next((value for name, value in self.headers if name.lower() == wanted), "")
