"""CDX rows in the formats that CDX clients read."""

import json

from archiver.http.surt import surt
from archiver.model.capture import Capture, Location, PayloadDigest, RecordId, Timestamp
from archiver.replay.cdx_query import parse_cdx_query
from archiver.replay.cdx_rows import CdxWriter, Selection


def capture(url="http://a.example/", timestamp="20240101000000", digest="sha256:0", **more):
    return Capture(
        url=url, timestamp=Timestamp(timestamp), status=200, media_type="text/html",
        payload_digest=PayloadDigest(digest), payload_length=1, record_id=RecordId("urn:uuid:0"),
        location=Location("a.warc.gz", 7, 9), **more,
    )  # fmt: skip


def answer(*captures, **parameters):
    query = parse_cdx_query({"url": ["a.example"]} | {k: [v] for k, v in parameters.items()})
    return written(query, captures)


def written(query, captures, originals=None):
    writer, selection = CdxWriter(query), Selection(query)
    captured = [(surt(each.url), each, n) for n, each in enumerate(captures)]
    rows = selection.select(captured, originals or {})
    return (writer.rows(rows) + writer.end()).decode()


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
    key, timestamp, document = answer(capture(), output="cdxj").split(" ", 2)

    assert (key, timestamp) == ("example,a)/", "20240101000000")
    assert json.loads(document)["offset"] == "7"


def test_rows_of_one_day_collapse_before_the_limit_is_applied():
    days = [capture(timestamp=f"202401{day:02}000000") for day in (1, 1, 2, 2, 3)]

    rows = answer(*days, collapse="timestamp:8", limit="2", fl="timestamp")

    assert rows.split() == ["20240101000000", "20240102000000"]


def test_pywbs_json_is_an_object_a_line_with_its_names():
    query = parse_cdx_query({"url": ["a.example"], "output": ["json"]}, pywb=True)

    rows = [json.loads(line) for line in written(query, [capture(), capture()]).splitlines()]

    assert [row["status"] for row in rows] == ["200", "200"]
    assert {"urlkey", "timestamp", "url", "mime", "digest", "offset", "filename"} <= rows[0].keys()


def test_a_row_counts_earlier_rows_with_its_digest():
    days = [capture(digest=digest, is_revisit=digest == "b") for digest in "abab"]

    rows = answer(*days, showDupeCount="true", fl="digest,dupecount,mimetype")

    assert [line.split() for line in rows.splitlines()] == [
        ["a", "0", "text/html"],
        ["b", "0", "warc/revisit"],
        ["a", "1", "text/html"],
        ["b", "1", "text/html"],
    ]


def test_a_revisit_is_resolved_to_the_record_with_its_payload():
    revisit, first = capture(is_revisit=True), capture()
    query = parse_cdx_query({"url": ["a.example"], "resolveRevisits": ["true"]})

    rows = written(query, [first, revisit], {first.payload_digest: first}).splitlines()

    assert rows[0].endswith(" - - -")
    assert rows[1].endswith(" text/html 200 sha256:0 9 9 7 a.warc.gz")


def test_an_offset_counts_only_rows_that_pass_the_filter():
    days = [capture(url=f"http://a.example/{n}", is_revisit=n % 2 == 0) for n in range(8)]

    rows = answer(*days, filter="mimetype:text/html", offset="1", limit="2", fl="original")

    assert rows.split() == ["http://a.example/3", "http://a.example/5"]
