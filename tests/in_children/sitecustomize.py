"""Python reads this when a test starts a process: there, too, a database stands for each file."""

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_CHOICE = "archiver.index.dialect.choice"


class _Loader(Loader):
    def __init__(self, own: Loader) -> None:
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module; only processes that come here open an index."""
        self._own.exec_module(module)
        module.engines_of = import_module("stand_in").engines_over(module.engines_of)


class _Finder(MetaPathFinder):
    def find_spec(self, name, path=None, _target=None):
        if name != _CHOICE or (found := PathFinder.find_spec(name, path)) is None:
            return None
        found.loader = _Loader(found.loader)
        return found


sys.meta_path.insert(0, _Finder())
