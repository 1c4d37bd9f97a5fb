"""Modules of others that are imported here and there, and run only where they are used.

SQLAlchemy imports ``importlib.metadata`` to look for plugins, asyncio imports ``ssl``: with what
they import in turn they are a tenth of what a short command takes, which looks for no plugin and
speaks no TLS. Such a module is there at once, in its own place and with its own ``__spec__``, and
empty; its code runs in it when somebody first asks it for something.

``importlib.util.LazyLoader`` does the same, but in Python 3.11 for the first ``import`` alone: the
second asks for ``__spec__``, which loads it.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # It loads what reads files of packages, and that tempfile, shutil and random.
    from importlib.abc import Loader
else:
    Loader = object

LAZY = frozenset(
    {"asyncio.sslproto", "difflib", "hashlib", "html", "importlib.metadata", "random", "secrets"}
    | {"sqlalchemy.dialects.sqlite.aiosqlite", "sqlalchemy.dialects.sqlite.pysqlcipher"}
    | {"ssl", "tokenize"}
)
"""None of them does anything that others see when it is imported."""


_MAKES_CONTEXTS = "aiohttp.connector"
"""Makes two contexts of TLS when it is imported."""


def load_lazily() -> None:
    """Let the modules of ``LAZY`` that nobody imported yet wait until they are used.

    So do the authorities that aiohttp trusts.
    """
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


class _Finder:
    """Finds modules of ``LAZY``, and what makes contexts, where Python does, and nothing else."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in LAZY and name != _MAKES_CONTEXTS:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec and spec.loader:
            spec.loader = _Later(spec.loader) if name in LAZY else _Trusting(spec.loader)
        return spec


class _Later(Loader):
    """Runs a module's code when the module is first asked for what it does not have."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._lock = RLock()
        self._is_begun = False

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        def missing(name: str) -> object:
            with self._lock:
                if not self._is_begun:
                    self._load(module)
                    module.__dict__.pop("__getattr__")
                elif module.__dict__.get("__getattr__") is missing:
                    # Its own code asks, half-way through.
                    raise AttributeError(name, name=name, obj=module)
            return getattr(module, name)

        module.__dict__["__getattr__"] = missing

    def _load(self, module: ModuleType) -> None:
        """Run its code; where that fails, whoever asks next is told why, too."""
        self._is_begun = True
        if module.__spec__:
            module.__spec__.loader = module.__loader__ = self._loader
        try:
            self._loader.exec_module(module)
        except BaseException:
            self._is_begun = False
            raise


class _Trusting(Loader):
    """Runs a module that makes contexts of TLS; who speaks by them first reads the authorities."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__:
            module.__spec__.loader = module.__loader__ = self._loader
        authorities = import_module("archiver.late_authorities")  # it loads ssl
        with authorities.without_authorities():
            self._loader.exec_module(module)
        authorities.read_when_used(module)
