"""Messages about links and their pages survive the transfer from child to service."""

from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import Decoder

from archiver.formats.import_process import Batch, FileSeed, PageOfSeed
from archiver.model.annotation import Annotation, Colour, Highlight
from archiver.model.entry_list import EntryList, ListsInFile
from archiver.model.imports import Rejected
from archiver.model.seed import ArchivedPage, ArchivedPart, Seed
from archiver.pages.worker_messages import PREFIX, pack

_text = st.text(st.characters(exclude_categories=["Cs"]))
_moments = st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(microsecond=0))
_parts = st.builds(ArchivedPart, _text, _text, st.binary())
_pages = st.builds(
    PageOfSeed,
    st.integers(0, 99),
    st.builds(ArchivedPage, st.binary(), _text, st.lists(_parts).map(tuple)),
    st.booleans(),
)
_highlights = st.builds(
    Highlight,
    id=st.from_regex(r"[0-9a-f]{16}", fullmatch=True),
    quote=st.text("aé ", min_size=1),
    colour=st.sampled_from(Colour),
    note=st.text("aé "),
    made_at=_moments,
)
_annotations = st.builds(
    Annotation,
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.none() | _moments,
    title=_text,
    tags=st.lists(_text).map(tuple),
    note=_text,
    source=_text,
    is_read=st.booleans(),
    is_starred=st.booleans(),
    folders=st.lists(_text).map(tuple),
    places=st.lists(st.integers(0, 1 << 61)).map(tuple),
    source_record=_text,
    highlights=st.lists(_highlights, max_size=2).map(tuple),
)
_seeds = st.builds(
    FileSeed, st.integers(1, 1 << 40), st.builds(Seed, _text, _text, _text, _annotations)
)
_batches = st.builds(
    Batch,
    st.lists(_seeds, max_size=3),
    st.lists(st.builds(Rejected, _text, _text, st.integers(1, 1 << 40), st.booleans()), max_size=3),
    st.lists(_pages, max_size=3),
    st.just(ListsInFile((EntryList("A/B"), EntryList("C", "fox")), left_out=3)),
    st.just((-1, 1 << 40)),
)


@given(_batches)
def test_a_batch_is_read_back_unchanged(batch):
    assert Decoder(Batch).decode(pack(batch)[PREFIX.size :]) == batch
