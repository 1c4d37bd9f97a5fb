from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from archiver.access.file import NAME, AccessFile
from archiver.errors import ConfigurationError
from archiver.model.access import Access, Scope, Session, Token

TOKEN = Token("1", "Phone", Scope.ADD, "ab", 7, "2026-01-02")
FULL = Access("scrypt$a$b", (TOKEN,), (Session("cd", "Firefox", 8, 9),))


def test_what_was_written_is_read_and_its_owner_s_alone(tmp_path):
    file = AccessFile(tmp_path / "data")
    assert file.look() == (Access(), None)

    file.change(lambda _: FULL)

    assert file.read() == FULL
    assert (tmp_path / "data" / NAME).stat().st_mode & 0o777 == 0o600


def test_of_changes_at_once_none_is_lost(tmp_path):
    file = AccessFile(tmp_path)

    def add(number):
        token = replace(TOKEN, id=str(number))
        AccessFile(tmp_path).change(lambda a: replace(a, tokens=(*a.tokens, token)))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(add, range(40)))

    assert sorted(int(each.id) for each in file.read().tokens) == [*range(40)]
    assert {each.name for each in tmp_path.iterdir()} == {NAME, "access.lock"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"password": 1, "tokens": [], "sessions": []}'])
def test_what_is_not_ours_is_refused_in_words(tmp_path, text):
    (tmp_path / NAME).write_text(text)

    with pytest.raises(ConfigurationError, match="delete it"):
        AccessFile(tmp_path).read()
