"""Python reads this when a test starts a process: servers stand for files there, too.

It imports next to nothing: what runs in such a process by itself is tested.
"""

import os
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_STAND_INS = {
    "archiver.helpers": ("ARCHIVER_TEST_BEGUN", "child_command", "copying", "commands_over"),
}
"""Of modules: the variable with which, what in it, and by whose which function it is replaced."""


class _Loader:
    def __init__(self, own) -> None:
        self._own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module; only processes that come here open an archive."""
        self._own.exec_module(module)
        _, name, place, over = _STAND_INS[module.__name__]
        setattr(module, name, getattr(import_module(place), over)(getattr(module, name)))


class _Finder:
    def find_spec(self, name, path=None, _target=None):
        if name not in _STAND_INS or _STAND_INS[name][0] not in os.environ:
            return None
        found = PathFinder.find_spec(name, path)
        if found is not None:
            found.loader = _Loader(found.loader)
        return found


sys.meta_path.insert(0, _Finder())
