"""The yardstick of the house: small modules, small functions."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "archiver"
MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_is_longer_than_400_lines_and_no_function_than_40(path):
    text = path.read_text(encoding="utf-8")

    long = [
        f"{node.name}: {node.end_lineno - node.lineno + 1}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > 40
    ]

    assert text.count("\n") <= 400
    assert long == []
