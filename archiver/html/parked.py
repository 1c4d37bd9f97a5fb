"""Parked domains: what a dealer in names shows in the place of the site that is gone. Pure."""

from selectolax.lexbor import LexborHTMLParser

from archiver.html.marks import Mark, marked_by

_SELLERS = r"hugedomains\.com|afternic\.com|\bdan\.com|sedo\.com|undeveloped\.com|efty\.com"
_MARKS = (
    Mark("Sedo", source=r"[/.]sedoparking\.com/"),
    Mark("ParkingCrew", source=r"[/.]parkingcrew\.net/|d38psrni17bvxu\.cloudfront\.net"),
    Mark("Bodis", source=r"[/.]bodis\.com/|window\.park\s*=\s*[\"']"),
    Mark("ParkLogic", source=r"[/.]parklogic\.com/"),
    Mark("GoDaddy", source=r"location\.href\s*=\s*[\"']/lander|wsimg\.com/parking-lander"),
    Mark("a dealer in names", source=r"<html[^>]{0,400}\sdata-adblockkey="),
    Mark("a dealer in names", title=r"\bfor sale\b", source=_SELLERS),
)


def parked_by(tree: LexborHTMLParser, source: str, text: str) -> str:
    """Who sells the domain that a page stands on; empty for a page.

    Args:
        tree: of the page.
        source: of the page.
        text: the start of what can be read of it, as ``signals.readable_start`` gives it.
    """
    return marked_by(_MARKS, tree, source, text)
