"""A request on its way out: what the crawl asks for, or a browser that it drives."""

from dataclasses import dataclass

_OWN = frozenset({"none", "same-origin", "same-site"})


def led_on(led_by: frozenset[str], hosts: frozenset[str]) -> frozenset[str]:
    """The hosts that lead to a request once these do, too; what nobody asked for stays so.

    >>> led_on(frozenset(), frozenset({"a.example"}))
    frozenset()
    """
    return led_by | hosts if led_by else led_by


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request.

    Attributes:
        url: serialised http(s) URL without fragment.
        method: as RFC 9110 §9 has it.
        headers: (name, value) in order. Of a browser's request they are all there are.
        body: its content.
        is_browser: whether a browser says what the headers are, and how long it waits.
        led_by: the hosts that led to it, from the one that a person asked for a page: what of their
            cookies goes with it hangs on all of them. Empty where nobody's cookies are to go.
    """

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    is_browser: bool = False
    led_by: frozenset[str] = frozenset()

    @property
    def is_own_site(self) -> bool:
        """Whether no page of another site asks: a browser's request must itself say so.

        A page could otherwise have what is shown to a person sent to itself: the browser does not
        know of the cookies that are given beside it, and lets it read what is for everybody.
        """
        return self._site in _OWN

    @property
    def is_navigation(self) -> bool:
        """Whether the browser's own address leads there, or a redirect from it: no page does."""
        return self._site == "none"

    @property
    def _site(self) -> str:
        wanted = "sec-fetch-site"
        return next((value for name, value in self.headers if name.lower() == wanted), "")
