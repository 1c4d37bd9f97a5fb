from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from archiver.model.annotation import Annotation, AnnotationChange

SAID = Annotation(
    "http://a.example/", datetime(2026, 1, 1, tzinfo=UTC), "mine", ("b", "a"), "a note", "web"
)
names = st.lists(st.sampled_from("abcd")).map(tuple)
changes = st.builds(
    AnnotationChange,
    title=st.none() | st.text(max_size=3),
    note=st.none() | st.text(max_size=3),
    tags=st.none() | names,
    with_tags=names,
    without_tags=names,
    is_read=st.none() | st.booleans(),
    is_starred=st.none() | st.booleans(),
)


def test_only_the_named_fields_are_changed():
    for change, fields in [
        (AnnotationChange(), {}),
        (AnnotationChange(title=""), {"title": ""}),
        (AnnotationChange(note="other"), {"note": "other"}),
        (AnnotationChange(tags=()), {"tags": ()}),
        (AnnotationChange(with_tags=("c", "a")), {"tags": ("b", "a", "c")}),
        (AnnotationChange(without_tags=("b", "z")), {"tags": ("a",)}),
        (AnnotationChange(with_tags=("c",), without_tags=("c", "a")), {"tags": ("b",)}),
        (AnnotationChange(is_read=True), {"is_read": True}),
        (AnnotationChange(is_starred=False), {"is_starred": False}),
    ]:
        after = change.applied(SAID)

        for name in Annotation.__dataclass_fields__:
            assert getattr(after, name) == fields.get(name, getattr(SAID, name))


@given(changes)
def test_a_change_is_idempotent(change):
    changed = change.applied(SAID)

    assert change.applied(changed) == changed
