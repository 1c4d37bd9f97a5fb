"""What is asked for, and by whom, as far as the answer depends on it."""

from dataclasses import dataclass, replace

from archiver.model.capture import Capture
from archiver.replay.conditional_requests import UNCONDITIONAL, Conditions
from archiver.replay.protection import Viewer
from archiver.rewrite.address import PLAIN, Modifier, PathWriters
from archiver.rewrite.url_rewriter import UrlRewriter


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for, and by whom.

    Attributes:
        viewer: whoever asks.
        modifier: what the capture is taken for.
        paths: how the addresses in the answer are written.
        paths_end: whether the permissions in them are over soon.
        is_exact: whether the capture was asked for by its own URL and timestamp.
        conditions: of the request.
        is_head: whether only the head is asked for.
    """

    viewer: Viewer
    modifier: Modifier = Modifier.NONE
    paths: PathWriters = PLAIN
    paths_end: bool = False
    is_exact: bool = True
    conditions: Conditions = UNCONDITIONAL
    is_head: bool = False

    @property
    def page(self) -> Modifier:
        """What the pages are asked for as that the capture links to: within a frame, as framed."""
        return self.modifier if self.modifier is Modifier.FRAME else Modifier.NONE

    def links(self, capture: Capture) -> UrlRewriter:
        """Where the references of a capture's content lead."""
        return UrlRewriter(capture.url, capture.timestamp, page=self.page, paths=self.paths)

    def redirects(self, capture: Capture) -> UrlRewriter:
        """Where its header fields lead: a redirect's target is asked for as the redirect was."""
        paths = replace(self.paths, link=self.paths.redirect)
        return UrlRewriter(capture.url, capture.timestamp, page=self.modifier, paths=paths)
