"""Any received text can be written again."""

from hypothesis import example, given
from hypothesis import strategies as st

from archiver.helpers import well_formed


@given(st.text(st.characters()))
@example("a\ud800\udfffb")
def test_any_text_can_be_written(text):
    written = well_formed(text)

    written.encode()
    assert len(written) == len(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_valid_text_is_unchanged(text):
    assert well_formed(text) == text
