"""What commands need, loaded: all of the program but what its children are."""

from importlib import import_module
from pkgutil import walk_packages

import archiver

_OTHERS = (
    "archiver.pages.worker",
    "archiver.pages.image_drawing",
    "archiver.formats.import_worker",
    "archiver.cli.worker",
    "archiver.browser",
    "archiver.__main__",
)

for _each in walk_packages(archiver.__path__, "archiver."):
    if not _each.name.startswith(_OTHERS):
        import_module(_each.name)
