"""Python reads this when a test starts a process: files of links are read a few links at a time.

Each few are a transaction of their own, as thousands are where nobody says otherwise.
"""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_SET = {
    "archiver.formats.import_process": {"BATCH": 4},
}


class _Loader(Loader):
    def __init__(self, own: Loader) -> None:
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._own.exec_module(module)
        for name, value in _SET[module.__name__].items():
            assert hasattr(module, name)
            setattr(module, name, value)


class _Finder(MetaPathFinder):
    def find_spec(self, name, path=None, _target=None):
        found = PathFinder.find_spec(name, path) if name in _SET else None
        if found is not None:
            found.loader = _Loader(found.loader)
        return found


sys.meta_path.insert(0, _Finder())
