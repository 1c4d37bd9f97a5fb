"""Untrusted tar archives, valid and invalid."""

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.formats.archive_members import TarMembers

FORMS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
NAMES = st.text("aB. -_\u00e9\u20ac\U0001f600", min_size=1, max_size=150)
CONTENTS = st.binary(max_size=600)


def head(name="a.txt", kind=tarfile.REGTYPE, size=0):
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


def extended_header(kind, content):
    return head("said", kind, len(content)) + content + bytes(-len(content) % 512)


def packed(members, form):
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=form) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return written.getvalue()


def members_of(data):
    members = TarMembers(io.BytesIO(data))
    return {name: members.read(name, 1 << 20) for name in members.names}


@given(
    st.dictionaries(NAMES.filter(lambda name: name[:2] != "./"), CONTENTS, max_size=4),
    st.sampled_from(FORMS[1:]),
)
def test_archives_of_the_standard_library_are_read_back(members, form):
    assert members_of(packed(members, form)) == members


@given(CONTENTS, st.integers(0, 3000))
def test_any_archive_content_is_read_without_an_exception(noise, at):
    data = packed({"a": b"x" * 700, "b" * 200: b"y"}, tarfile.PAX_FORMAT)

    whole = data[:at] + noise + data[at + len(noise) :]
    assert sum(map(len, members_of(whole).values())) <= len(whole)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_an_endless_chain_of_headers_ends_reading(kind):
    assert [*members_of(head("a") + extended_header(kind, b"") * 5000 + head("b"))] == ["a"]


def test_a_file_longer_than_the_archive_is_left_out():
    assert [*members_of(head("a") + head("b", size=1 << 40))] == ["a"]
