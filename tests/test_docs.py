"""Settings, commands, routes, formats and files in the docs match the program."""

import re
from pathlib import Path

import pytest
from aiohttp.test_utils import TestServer

from archiver.app import open_app
from archiver.config import Settings
from archiver.formats.detection import IMPORTERS
from archiver.services.exports import EXPORTS
from archiver.web.app import build_app
from docs.generate import PAGES as GENERATED

ROOT = Path(__file__).parents[1]
FORMATS = ROOT / "docs" / "formats.md"
ADMINISTRATION = (ROOT / "docs" / "administration.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def data_patterns() -> list[re.Pattern[str]]:
    """Return the paths in the first column of the data directory's table."""
    table = ADMINISTRATION.split("## The data directory")[1].split("\n\n")[1]
    paths = [
        each for row in table.splitlines() for each in re.findall("`(.*?)`", row.split("|")[1])
    ]
    return [re.compile(re.sub(r"<\w+>|\\\*", "[^/]+", re.escape(each))) for each in paths]


@pytest.mark.parametrize("name", GENERATED)
def test_generated_reference_pages_are_current(name):
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == GENERATED[name]()


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.name)
def test_every_import_format_is_in_the_table_of_formats(importer):
    assert f"| {importer.name} | {importer.origin} |" in FORMATS.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", EXPORTS, ids=lambda kind: kind.key)
def test_every_export_form_is_in_the_table_of_forms(kind):
    row = f"| `{kind.key}` | {kind.name} | {kind.holds} |"

    assert row in FORMATS.read_text(encoding="utf-8")


async def test_every_file_of_the_data_directory_is_explained(tmp_path):
    known = data_patterns()

    async with (
        open_app(Settings(data=tmp_path, retries=0)) as runtime,
        TestServer(build_app(runtime)),
    ):
        await runtime.entries.save(["http://127.0.0.1:1/refused"], source="test")
        await runtime.crawling.work()
        files = [path for path in tmp_path.rglob("*") if path.is_file()]

    names = {path.relative_to(tmp_path).as_posix() for path in files}
    assert {name.split("/")[0] for name in names} >= {"archive.sqlite3", "run", "secret", "warc"}
    assert [name for name in names if not any(each.fullmatch(name) for each in known)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_in_the_docs_lead_to_existing_files(page):
    targets = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))

    missing = [each for each in targets if "://" not in each and not (page.parent / each).exists()]

    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_source_files_named_in_the_docs_exist(page):
    named = re.findall(
        r"`((?:archiver|templates|static|migrations|tests|docs|benchmarks|\.ci)/[\w./-]*)`",
        page.read_text(encoding="utf-8"),
    )

    assert [each for each in named if not (ROOT / each).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_sections_lead_to_headings(page):
    targets = re.findall(r"\]\(([^):#]*)#([^)]+)\)", page.read_text(encoding="utf-8"))

    missing = [
        f"{name}#{section}"
        for name, section in targets
        if section not in sections(page.parent / name if name else page)
    ]

    assert missing == []


def sections(page: Path) -> set[str]:
    """Anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}
