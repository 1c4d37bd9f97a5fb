import ast
import gc
import re
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

import archiver
from archiver.patterns import _Late, late_pattern


def test_a_pattern_is_compiled_when_it_is_asked_for_something():
    wrong = late_pattern("(")

    with pytest.raises(re.error, match="unterminated"):
        wrong.match("a")


def test_a_late_pattern_finds_what_one_that_was_compiled_finds():
    words, compiled = late_pattern("[A-C]+", re.IGNORECASE), re.compile("[A-C]+", re.IGNORECASE)

    for _ in range(2):
        assert words.sub("-", "xbax") == compiled.sub("-", "xbax")
        assert words.findall("a xb") == compiled.findall("a xb")
        assert (words.pattern, words.flags) == (compiled.pattern, compiled.flags)


def test_every_pattern_of_ours_can_be_compiled():
    for module in walk_packages(archiver.__path__, "archiver."):
        import_module(module.name)
    gc.unfreeze()  # what is there since tests were collected is not told of
    ours = [each for each in gc.get_objects() if type(each) is _Late and each._given[0] != "("]

    assert len(ours) > 400
    for each in ours:
        assert each.groups >= 0


def test_no_module_compiles_a_pattern_while_it_is_imported():
    found = [
        f"{path}:{node.lineno}"
        for path in sorted(Path(archiver.__path__[0]).rglob("*.py"))
        for node in _run_at_import(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "re.compile"
    ]

    assert found == []


def _run_at_import(node):
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield each
            yield from _run_at_import(each)
