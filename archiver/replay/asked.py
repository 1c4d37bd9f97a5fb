"""What is asked for, and by whom, as far as the answer depends on it."""

from dataclasses import dataclass

from archiver.model.capture import Capture
from archiver.replay.conditions import UNCONDITIONAL, Conditions
from archiver.replay.protection import Viewer
from archiver.rewrite.address import PREFIX, Modifier
from archiver.rewrite.url_rewriter import UrlRewriter


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for, and by whom.

    Attributes:
        viewer: whoever asks.
        modifier: what the capture is taken for.
        prefix: path under which rewritten links lie, such as ``/web/~capability``.
        frame_prefix: the same for frames.
        is_exact: whether the capture was asked for by its own URL and timestamp.
        conditions: of the request.
        is_head: whether only the head is asked for.
    """

    viewer: Viewer
    modifier: Modifier = Modifier.NONE
    prefix: str = PREFIX
    frame_prefix: str = PREFIX
    is_exact: bool = True
    conditions: Conditions = UNCONDITIONAL
    is_head: bool = False

    @property
    def page(self) -> Modifier:
        """What the pages are asked for as that the capture links to: within a frame, as framed."""
        return self.modifier if self.modifier is Modifier.FRAME else Modifier.NONE

    def links(self, capture: Capture, *, page: Modifier) -> UrlRewriter:
        """Where references of a capture lead; what it links to is asked for as ``page``."""
        return UrlRewriter(
            capture.url,
            capture.timestamp,
            page=page,
            prefix=self.prefix,
            frame_prefix=self.frame_prefix,
        )
