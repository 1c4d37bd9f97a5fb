"""What an import added to an annotation is taken back, and nothing else."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from archiver.model.annotation import Annotation
from archiver.model.import_share import ImportShare

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
words = st.sampled_from(("", "One", "Two\n\nThree", "Three", "日本"))
labels = st.lists(st.sampled_from(("a", "b", "c", "日本")), unique=True, max_size=3).map(tuple)
records = st.sampled_from(("", '{"a":1}', '{"b":2}', '{"a":1}\n{"b":2}'))
annotations = st.builds(
    Annotation,
    url_given=st.just("http://a.example/"),
    added_at=st.integers(0, 3).map(lambda days: NOON - timedelta(days=days)),
    title=words,
    tags=labels,
    note=words,
    is_read=st.booleans(),
    is_starred=st.booleans(),
    folders=labels,
    source_record=records,
)


@given(annotations, annotations)
def test_a_share_taken_back_leaves_what_was_before(before, said):
    after = before.merged(said)

    share = ImportShare.of(before, after)

    assert share.taken_from(after) == before
    assert bool(share) == (after != before)


@given(annotations, annotations)
def test_a_share_that_is_written_is_read_back(before, said):
    share = ImportShare.of(before, before.merged(said))

    assert ImportShare.read(share.write()) == share


@given(annotations, annotations, annotations)
def test_what_somebody_else_says_too_is_not_taken_back(before, said, other):
    share = ImportShare.of(before, before.merged(said)).without(other)

    left = share.taken_from(before.merged(said).merged(other))

    assert {*before.tags, *other.tags} <= {*left.tags}
    assert {*before.folders, *other.folders} <= {*left.folders}
    assert left.is_read >= max(before.is_read, other.is_read)
    assert left.is_starred >= max(before.is_starred, other.is_starred)
    assert left.saved_at <= min(before.saved_at, other.saved_at)


@given(annotations, annotations)
def test_what_only_one_import_said_goes_whole(said, other):
    both = said.merged(other)

    left = ImportShare.whole(said).without(other).taken_from(both)

    assert {*left.tags} == {*other.tags}
    assert {*left.folders} == {*other.folders}
    assert (left.is_read, left.is_starred) == (other.is_read, other.is_starred)


def test_paragraphs_that_somebody_else_says_too_stay():
    said, other = (Annotation("", NOON, note=note) for note in ("A\n\nB", "B\n\nC"))

    left = ImportShare.whole(said).without(other).taken_from(said.merged(other))

    assert left.note == "B\n\nC"


def test_what_was_changed_since_stays_as_it_is():
    before = Annotation("http://a.example/", NOON)
    share = ImportShare.of(before, before.merged(Annotation("", NOON, "Theirs", note="theirs")))

    left = share.taken_from(Annotation("http://a.example/", NOON, "Mine", note="theirs, and mine"))

    assert (left.title, left.note) == ("Mine", "theirs, and mine")
