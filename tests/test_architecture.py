"""Rules about the source that no linter checks."""

import ast
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "archiver"
MODULES = sorted(PACKAGE.rglob("*.py"))


ENGINE_MODULES = [
    PACKAGE / "db" / name
    for name in (
        "dialects.py",
        "full_text.py",
        "schema.py",
        "schema_version.py",
        "statements.py",
    )
]
ENGINES = ("engine.py", "postgresql.py")
WHICH_ENGINE = re.compile(
    r"dialect\.name\b|[!=]= ?[\"'](postgresql|sqlite)\b|[\"'](postgresql|sqlite)[\"'] [!=]="
    r"|isinstance\([^)]*(Postgres|Sqlite)|\bdialect(\.| import )(postgres|sqlite)"
)


def test_only_the_database_layer_depends_on_the_engine():
    asking = [
        str(path.relative_to(PACKAGE))
        for path in MODULES
        if path not in ENGINE_MODULES
        and path.name not in ENGINES
        and WHICH_ENGINE.search(path.read_text(encoding="utf-8"))
    ]

    assert asking == []


PACKAGES = [path for path in MODULES if path.stem == "__init__"]


def test_names_in_docstrings_of_packages_exist():
    for path in PACKAGES:
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        named = set(re.findall(r"``([A-Za-z]\w+)``", docstring))
        assert named <= defined_names(), path.parent.name


@cache
def defined_names():
    """Return the names of all modules, classes and functions of the program."""
    definition = re.compile(r"^\s*(?:async )?(?:class|def) (\w+)", re.MULTILINE)
    texts = [path.read_text(encoding="utf-8") for path in MODULES]
    names = {name for text in texts for name in definition.findall(text)}
    return names | {path.stem for path in MODULES} | {path.parent.name for path in MODULES}


SURPRISES = re.compile(
    r"sys\.meta_path|os\.exec[lv]\w*\(sys\.executable|\bexec\(|\.__class__ = "
    r"|setattr\([^)]*[\"']_[a-z]|importlib\.(abc|machinery)"
)
FACTORY = re.compile("_factory")
"""The only exception: aiohttp has no public way to set the protocol class for responses."""


def test_no_module_hooks_imports_or_builds_code_from_text():
    results = [
        f"{path.relative_to(PACKAGE)}: {line.strip()}"
        for path in MODULES
        for line in path.read_text(encoding="utf-8").splitlines()
        if SURPRISES.search(line)
        and (path.stem, "_factory") != ("connections", *FACTORY.findall(line))
    ]

    assert results == []
