"""Texts of pages in each language: complete, and in correct typography."""

import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

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


def test_every_catalogue_has_exactly_the_texts_of_the_source(tmp_path):
    shutil.copy(helpers.LOCALES / "de.po", tmp_path)

    subprocess.run([ROOT / ".ci" / "texts", Path(sys.executable).parent, tmp_path], check=True)

    extracted = {(each.context, each.id) for each in texts(read(tmp_path / "de.po"))}
    for path in helpers.LOCALES.glob("*.po"):
        assert {(each.context, each.id) for each in texts(read(path))} == extracted


def test_every_text_is_translated_into_every_language():
    assert {path.stem for path in helpers.LOCALES.iterdir()} == {each.locale for each in OTHERS}
    for language in OTHERS:
        catalogue = read(helpers.LOCALES / f"{language.locale}.po")
        for each in texts(catalogue):
            translated, source = forms(each.string), forms(each.id)
            assert all(translated), each.id
            assert not each.fuzzy, each.id
            assert len(translated) == (catalogue.num_plurals if each.pluralizable else 1), each.id
            for form in translated:
                assert places(form) == places(source[-1]), form
                assert '"' not in PLACES.sub("", form), f"not safe in an attribute: {form}"


def test_accessible_names_of_buttons_contain_their_visible_label():
    """WCAG 2.2 §2.5.3."""
    buttons = [
        each
        for path in helpers.TEMPLATES.rglob("*.html")
        for each in BUTTON.findall(path.read_text())
    ]
    assert len(buttons) > 5
    for wording in wordings().values():
        for name, shown in buttons:
            accessible = wording.gettext(name, name="…").casefold()
            assert wording.gettext(shown).casefold() in accessible, (name, shown)


def test_dates_and_numbers_are_formatted_by_language():
    for tag, moment, number, size in (
        ("en", "5 Mar 2019, 07:08 UTC", "12,345", "1.4 MB"),
        ("de", "5. März 2019, 07:08 UTC", "12.345", "1,4 MB"),
        ("fr", "5 mars 2019, 07:08 UTC", "12\u202f345", "1,4 Mo"),
        ("es", "5 mar 2019, 7:08 UTC", "12.345", "1,4 MB"),
        ("zh-Hans", "2019年3月5日 07:08 UTC", "12,345", "1.4 MB"),
    ):
        wording = wordings()[tag]
        assert wording.moment(datetime(2019, 3, 5, 7, 8, tzinfo=UTC)) == moment
        assert wording.number(12_345) == number
        assert wording.size(1_400_000) == size


def test_values_of_a_message_are_formatted_and_not_interpreted():
    count = counted("{count} page", "{count} pages", count=1_200)

    assert str(Said("{a} and {b}", a=count, b="{c}")) == "1,200 pages and {c}"
    assert str(Said("{braces} alone")) == "{braces} alone"


def test_values_in_template_texts_are_escaped():
    wording = wordings()["de"]

    assert wording.gettext("Revoke “%(name)s”", name="<b>") == "„&lt;b&gt;“ widerrufen"


def test_the_preferred_supported_language_is_chosen():
    for header, tag in (
        ("", ""),
        ("de", "de"),
        ("de-CH,de;q=0.9,en;q=0.8", "de"),
        ("pt-BR,zh-CN;q=0.8,en;q=0.5", "zh-Hans"),
        ("en;q=0.2, FR;q=0.7", "fr"),
        ("es;q=0, *", ""),
        ("de;q=nan,fr;q=2,es;q=x", ""),
    ):
        assert preferred_language(header) == tag, header
