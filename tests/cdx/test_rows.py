"""CDX rows come as the field's clients read them."""

import json

from archiver.cdx.query import parse_cdx_query
from archiver.cdx.rows import CdxWriter, Selection
from archiver.model.capture import Capture, Location, PayloadDigest, RecordId, Timestamp


def capture(url="http://a.example/", timestamp="20240101000000", digest="sha256:0", **more):
    return Capture(
        url=url, timestamp=Timestamp(timestamp), status=200, media_type="text/html",
        payload_digest=PayloadDigest(digest), payload_length=1, record_id=RecordId("urn:uuid:0"),
        location=Location("a.warc.gz", 7, 9), **more,
    )  # fmt: skip


def answer(*captures, **given):
    query = parse_cdx_query({"url": ["a.example"]} | {k: [v] for k, v in given.items()})
    writer = CdxWriter(query)
    return (writer.rows(Selection(query).select(captures)) + writer.end()).decode()


def test_text_has_seven_fields_with_a_space_between():
    assert answer(capture()) == (
        "example,a)/ 20240101000000 http://a.example/ text/html 200 sha256:0 9\n"
    )


def test_json_is_an_array_of_arrays_with_the_names_first():
    rows = json.loads(answer(capture(), capture(is_revisit=True), output="json"))

    assert rows[0] == [
        "urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"
    ]  # fmt: skip
    assert [row[3] for row in rows[1:]] == ["text/html", "warc/revisit"]
    assert json.loads(answer(output="json")) == []


def test_cdxj_is_a_key_a_timestamp_and_an_object():
    key, timestamp, rest = answer(capture(), output="cdxj").split(" ", 2)

    assert (key, timestamp) == ("example,a)/", "20240101000000")
    assert json.loads(rest)["offset"] == "7"


def test_neighbours_of_one_day_collapse_and_the_limit_counts_what_is_left():
    days = [capture(timestamp=f"202401{day:02}000000") for day in (1, 1, 2, 2, 3)]

    found = answer(*days, collapse="timestamp:8", limit="2", fl="timestamp")

    assert found.split() == ["20240101000000", "20240102000000"]
