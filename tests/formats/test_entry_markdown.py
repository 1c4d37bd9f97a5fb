"""index.md is valid for any entry."""

from dataclasses import replace
from datetime import UTC, datetime

import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from archiver.formats.entry_markdown import entry_markdown
from archiver.model.annotation import Annotation
from archiver.model.capture import (
    Capture,
    HashUrl,
    Location,
    PayloadDigest,
    RecordId,
    Timestamp,
)
from archiver.model.entry import Entry, Snapshot
from archiver.model.failure import Failure, FailureKind
from archiver.model.job import State

ENTRY = Entry(
    hash_url=HashUrl("44abc2fd416f673b9c6ae0f5147726a9"),
    url="http://a.example/",
    host="a.example",
    annotation=Annotation(
        url_given="http://a.example",
        added_at=datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC),
        tags=("one", "two"),
        note="Mine: #1",
        source="web",
    ),
    title="A title",
    state=State.SAVED,
)
SNAPSHOT = Snapshot(
    hash_url=ENTRY.hash_url,
    timestamp=Timestamp("20240203040506"),
    url=ENTRY.url,
    final_url="http://a.example/end",
    title="The page's title",
    byline="Somebody",
    site="",
    excerpt="",
    language="en",
    published="2023-12-01",
    capture=Capture(
        url=ENTRY.url,
        timestamp=Timestamp("20240203040506"),
        status=200,
        media_type="text/html",
        payload_digest=PayloadDigest("sha256:" + "0" * 64),
        payload_length=1,
        record_id=RecordId("urn:uuid:0"),
        location=Location("s", 0, 1),
    ),
)


READ_1_1 = YAML(typ="safe", pure=True)
READ_1_1.version = (1, 1)
READ_1_2 = YAML(typ="safe", pure=True)
SCALARS = st.text(st.sampled_from("0123456789eExXoObB+-._,:~=<"), min_size=1, max_size=12) | (
    st.sampled_from(
        "1e3 0o7 0b1 0x1F 1_000 1,000 12:30:45 1:30.5 yes No y N on OFF null Null ~ true FALSE "
        "= << .inf -.INF .NaN +.5 1. 1.e+3 .5E-3 2020-01-01 2020-1-2t03:04:05z - ? ---".split()
    )
)


def parts(text: str) -> tuple[dict[str, object], str]:
    start, front, body = text.split("---\n", 2)
    assert start == ""
    return yaml.safe_load(front), body


def test_front_matter_then_the_article() -> None:
    front, body = parts(entry_markdown(ENTRY, SNAPSHOT, "<p>Hello</p>\n"))

    assert list(front)[:3] == ["title", "url", "hash_url"]
    assert front == {
        "title": "A title",
        "url": "http://a.example/",
        "hash_url": "44abc2fd416f673b9c6ae0f5147726a9",
        "tags": ["one", "two"],
        "note": "Mine: #1",
        "added": datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC),
        "title_from": "page",
        "captured": datetime(2024, 2, 3, 4, 5, 6, tzinfo=UTC),
        "final_url": "http://a.example/end",
        "byline": "Somebody",
        "published": "2023-12-01",
        "language": "en",
    }
    assert body == "\n<p>Hello</p>\n"


@given(SCALARS | st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))
def test_front_matter_texts_are_strings_in_yaml_1_1_and_1_2(text: str) -> None:
    entry = replace(
        ENTRY, title=text, annotation=replace(ENTRY.annotation, tags=(text,), note=text)
    )
    snapshot = replace(SNAPSHOT, byline=text, site=text, published=text, language=text)

    front = entry_markdown(entry, snapshot, "").split("---\n")[1]

    for read in (yaml.safe_load, READ_1_1.load, READ_1_2.load):
        result = read(front)
        assert [result[name] for name in ("title", "note", "byline", "site", "published")] == (
            [text] * 5
        )
        assert result["tags"] == [text]
        assert result["hash_url"] == ENTRY.hash_url


def test_a_failed_entry_contains_its_reason() -> None:
    failure = Failure(FailureKind.DNS, "There is no such host.")
    failed = replace(ENTRY, state=State.FAILED, failure=failure)

    front, _ = parts(entry_markdown(failed, None, ""))

    assert (front["state"], front["failure"]) == ("failed", "There is no such host.")
