"""What children that read pages and files need, loaded as far as reading some loads it."""

import archiver.formats.import_worker
import archiver.pages.image_drawing
import archiver.pages.worker  # noqa: F401
from archiver.pages.worker import perform
from archiver.pages.worker_messages import Document, Task

_PAGE = b"<title>A page</title><article><p>" + b"It has some words. " * 40 + b"</article>"
for _task in (Task.DISCOVER, Task.EXTRACT):
    perform(_task, Document(_PAGE, "text/html", "", "http://site.test/"), 10)
