import pytest

from archiver.errors import ConfigurationError
from archiver.services.access import Access, Scope, Session, Token, read_access, write_access

FULL = Access(
    "scrypt$a$b",
    (Token("1", "Phone", Scope.ADD, "ab", 7, "2026-01-02"),),
    (Session("cd", "Firefox", 8, 9),),
)


def test_written_content_is_read():
    assert read_access(None, "access.json") == Access()
    assert read_access(write_access(FULL), "access.json") == FULL


@pytest.mark.parametrize(
    "held", [b"", b"[]", b"{}", b"\xff", b'{"password": 1, "tokens": [], "sessions": []}']
)
def test_invalid_content_is_refused_with_its_location(held):
    with pytest.raises(ConfigurationError, match=r"access\.json.*delete it"):
        read_access(held, "access.json")
