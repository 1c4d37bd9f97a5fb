"""What a child says of the pages that came with links is what the service hears."""

from hypothesis import given
from hypothesis import strategies as st

from archiver.derive.messages import PREFIX, PageOfSeed, pack_seeds, read_seeds
from archiver.model.kept_page import KeptPage, KeptPart

_parts = st.builds(KeptPart, st.text(), st.text(), st.binary())
_pages = st.builds(
    PageOfSeed,
    st.integers(0, 99),
    st.builds(KeptPage, st.binary(), st.text(), st.lists(_parts).map(tuple)),
    st.booleans(),
)


@given(st.lists(_pages))
def test_pages_come_with_all_their_bytes(pages):
    message = pack_seeds([], [], pages)

    assert read_seeds(message[PREFIX.size :]) == ([], [], pages)
