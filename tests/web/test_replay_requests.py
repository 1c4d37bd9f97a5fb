import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.web.replay_requests import token_of, without_token


@pytest.mark.parametrize(
    ("target", "token", "rest"),
    [
        ("/web/2020/http://a/", None, "/web/2020/http://a/"),
        ("/web/~tok_en-1/2020/http://a/?b#c", "tok_en-1", "/web/2020/http://a/?b"),
        ("/web/~t/~t/2020/http://a/", "t", "/web/~t/2020/http://a/"),
        ("/web/~/2020/http://a/", None, "/web/~/2020/http://a/"),
        ("/web/~t%20/x", None, "/web/~t%20/x"),
        ("/web/http://a/~t/x", None, "/web/http://a/~t/x"),
        ("/%77eb/~t/http://a/", None, None),
        ("//web/~t/http://a/", None, None),
    ],
)
def test_an_access_token_is_separated_from_the_address(target, token, rest):
    assert token_of(target) == token
    assert without_token(target) == rest


@given(st.text(st.characters(exclude_characters="#")))
def test_a_path_without_token_keeps_the_whole_address(text):
    assert without_token(f"/web/2020/{text}") == f"/web/2020/{text}"
    assert without_token(f"/web/~t/2020/{text}") == f"/web/2020/{text}"
