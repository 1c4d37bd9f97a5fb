"""What stands around every handler, outermost first.

=========  ====================================================================================
metrics    counts what was answered
compress   makes answers smaller for whoever takes that
errors     turns an exception into a page, or under ``/api`` into the one JSON shape
host       refuses host names that are not ours (DNS rebinding)
auth       lets in who knows the password, once one is set
csrf       refuses unsafe requests that no page of ours sent
=========  ====================================================================================

``headers`` is a signal instead: it also reaches answers that stream and errors of the server.
"""

from archiver.web.health import measure
from archiver.web.middleware.auth import authenticate
from archiver.web.middleware.compress import compress
from archiver.web.middleware.csrf import guard_forms
from archiver.web.middleware.errors import ErrorPage, error_middleware
from archiver.web.middleware.headers import add_headers
from archiver.web.middleware.host import check_host

__all__ = [
    "ErrorPage",
    "add_headers",
    "authenticate",
    "check_host",
    "compress",
    "error_middleware",
    "guard_forms",
    "measure",
]
