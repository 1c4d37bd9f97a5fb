"""Texts of pages in each language: complete, and in correct typography."""

import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from archiver import helpers
from archiver.model.language import ENGLISH, LANGUAGES
from archiver.model.message import Message as Said
from archiver.model.message import counted
from archiver.web.wording import preferred_language, wordings

ROOT = Path(__file__).parents[2]
OTHERS = [each for each in LANGUAGES if each is not ENGLISH]
BUTTON = re.compile(r"""aria-label="{{ _\('([^']+)'[^}]*}}">{{ _\('([^']+)'\) }}""")
PLACES = re.compile(r"%\(\w+\)s|%%|\{\w+\}|</?[a-z][^<>]*>")


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.stem)


def texts(catalogue: Catalog) -> list[Message]:
    return [each for each in catalogue if each.id]


def forms(text: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


def places(text: str) -> list[str]:
    return sorted(PLACES.findall(text))


def test_every_text_of_the_source_and_no_other_stands_in_every_catalogue(tmp_path):
    for path in helpers.LOCALES.glob("*.po"):
        shutil.copy(path, tmp_path)

    subprocess.run([ROOT / ".ci" / "texts", Path(sys.executable).parent, tmp_path], check=True)

    for path in helpers.LOCALES.glob("*.po"):
        known = {(each.context, each.id) for each in texts(read(path))}
        assert {(each.context, each.id) for each in texts(read(tmp_path / path.name))} == known


@pytest.mark.parametrize("language", OTHERS, ids=lambda each: each.tag)
def test_every_text_is_translated_whole(language):
    catalogue = read(helpers.LOCALES / f"{language.locale}.po")

    for each in texts(catalogue):
        said, source = forms(each.string), forms(each.id)
        assert all(said), each.id
        assert not each.fuzzy, each.id
        assert len(said) == (catalogue.num_plurals if each.pluralizable else 1), each.id
        for form in said:
            assert places(form) == places(source[-1]), form
            assert '"' not in PLACES.sub("", form), f"it may stand in an attribute: {form}"


def test_there_is_a_catalogue_for_each_language_but_the_one_of_the_source():
    assert sorted(path.stem for path in helpers.LOCALES.iterdir()) == sorted(
        each.locale for each in OTHERS
    )


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda each: each.tag)
def test_whoever_says_what_a_button_shows_finds_it_by_its_name(language):
    """WCAG 2.2 §2.5.3: accessible names contain the visible label."""
    wording = wordings()[language.tag]
    buttons = [
        each
        for path in helpers.TEMPLATES.rglob("*.html")
        for each in BUTTON.findall(path.read_text())
    ]

    assert len(buttons) > 5
    for name, shown in buttons:
        said = wording.gettext(name, name="…").casefold()
        assert wording.gettext(shown).casefold() in said, (name, shown)


@pytest.mark.parametrize(
    ("tag", "moment", "number", "size"),
    [
        ("en", "5 Mar 2019, 07:08 UTC", "12,345", "1.4 MB"),
        ("de", "5. März 2019, 07:08 UTC", "12.345", "1,4 MB"),
        ("fr", "5 mars 2019, 07:08 UTC", "12\u202f345", "1,4 Mo"),
        ("es", "5 mar 2019, 7:08 UTC", "12.345", "1,4 MB"),
        ("zh-Hans", "2019年3月5日 07:08 UTC", "12,345", "1.4 MB"),
    ],
)
def test_dates_and_numbers_are_written_as_the_language_does(tag, moment, number, size):
    wording = wordings()[tag]

    assert wording.moment(datetime(2019, 3, 5, 7, 8, tzinfo=UTC)) == moment
    assert wording.number(12_345) == number
    assert wording.size(1_400_000) == size


def test_a_message_is_said_with_its_numbers_and_other_messages_in_it():
    said = counted("{count} page", "{count} pages", count=1_200)

    assert str(Said("{a} and {b}", a=said, b="{c}")) == "1,200 pages and {c}"
    assert str(Said("{braces} alone")) == "{braces} alone"


def test_what_goes_into_a_text_of_a_page_is_escaped():
    wording = wordings()["de"]

    assert wording.gettext("Revoke “%(name)s”", name="<b>") == "„&lt;b&gt;“ widerrufen"


@pytest.mark.parametrize(
    ("header", "tag"),
    [
        ("", ""),
        ("de", "de"),
        ("de-CH,de;q=0.9,en;q=0.8", "de"),
        ("pt-BR,zh-CN;q=0.8,en;q=0.5", "zh-Hans"),
        ("en;q=0.2, FR;q=0.7", "fr"),
        ("es;q=0, *", ""),
        ("de;q=nan,fr;q=2,es;q=x", ""),
    ],
)
def test_the_language_that_is_wanted_most_is_taken(header, tag):
    assert preferred_language(header) == tag
