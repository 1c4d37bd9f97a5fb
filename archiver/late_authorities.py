"""The authorities that TLS trusts, read when TLS is first spoken.

aiohttp makes two contexts when it is imported, and reads all authorities of the system for each:
470 million instructions, a fifth of what a crawl takes to begin, and most commands that import it
speak to nobody or to one host.
"""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_WHERE = {"SSL_CERT_FILE": os.devnull, "SSL_CERT_DIR": os.devnull}
"""Where OpenSSL looks for authorities (SSL_CTX_load_verify_locations(3)): here are none."""


@contextmanager
def without_authorities() -> Iterator[None]:
    """Let contexts find no authorities that are made meanwhile; in the only thread."""
    before = {name: os.environ.get(name) for name in _WHERE}
    os.environ.update(_WHERE)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def read_when_used(module: ModuleType) -> None:
    """Let the contexts of a module, made without authorities, read them when they are used."""
    for value in vars(module).values():
        if type(value) is ssl.SSLContext:
            value.__class__ = LateContext


class LateContext(ssl.SSLContext):
    """A context that reads the authorities of the system once somebody speaks by it."""

    _has_read = False

    def wrap_bio(self, *args: Any, **kwargs: Any) -> ssl.SSLObject:
        """As every context, with all authorities."""
        self._read()
        return super().wrap_bio(*args, **kwargs)

    def wrap_socket(self, *args: Any, **kwargs: Any) -> ssl.SSLSocket:
        """As every context, with all authorities."""
        self._read()
        return super().wrap_socket(*args, **kwargs)

    def _read(self) -> None:
        if not self._has_read and self.verify_mode is not ssl.CERT_NONE:
            self.load_default_certs()
        self._has_read = True
