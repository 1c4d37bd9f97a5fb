"""Passwords, tokens and sessions in a real file."""

from base64 import b64decode
from hashlib import scrypt

import pytest

from archiver.errors import ConfigurationError, InputError
from archiver.services import access
from archiver.services.access import (
    MAX_SESSIONS,
    AccessControl,
    Scope,
    has_password,
    hash_password,
    is_password,
    read_access,
)
from archiver.services.user_files import ACCESS


@pytest.fixture
def control(tmp_path):
    return AccessControl(tmp_path, None)


async def test_a_password_locks_and_another_one_ends_every_session(control, tmp_path):
    assert not control.is_locked
    await control.set_password("a good pass phrase")
    session = await control.begin_session("Firefox")
    hung_on = control.password_version

    assert control.is_locked
    assert has_password(tmp_path)
    assert await control.is_password("a good pass phrase")
    assert await control.is_password("a good pass phrase")
    assert not await control.is_password("a bad pass phrase")
    assert await control.is_session(session)

    await control.set_password("another pass phrase")
    assert not await control.is_password("a good pass phrase")
    assert not await control.is_session(session)
    assert control.password_version != hung_on
    assert "pass phrase" not in (tmp_path / ACCESS).read_text()


async def test_a_password_from_the_settings_can_only_be_changed_there(tmp_path):
    control = AccessControl(tmp_path, "from the settings")

    assert await control.is_password("from the settings")
    for change in (control.set_password("something else"), control.remove_password()):
        with pytest.raises(InputError, match="when archiver was started"):
            await change


async def test_a_service_that_others_reach_stays_locked(tmp_path):
    control = AccessControl(tmp_path, None, "0.0.0.0")
    await control.set_password("a good pass phrase")
    with pytest.raises(InputError, match="needs a password"):
        await control.remove_password()

    await AccessControl(tmp_path, None).remove_password()
    reopened = AccessControl(tmp_path, None, "0.0.0.0")

    assert reopened.is_locked
    assert not await reopened.is_password("")


async def test_a_token_is_known_until_it_is_revoked(control, tmp_path):
    secret = await control.make_token(" My \n phone ", Scope.ADD)

    token = await control.token_of(secret)
    assert (token.name, token.scope) == ("My phone", Scope.ADD)
    assert control.tokens[0].used_on
    assert await control.token_of(secret + "x") is None
    assert secret not in (tmp_path / ACCESS).read_text()
    await control.revoke(token.id)
    assert await control.token_of(secret) is None
    with pytest.raises(InputError, match="name"):
        await control.make_token(" ", Scope.ALL)


async def test_sessions_are_listed_ended_and_bounded(control):
    mine, *other_sessions = [await control.begin_session(f"Browser {n}") for n in range(4)]
    session = control.session(mine)
    await control.end_session(control.session(other_sessions[0]).digest)
    assert [await control.is_session(each) for each in (mine, *other_sessions)] == [
        True,
        False,
        True,
        True,
    ]
    await control.end_other_sessions(session.digest)
    assert control.sessions == (session,)

    many = [await control.begin_session("x") for _ in range(MAX_SESSIONS)]
    assert len(control.sessions) == MAX_SESSIONS
    assert await control.is_session(many[-1])


async def test_changes_of_other_processes_are_noticed(control, tmp_path, monkeypatch):
    monkeypatch.setattr(access, "POLL_SECONDS", 0)
    await AccessControl(tmp_path, None).set_password("a good pass phrase")
    assert not control.is_locked
    await control.refresh()
    assert control.is_locked

    (tmp_path / ACCESS).write_text("{")
    await control.refresh()
    assert await control.is_password("a good pass phrase"), "what can't be read changes nothing"


async def test_sessions_expire(control, tmp_path, monkeypatch):
    session = await control.begin_session("x")
    monkeypatch.setattr(access, "SESSION_SECONDS", 0)
    assert not await control.is_session(session)
    assert read_access((tmp_path / ACCESS).read_bytes(), ACCESS).sessions


async def test_a_password_with_control_characters_is_refused_with_the_reason(control):
    for typed in ("a good\tpass phrase", "two lines\nof it", "a bell \a rings"):
        with pytest.raises(InputError, match=r"control characters.*Remove these"):
            await control.set_password(typed)
        assert not control.is_locked, typed

    await control.set_password("päss 👨‍👩‍👧\u00a0phrase")
    assert await control.is_password("päss 👨‍👩‍👧\u00a0phrase")


def test_invalid_content_is_refused_with_its_location():
    for contents in (b"", b"[]", b"{}", b"\xff", b'{"password": 1, "tokens": [], "sessions": []}'):
        with pytest.raises(ConfigurationError, match=r"access\.json.*delete it"):
            read_access(contents, "access.json")


def test_only_a_salted_scrypt_hash_is_stored():
    one, other = hash_password("heron é"), hash_password("heron é")

    assert one != other
    name, salt, key = one.split("$")
    expected = scrypt(
        "heron é".encode(), salt=b64decode(salt), n=32768, r=8, p=1, maxmem=1 << 26, dklen=32
    )
    assert (name, b64decode(key)) == ("scrypt", expected)
    assert is_password("heron é", one)
    assert not is_password("heron e", one)
