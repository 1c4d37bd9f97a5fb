"""What is kept of statements: for others of the same version, and for nobody if it is damaged."""

import json
import shutil
from binascii import crc32
from pathlib import Path
from typing import Any

import pytest

from archiver.index import core
from archiver.index.core.kept import FILE, MOST_BYTES, MOST_RECIPES, KeptRecipes, version
from archiver.index.core.recipe import CONSTANT, GIVEN, VALUE, Parameter, Recipe, read

RECIPE = Recipe(
    "SELECT ?, ?, ? AS it",
    (
        Parameter(CONSTANT, None, ""),
        Parameter(VALUE, 0, "list"),
        Parameter(GIVEN, "beyond", ""),
    ),
    ("a", "b", "it"),
    ("", "json", "bool"),
)


def keep(directory: Path, **recipes: Recipe) -> None:
    kept = KeptRecipes(directory)
    for text, recipe in recipes.items():
        kept.put(text, recipe)
    kept.save()


def test_what_is_kept_is_there_for_the_next_process(tmp_path: Path) -> None:
    keep(tmp_path, one=RECIPE)

    found = KeptRecipes(tmp_path).get("one")

    assert found == RECIPE._replace(is_kept=True)
    assert found.bound([[1, 2]], {"beyond": "x"}) == [None, "[1, 2]", "x"]
    assert KeptRecipes(tmp_path).get("other") is None


def test_what_two_processes_keep_at_once_is_kept_of_both(tmp_path: Path) -> None:
    one, other = KeptRecipes(tmp_path), KeptRecipes(tmp_path)
    one.put("one", RECIPE)
    other.put("other", RECIPE)

    one.save()
    other.save()

    found = KeptRecipes(tmp_path)
    assert found.get("one") == found.get("other") is not None


def write(directory: Path, content: Any) -> None:
    written = json.dumps(content).encode()
    (directory / FILE).write_bytes(b"%08x\n" % crc32(written) + written)


@pytest.mark.parametrize(
    "recipe",
    [
        ["DELETE FROM entry", [], [], []],
        ["PRAGMA query_only = OFF", [], [], []],
        ["SELECT ?", [["value", -1, ""]], [], []],
        ["SELECT ?", [["value", True, ""]], [], []],
        ["SELECT ?", [["constant", ["x"], ""]], [], []],
        ["SELECT ?", [["given", 1, ""]], [], []],
        ["SELECT ?", [["else", 1, ""]], [], []],
        ["SELECT ?", [[["else"], 1, ""]], [], []],
        ["SELECT ?", [["value", 0, "eval"]], [], []],
        ["SELECT ?", [["value", 0, ["list"]]], [], []],
        ["SELECT 1", [], [1], [""]],
        ["SELECT 1", [], ["a"], ["eval"]],
        ["SELECT 1", [], ["a"], [["json"]]],
        ["SELECT 1", []],
        [1, [], [], []],
        {"sql": "SELECT 1"},
        None,
        7,
    ],
)
def test_a_recipe_that_we_would_not_write_is_none(tmp_path: Path, recipe: Any) -> None:
    write(tmp_path, [version(), {"one": recipe, "two": RECIPE.written()}])

    kept = KeptRecipes(tmp_path)

    assert kept.get("one") is None
    assert kept.get("two") is not None


@pytest.mark.parametrize(
    "content", [[], [1], {}, {"a": 1, "b": 2}, 7, None, [[1], {}], [[1], {"one": 1}, 3]]
)
def test_a_file_of_another_make_is_none(tmp_path: Path, content: Any) -> None:
    write(tmp_path, content)

    keep(tmp_path, one=RECIPE)

    assert KeptRecipes(tmp_path).get("one") is not None


def test_a_file_with_any_bit_of_it_damaged_is_none(tmp_path: Path) -> None:
    keep(tmp_path, one=RECIPE)
    whole = (tmp_path / FILE).read_bytes()

    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 1
        (tmp_path / FILE).write_bytes(damaged)
        assert KeptRecipes(tmp_path).get("one") is None
    (tmp_path / FILE).write_bytes(whole[:-1])
    assert KeptRecipes(tmp_path).get("one") is None


@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"[" * 100_000, b" " * (MOST_BYTES + 1)])
def test_a_file_that_is_no_such_file_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(b"%08x\n" % crc32(content) + content)

    assert KeptRecipes(tmp_path).get("one") is None


def test_where_nothing_can_be_read_or_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / FILE / "in the way").mkdir(parents=True)

    keep(tmp_path, one=RECIPE)
    keep(tmp_path / "missing", one=RECIPE)

    assert KeptRecipes(tmp_path).get("one") is None
    assert [each.name for each in tmp_path.iterdir()] == [FILE]


def test_it_holds_so_many_and_so_much_and_no_more(tmp_path: Path) -> None:
    keep(tmp_path, **{f"n{number}": RECIPE for number in range(MOST_RECIPES)})
    full = (tmp_path / FILE).stat().st_size

    keep(tmp_path, more=RECIPE)

    assert (tmp_path / FILE).stat().st_size < full < MOST_BYTES
    assert KeptRecipes(tmp_path).get("more") is not None
    keep(tmp_path, long=RECIPE._replace(sql=f"SELECT '{'x' * MOST_BYTES}'"))
    assert KeptRecipes(tmp_path).get("long") is None
    assert KeptRecipes(tmp_path).get("more") is not None


def test_another_module_of_the_index_is_another_version(tmp_path: Path) -> None:
    index = Path(core.__file__).parents[1]
    own = tmp_path / "index"
    shutil.copytree(index, own)
    before = version(own)

    for place in ("owners.py", "core/spelling.py", "dialect/sqlite.py"):
        with (own / place).open("a") as module:
            module.write("\n")
        after = version(own)
        assert after != before
        before = after
    (own / "another.py").touch()
    assert version(own) != before == after
    assert version() == version()


def test_modules_that_are_compiled_alone_are_told_apart_too(tmp_path: Path) -> None:
    for folder in ("core", "dialect"):
        (tmp_path / folder).mkdir()
    (tmp_path / "core" / "spelling.pyc").write_bytes(b"one")
    before = version(tmp_path)

    (tmp_path / "core" / "spelling.pyc").write_bytes(b"another")

    assert version(tmp_path) != before


def test_where_modules_are_no_files_nothing_is_kept(tmp_path: Path) -> None:
    for _ in range(2):
        kept = KeptRecipes(tmp_path, tmp_path / "archiver.zip" / "index")
        assert kept.get("one") is None
        kept.put("one", RECIPE)
        kept.save()

    assert [*tmp_path.iterdir()] == []


def test_a_value_that_json_can_not_hold_is_not_kept() -> None:
    for parameter in (Parameter(CONSTANT, b"x", ""), Parameter(VALUE, 0, repr)):
        assert not RECIPE._replace(parameters=(parameter,)).is_lasting()
    assert not RECIPE._replace(readers=(repr, "", "")).is_lasting()
    assert RECIPE.is_lasting()
    assert read(RECIPE.written()).is_kept
