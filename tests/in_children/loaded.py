"""What children that read pages and files need, loaded as far as reading some loads it."""

import archiver.derive.drawing
import archiver.derive.link_file_worker
import archiver.derive.worker  # noqa: F401
from archiver.derive.messages import Document, Task
from archiver.derive.work import perform

_PAGE = b"<title>A page</title><article><p>" + b"It has some words. " * 40 + b"</article>"
for _task in (Task.DISCOVER, Task.EXTRACT):
    perform(_task, Document(_PAGE, "text/html", "", "http://site.test/"), 10)
