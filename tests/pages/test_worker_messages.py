"""Messages of workers arrive unchanged."""

from hypothesis import given
from hypothesis import strategies as st

from archiver.model.page import Discovery
from archiver.model.rendering import NewRendition, RenditionKind
from archiver.model.requisite import Requisite, RequisiteKind
from archiver.pages.worker_messages import (
    PREFIX,
    pack_result,
    read_discovery,
    read_rendition,
    unpack,
)


@given(st.none() | st.builds(NewRendition, st.sampled_from(RenditionKind), st.text(), st.binary()))
def test_a_drawn_image_arrives_unchanged(drawn):
    message = pack_result(drawn)

    assert read_rendition(*unpack(message[PREFIX.size :])) == drawn


@given(
    st.builds(
        Discovery,
        st.lists(
            st.builds(Requisite, st.text(), st.sampled_from(RequisiteKind), st.integers(0, 99))
        ).map(tuple),
        feed=st.text(),
        icons=st.lists(st.text()).map(tuple),
        covers=st.lists(st.text()).map(tuple),
    )
)
def test_references_of_a_page_arrive_unchanged(found):
    message = pack_result(found)

    assert read_discovery(unpack(message[PREFIX.size :])[0]) == found
