"""Settings, commands, routes, formats and files in the docs match the program."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import click
from aiohttp.test_utils import TestServer

from archiver.app import open_app
from archiver.cli.main import cli
from archiver.config import SETTINGS, Settings, variable
from archiver.formats.detection import IMPORTERS
from archiver.model.export_kinds import EXPORTS
from archiver.web.app import build_app
from docs.generate import PAGES as GENERATED

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])


def data_patterns() -> list[re.Pattern[str]]:
    """Return the paths in the first column of the data directory's table."""
    page = (DOCS / "administration.md").read_text()
    table = page.split("## The data directory")[1].split("\n\n")[1]
    paths = [
        each for row in table.splitlines() for each in re.findall("`(.*?)`", row.split("|")[1])
    ]
    return [re.compile(re.sub(r"<\w+>|\\\*", "[^/]+", re.escape(each))) for each in paths]


def test_generated_reference_pages_are_current():
    stale = [name for name, make in GENERATED.items() if (DOCS / name).read_text() != make()]

    assert stale == []


def test_examples_in_docstrings_give_what_they_say():
    for path in (ROOT / "archiver").rglob("*.py"):
        if ">>> " in path.read_text():
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            assert doctest.testmod(import_module(name)).failed == 0, name


def test_formats_md_has_a_row_for_every_format():
    page = (DOCS / "formats.md").read_text()
    imports = [f"| {each.name} | {each.origin} |" for each in IMPORTERS]
    exports = [f"| `{each.key}` | {each.name} | {each.holds} |" for each in EXPORTS]

    assert [row for row in imports + exports if row not in page] == []


async def test_every_file_of_the_data_directory_is_explained(tmp_path):
    patterns = data_patterns()

    async with (
        open_app(Settings(data=tmp_path, retries=0)) as runtime,
        TestServer(build_app(runtime)),
    ):
        await runtime.entries.save(["http://127.0.0.1:1/refused"], source="test")
        await runtime.crawling.work()
        files = [path for path in tmp_path.rglob("*") if path.is_file()]

    names = {path.relative_to(tmp_path).as_posix() for path in files}
    assert {name.split("/")[0] for name in names} >= {"archive.sqlite3", "run", "secret", "warc"}
    assert [name for name in names if not any(each.fullmatch(name) for each in patterns)] == []


def test_links_in_the_docs_lead_to_existing_files_and_headings():
    broken = []
    for page in PAGES:
        for name, section in re.findall(r"\]\(([^):#]*)(?:#([^)]+))?\)", page.read_text()):
            target = page.parent / name if name else page
            if not target.exists() or (section and section not in sections(target)):
                broken.append(f"{page.name}: {name}#{section}")

    assert broken == []


def test_source_files_named_in_the_docs_exist():
    folders = r"`((?:archiver|templates|static|migrations|tests|docs|benchmarks|\.ci)/[\w./-]*)`"
    named = {(page.name, each) for page in PAGES for each in re.findall(folders, page.read_text())}

    assert [each for each in named if not (ROOT / each[1]).exists()] == []


def test_commands_flags_variables_and_make_targets_in_the_docs_exist():
    flags = {f"--{name.replace('_', '-')}" for name in SETTINGS}
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    known = {variable(name) for name in SETTINGS} | {f"make {each}" for each in targets}
    for name, command in cli.commands.items():
        known |= {name, *(f"{name} {each}" for each in (*flags, *options(command)))}
    unknown = set()
    for page in PAGES:
        text = page.read_text()
        code = re.findall(r"^```\w*\n(.*?)^```|`([^`\n]+)`", text, re.MULTILINE | re.DOTALL)
        named = set(re.findall(r"\bARCHIVER_[A-Z_]+[A-Z]", text))
        for line in "\n".join(map("".join, code)).splitlines():
            named |= {f"make {each}" for each in re.findall(r"(?:^|&& )make ([a-z][\w-]*)", line)}
            if call := re.match(r"(?:[A-Z]+=\S+ )*(?:\S*/)?archiver ([a-z]+)\b([^|#]*)", line):
                used = re.findall(r"(?<!\S)--[a-z][a-z-]*", call[2])
                named |= {call[1], *(f"{call[1]} {each}" for each in used)}
        unknown |= {(page.name, each) for each in named - known}

    assert unknown == set()


def options(command: click.Command) -> set[str]:
    """Return the options of a command and its subcommands."""
    own = {each for param in command.get_params(click.Context(command)) for each in param.opts}
    return own.union(*map(options, getattr(command, "commands", {}).values()))


def sections(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
