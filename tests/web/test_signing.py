import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.errors import ConfigurationError
from archiver.web.signing import Signer, load_secret


def test_the_secret_is_created_once_and_private(tmp_path):
    data = tmp_path / "new" / "data"

    first, second = load_secret(data), load_secret(data)

    assert first == second
    assert len(first) == 32
    assert (data / "secret").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in data.iterdir()] == ["secret"]


def test_an_invalid_secret_file_is_rejected(tmp_path):
    (tmp_path / "secret").write_bytes(b"short")

    with pytest.raises(ConfigurationError, match="Delete it"):
        load_secret(tmp_path)


@given(st.text(), st.text())
def test_a_signature_is_valid_for_its_text_only(text, other):
    signer = Signer(b"s" * 32, "password")
    signature = signer.sign("session", text)

    assert signer.verifies("session", text, signature)
    assert signer.verifies("session", other, signature) == (text == other)
    assert not signer.verifies("form", text, signature)
    assert not Signer(b"s" * 32, None).verifies("session", text, signature)
    assert not Signer(b"t" * 32, "password").verifies("session", text, signature)
