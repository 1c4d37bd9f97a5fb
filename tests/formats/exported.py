"""Strategies for entries with arbitrary metadata, to be written and read."""

from dataclasses import fields, replace
from datetime import UTC, datetime

from hypothesis import strategies as st

from archiver.formats.list_writer import Heading
from archiver.formats.seeds import bounded, seed_of
from archiver.http.text_decoders import well_formed
from archiver.model.annotation import Annotation, Colour, Highlight, write_source_record
from archiver.model.capture import HashUrl
from archiver.model.entry import Entry, ExportedEntry
from archiver.model.entry_list import folder_path
from archiver.model.job import State

HEADING = Heading("Everything", datetime(2026, 1, 2, tzinfo=UTC))
AT = datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)
HOSTILE = (
    "</DL><p>\n<DT><A HREF='https://evil.example/'>",
    "</A>",
    '=HYPERLINK("https://evil.example/")',
    "'=1+1",
    "'",
    "@SUM(A1)",
    "\uff1d1",
    "a\r\nb\rc\n\nd",
    "\u202eevil\u2066\u200f",
    "\0\x01\x08\x1b\x7f\x85\u2028\ufeff",
    "\ud800 lone \udfff",
    "<meta charset=utf-16>",
    "[linkding-notes]x[/linkding-notes]",
    "&amp; &lt; &#39; &copy=2",
    'a "quoted, word"; and\tmore',
    "sep=;",
    "Bookmarks bar",
    "a,b\\,c\\",
    "😀 العربية",
    "]}\n{",
    '{"archive":{"state":"saved"}}',
)
texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=30),
    st.text(alphabet="=+-@'\t\r\n ,;\\/\"<>&#[]{}|\0\x1f", max_size=12),
)
moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(  # noqa: DTZ001 - Hypothesis wants it
    lambda each: each.replace(tzinfo=UTC, microsecond=0)
)
urls = st.builds(
    "https://{}.example/{}".format,
    st.sampled_from("abc"),
    st.text(alphabet="ab?&=#%20é\\\"'<,;", max_size=10),
)
well = texts.map(well_formed)


def built(kind, **drawn):
    """Return a strategy for a dataclass; a field added there must be listed here."""
    return st.builds(kind, **{each.name: drawn[each.name] for each in fields(kind)})


highlights = built(
    Highlight,
    id=st.text(alphabet="0123456789abcdef", min_size=16, max_size=16),
    quote=well,
    prefix=well,
    suffix=well,
    start=st.integers(-1, 10_000),
    colour=st.sampled_from(Colour),
    note=well,
    made_at=st.none() | moments,
    timestamp=st.sampled_from(("", "20200913122640")),
)
annotations = built(
    Annotation,
    url_given=urls,
    added_at=moments,
    title=texts,
    tags=st.lists(texts, max_size=4).map(tuple),
    note=texts,
    source=st.sampled_from(("web", "import:a, b.html")),
    is_read=st.booleans(),
    is_starred=st.booleans(),
    folders=st.lists(st.lists(texts, max_size=3).map(folder_path), max_size=3).map(tuple),
    places=st.just(()),  # places in these folders: ``placed`` draws them
    source_record=st.dictionaries(well, well, max_size=2).map(write_source_record),
    highlights=st.lists(highlights, max_size=2, unique_by=lambda each: each.id).map(tuple),
)
placed = st.builds(
    lambda annotation, places: replace(annotation, places=tuple(places[: len(annotation.folders)])),
    annotations,
    st.lists(st.integers(0, 1 << 40), max_size=3),
)


def entry_of(annotation):
    """Return the entry that an import would create, pending its first capture."""
    seed = seed_of(bounded(annotation), now=AT)
    return ExportedEntry(
        Entry(
            hash_url=HashUrl(seed.hash_url),
            url=seed.url,
            host=seed.host,
            annotation=seed.annotation,
            title=seed.annotation.title,
            state=State.QUEUED,
        )
    )


entries = placed.map(entry_of)


def written(form, entries_, *, places=None):
    """Return a list of entries as bytes."""
    writer = form.writer(HEADING)
    pairs = zip(entries_, places or [""] * len(entries_), strict=True)
    text = writer.opening() + "".join(writer.item(each, place) for each, place in pairs)
    return (text + writer.closing()).encode()
