"""Policy for replayed responses, as a table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.http.headers import ResponseHead
from archiver.model.capture import Capture, Location, PayloadDigest, RecordId, Timestamp
from archiver.replay.addresses import Modifier
from archiver.replay.response import ReplayRequest, Rewriting, build_presentation, head_of_revisit
from archiver.replay.response_headers import Viewer

URL = "http://a.example/dir/report.bin"
VIEWER = Viewer("http://127.0.0.1:8080")
PDF = b"%PDF-1.7\n"
HTML = "text/html;charset=windows-1252"
TEXT = "text/plain;charset=windows-1252"
"""ASCII is declared if the response declares nothing."""
PAGE = b"<!DOCTYPE html><p>x"


def head(*fields, status=200):
    return ResponseHead("HTTP/1.1", status, "OK", tuple(fields))


def typed(*values):
    return head(*(("content-type", value) for value in values))


def capture(**fields):
    return Capture(
        url=URL,
        timestamp=Timestamp("20240229120001"),
        status=200,
        media_type="application/pdf",
        payload_digest=PayloadDigest("sha256:0"),
        payload_length=10,
        record_id=RecordId("urn:uuid:0"),
        location=Location("a.warc.gz", 0, 1),
        **fields,
    )


def shown(headers, start=b"", modifier=Modifier.NONE, **fields):
    return build_presentation(capture(**fields), headers, start, ReplayRequest(VIEWER, modifier))


def headers(presented):
    return {name: value for name, value in presented.headers if not name.startswith("X-Archive")}


@pytest.mark.parametrize(
    ("values", "start", "content_type", "rewriting", "sandboxed", "saved"),
    [
        (["text/html"], b"<p>", HTML, "html", True, False),
        (["TEXT/HTML ; Charset=koi8-r"], b"", "text/html;charset=koi8-r", "html", True, False),
        (["application/pdf"], PDF, "application/pdf", "none", False, False),
        (["Application/PDF;x=y"], PDF, "application/pdf;x=y", "none", False, False),
        (["application/pdf"], PAGE, "application/pdf", "none", True, True),
        (["application/pdf"], b" " + PDF, "application/pdf", "none", True, True),
        (["application/pdf, text/html"], PAGE, HTML, "html", True, False),
        (["application/pdf, text/html"], PDF, HTML, "html", True, False),
        (["application/pdf", "text/html"], PDF, HTML, "html", True, False),
        (["text/html, application/pdf"], PAGE, "application/pdf", "none", True, True),
        (["text/html, application/pdf"], PDF, "application/pdf", "none", False, False),
        (["application/pdf, */*"], PDF, "application/pdf", "none", False, False),
        (["application/pdf;,text/html"], PDF, HTML, "html", True, False),
        (["application/pdf\ttext/html"], PAGE, HTML, "html", True, False),
        ([], PDF, "application/pdf", "none", False, False),
        ([], PAGE, HTML, "html", True, False),
        ([], b"\0\1", "application/octet-stream", "none", True, True),
        (["bogus"], b"words", TEXT, "none", True, False),
        (["image/svg+xml"], b"<svg>", "image/svg+xml;charset=utf-8", "xml", True, False),
        (["application/xhtml+xml"], b"", "application/xhtml+xml;charset=utf-8", "xml", True, False),
        (["application/rss+xml"], b"", "application/rss+xml;charset=utf-8", "xml", True, False),
        (["text/xml;charset=utf-16le"], b"", "text/xml;charset=utf-8", "xml", True, False),
        (["text/css"], b"a{}", "text/css", "css", True, False),
        (["text/plain;charset=utf-8"], PAGE, "text/plain;charset=utf-8", "none", True, False),
        (["text/plain;charset=<p>"], PAGE, TEXT, "none", True, False),
        (["text/javascript"], b"x", "text/javascript", "none", True, False),
        (["application/json"], b"{}", "application/json", "none", True, False),
        (['video/mp4;codecs="a, b"'], b"", 'video/mp4;codecs="a, b"', "none", True, False),
        (["image/gif"], PAGE, "image/gif", "none", True, False),
        (["application/x-thing"], PAGE, "application/x-thing", "none", True, True),
        (["multipart/x-mixed-replace;boundary=b"], b"--b", "multipart/x-mixed-replace;boundary=b",
         "none", True, True),
        ([f"text/html;x={'y' * 999}"], b"", HTML, "html", True, False),
        ([f"image/png;x={'y' * 999}"], b"", "image/png", "none", True, False),
        ([f"image/{'y' * 999}"], b"", "application/octet-stream", "none", True, True),
    ],
)  # fmt: skip
def test_type_rewriting_sandbox_and_saving(
    values, start, content_type, rewriting, sandboxed, saved
):
    response = shown(typed(*values), start)
    fields = headers(response)

    assert (fields["Content-Type"], response.rewriting) == (content_type, rewriting)
    assert ("sandbox" in fields["Content-Security-Policy"].split("; ")) is sandboxed
    assert response.is_sandboxed is sandboxed
    assert ("Content-Disposition" in fields) is saved


@pytest.mark.parametrize(
    ("values", "start", "content_type", "sandboxed"),
    [
        (["text/html;charset=koi8-r"], PAGE, "text/html;charset=koi8-r", True),
        (["text/html"], b"<meta charset=koi8-r>", "text/html", True),
        (["application/pdf, text/html"], PDF, "text/html", True),
        (["application/pdf"], PDF, "application/pdf", False),
    ],
)
def test_raw_responses_have_the_same_restrictions(values, start, content_type, sandboxed):
    response = shown(typed(*values), start, Modifier.IDENTITY)

    assert headers(response)["Content-Type"] == content_type
    assert response.rewriting is Rewriting.NONE
    assert response.is_sandboxed is sandboxed


@pytest.mark.parametrize("modifier", Modifier)
def test_every_response_is_isolated_whatever_its_headers(modifier):
    headers_of_page = typed("text/html")
    hostile = (
        ("content-security-policy", "default-src *"),
        ("referrer-policy", "unsafe-url"),
        ("refresh", "0; url=http://away.example/"),
        ("set-cookie", "a=b"),
        ("access-control-allow-origin", "*"),
        ("x-content-type-options", "sniff"),
        ("service-worker-allowed", "/"),
        ("link", "<http://away.example/>; rel=preload; as=image; referrerpolicy=unsafe-url"),
        ("memento-datetime", "now"),
        ("content-length", "7"),
        ("etag", '"x"'),
    )
    response = shown(head(*headers_of_page.headers, *hostile), PAGE, modifier)
    names = [name.lower() for name, _ in response.headers]

    fields = headers(response)
    assert fields["Referrer-Policy"] == "no-referrer"
    assert fields["X-Content-Type-Options"] == "nosniff"
    assert fields["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    for absent in ("refresh", "set-cookie", "access-control-allow-origin", "content-length"):
        assert absent not in names
    for field in ("content-security-policy", "referrer-policy", "content-type", "memento-datetime"):
        assert names.count(field) == 1
    assert "referrerpolicy" not in " ".join(v for n, v in response.headers if n == "Link")


@pytest.mark.parametrize(
    ("status", "sent", "has_content"),
    [
        (0, 502, True),
        (100, 502, True),
        (101, 502, True),
        (103, 502, True),
        (199, 502, True),
        (600, 502, True),
        (999, 502, True),
        (200, 200, True),
        (206, 200, True),
        (204, 204, False),
        (205, 205, False),
        (304, 304, False),
        (404, 404, True),
        (599, 599, True),
    ],
)
def test_statuses_without_a_body_have_none(status, sent, has_content):
    response = shown(head(status=status))

    assert (response.status, response.length != 0) == (sent, has_content)


@pytest.mark.parametrize(
    ("content_range", "status"),
    [
        ("bytes 5-14/100", 206),
        ("bytes 5-14/*", 206),
        ("bytes 5-15/100", 200),
        ("bytes */100", 200),
        ("", 200),
        ("lines 5-14/100", 200),
    ],
)
def test_a_captured_range_must_have_its_declared_length(content_range, status):
    response = shown(head(("content-range", content_range), status=206))

    assert response.status == status
    assert headers(response).get("Content-Range") == (content_range if status == 206 else None)


def test_a_revisit_is_replayed_with_its_own_headers():
    original = head(("content-type", "application/pdf"), ("x", "1"))
    revisit_head = head(("content-type", "text/html"), status=404)

    assert head_of_revisit(revisit_head, original) == revisit_head
    assert head_of_revisit(None, original) == original
    assert shown(head_of_revisit(revisit_head, original), PDF).is_sandboxed


def test_a_not_modified_revisit_updates_the_headers_of_the_original():
    original = head(("content-type", "text/html"), ("content-encoding", "gzip"), ("x", "1"))
    revisit_head = head(("content-type", "application/pdf"), ("x", "2"), ("y", "3"), status=304)

    response = head_of_revisit(revisit_head, original)

    assert response.status == 200
    assert response.headers == (
        ("content-type", "text/html"), ("content-encoding", "gzip"), ("x", "2"), ("y", "3"),
    )  # fmt: skip


FIELDS = st.sampled_from(
    ["content-type", "content-encoding", "content-disposition", "content-range", "link", "location"]
)


@given(
    st.lists(st.tuples(FIELDS, st.text(st.characters(max_codepoint=0xFF)))),
    st.binary(max_size=40),
    st.integers(0, 999),
    st.sampled_from(Modifier),
)
def test_hostile_headers_do_not_break_the_response(fields, start, status, modifier):
    response = shown(head(*fields, status=status), start, modifier, redirect_to="http://b.example/")

    assert 200 <= response.status < 600
    assert [name for name, _ in response.headers].count("Content-Type") == 1
    assert response.is_sandboxed or response.media_type.essence == "application/pdf"
    for name, value in response.headers:
        assert not set("\r\n\0") & set(name + value)
