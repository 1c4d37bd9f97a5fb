"""Addresses and passwords are read as PostgreSQL's own tools read them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import ConfigurationError
from archiver.index.dialect.postgres_address import (
    Address,
    is_one_place,
    password_of,
    read_address,
)

HERE = Address("me", "db.example.org", 5432, "links")
WORDS = st.text(alphabet="ab:\\*# ", min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("postgresql://me@db.example.org/links", HERE),
        (
            "postgresql://me@db.example.org:6543/links?sslmode=verify-full",
            Address("me", "db.example.org", 6543, "links", "verify-full"),
        ),
        ("postgresql://me@[::1]/links", Address("me", "::1", 5432, "links")),
        (
            "postgresql://me@/links?host=/var/run/postgresql",
            Address("me", "/var/run/postgresql", 5432, "links"),
        ),
        ("postgresql://m%40e@h/l%20s", Address("m@e", "h", 5432, "l s")),
    ],
)
def test_an_address_is_read(text, read):
    assert read_address(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "me@h/links?sslmode=perhaps",
        "me@h/links?sslcert=/x",
        "me@h/links?host=h&options=-c",
        "me@h:5x/links",
        "me@h:99999/links",
        "me@[::1/links",
    ],
)
def test_what_is_not_understood_of_an_address_is_said(text):
    with pytest.raises(ConfigurationError, match="ARCHIVER_INDEX should look like"):
        read_address(f"postgresql://{text}")
    assert not is_one_place(f"postgresql://{text}", "postgresql://me@h/links")


def escaped(word):
    return re.sub(r"([:\\])", r"\\\1", word)


@given(WORDS, st.lists(st.sampled_from(["*", "me", "you"]), max_size=3))
def test_a_password_is_found_in_the_first_line_that_fits(tmp_path_factory, password, users):
    path = tmp_path_factory.mktemp("home") / ".pgpass"
    lines = ["# a comment", "too:short", "other.example.org:*:*:*:no"]
    lines += [f"*:5432:links:{user}:{n}{escaped(password)}" for n, user in enumerate(users)]
    path.write_text("\n".join(lines))
    path.chmod(0o600)
    fitting = [f"{n}{password}" for n, user in enumerate(users) if user != "you"]

    assert password_of(HERE, {"PGPASSFILE": str(path)}) == (fitting or [""])[0]


def test_a_file_of_passwords_that_others_may_read_is_passed_over(tmp_path):
    path = tmp_path / ".pgpass"
    path.write_text("*:*:*:*:secret\n")
    path.chmod(0o600)
    own = password_of(HERE, {"HOME": str(tmp_path)})
    path.chmod(0o640)

    assert own == "secret"
    assert password_of(HERE, {"HOME": str(tmp_path)}) == ""
    assert password_of(HERE, {"HOME": str(tmp_path), "PGPASSWORD": "said"}) == "said"
