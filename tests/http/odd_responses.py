"""Malformed responses, and how Chromium and the archiver treat each."""

from dataclasses import dataclass

from archiver.model.capture import Truncation

BODY = b"<p>hello world</p>"
LENGTH = b"Content-Length: %d" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked"
CHUNK = b"%x\r\n%s\r\n" % (len(BODY), BODY)
LAST = b"0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Odd:
    """Response.

    Attributes:
        answer: all bytes that the server sends before it closes the connection.
        kept: the bytes in the record; all of them if this is empty.
        truncated: whether the record is marked as truncated.
        is_shown: whether Chromium displays the body.
        is_kept: whether the archiver stores it.
    """

    answer: bytes
    kept: bytes = b""
    truncated: Truncation | None = None
    is_shown: bool = True
    is_kept: bool = True


def response(*fields, body=BODY, status=b"HTTP/1.1 200 OK", end=b"\r\n"):
    return end.join([status, b"Content-Type: text/html", *fields, b"", b""]) + body


def chunked(body, *fields):
    return response(CHUNKED, *fields, body=body)


def lengths():
    whole = response(LENGTH)
    yield "a body longer than its length", Odd(whole + b"<p>and more</p>", kept=whole)
    yield "a line behind the body", Odd(whole + b"\r\n", kept=whole)
    yield "the same length twice", Odd(response(LENGTH, LENGTH))
    yield "the same length in a list", Odd(response(LENGTH + b", %d" % len(BODY)))
    for length in (b"+18", b"-5", b"abc", b"18 abc", b"", b"0x12", b"9" * 30):
        yield f"the length {length.decode()!r}", Odd(response(b"Content-Length: " + length))
    refused = {"is_shown": False, "is_kept": False}
    yield "two lengths", Odd(response(LENGTH, b"Content-Length: 5"), **refused)
    yield "two lengths in a list", Odd(response(LENGTH + b", 5"), **refused)
    yield "a length before chunks", Odd(response(LENGTH, CHUNKED, body=CHUNK + LAST))
    yield "a length after chunks", Odd(chunked(CHUNK + LAST, b"Content-Length: 3"))
    short = response(b"Content-Length: 500")
    yield "a body cut short", Odd(short, truncated=Truncation.DISCONNECT)
    nothing = response(b"Content-Length: 500", body=b"")
    yield "a body of which nothing came", Odd(nothing, **refused)
    yield "no length", Odd(response())


def heads():
    for name, line in {
        "no colon": b"this line has no colon",
        "a space before the colon": b"X : y",
        "a tab before the colon": b"X\t: y",
        "a space in a name": b"X Y: z",
        "an odd name": b"X(1)@: y",
        "an empty name": b": y",
        "a name that is not ASCII": "Né: y".encode(),
        "a folded value": b"X-A: a\r\n  b",
        "a value in UTF-8": "X-A: é".encode(),
        "a value in Latin-1": b"X-A: \xe9",
        "a control character": b"X-A: a\x01b",
        "CR in a value": b"X-A: a\rb",
        "a long field": b"X-A: " + b"a" * 100_000,
        "a thousand fields": b"\r\n".join(b"X-%d: a" % n for n in range(1000)),
        "200 kB of fields": b"\r\n".join(b"X-%d: %s" % (n, b"a" * 1000) for n in range(200)),
    }.items():
        yield name, Odd(response(line, LENGTH))
    yield "a folded length", Odd(response(b"Content-Length:\r\n %d" % len(BODY)))
    yield (
        "a length with a space before the colon",
        Odd(
            response(b"Content-Length : %d" % len(BODY)),
        ),
    )
    yield "LF for CRLF", Odd(response(LENGTH, end=b"\n"))
    yield "LF once", Odd(response(LENGTH).replace(b"\r\n", b"\n", 1))
    yield "LF at the end of the head", Odd(response(LENGTH).replace(b"\r\n\r\n", b"\r\n\n"))
    huge = b"\r\n".join(b"X-%d: %s" % (n, b"a" * 1000) for n in range(300))
    yield "300 kB of fields", Odd(response(huge, LENGTH), is_shown=False, is_kept=False)
    yield "NUL in a value", Odd(response(b"X-A: a\0b", LENGTH), is_shown=False)
    for line in (
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 ",
        "HTTP/1.1 200 Très bien".encode(),
        b"HTTP/1.1 200 Tr\xe8s bien",
        b"HTTP/1.1   200   OK",
        b"HTTP/1.1\t200\tOK",
        b"HTTP/1.1 200OK",
        b"HTTP/1.0 200 OK",
        b"HTTP/1.2 200 OK",
        b"HTTP/2 200 OK",
        b"HTTP 200 OK",
        b"http/1.1 200 OK",
    ):
        yield line.decode("latin-1"), Odd(response(LENGTH, status=line))
    for line in (b"HTTP/1.1", b"HTTP/1.1 OK", b"HTTP/1.1 20 OK", b"HTTP/1.1 2000 OK"):
        yield line.decode(), Odd(response(LENGTH, status=line), is_kept=False)
    junk = response(LENGTH)
    yield "four bytes before the status", Odd(b"junk" + junk, kept=junk)
    refused = {"is_shown": False, "is_kept": False}
    yield "five bytes before the status", Odd(b"junk." + junk, **refused)
    yield "no head", Odd(BODY * 2, **refused)
    for status in (b"100 Continue", b"102 Processing", b"103 Early Hints", b"150 Odd"):
        interim = b"HTTP/1.1 %s\r\nLink: </x>\r\n\r\n" % status
        yield f"{status.decode()} before it", Odd(interim * 20 + junk, kept=junk)
    switching = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"
    yield "101 before it", Odd(switching + junk, kept=junk)


def chunks():
    for name, size in {
        "an extension": b"%x;a=b;c",
        "an extension with spaces": b"%x ; a = b",
        "spaces after a size": b"%x  ",
        "zeros before a size": b"0000000000000000%x",
        "a size in capitals": b"%X",
    }.items():
        yield name, Odd(chunked(size % len(BODY) + b"\r\n" + BODY + b"\r\n" + LAST))
    yield "LF after chunks", Odd(chunked((CHUNK + LAST).replace(b"\r\n", b"\n")))
    yield "LF at the end of chunks", Odd(chunked(CHUNK + b"0\n\n"))
    yield "a trailer", Odd(chunked(CHUNK + b"0\r\nX-T: y\r\n\r\n"))
    yield "an odd trailer", Odd(chunked(CHUNK + b"0\r\nodd\r\n\r\n"))
    yield (
        "more behind the last chunk",
        Odd(chunked(CHUNK + LAST) + b"more", kept=chunked(CHUNK + LAST)),
    )
    cut = {"truncated": Truncation.DISCONNECT}
    yield "no last chunk", Odd(chunked(CHUNK), **cut)
    yield "no end of trailers", Odd(chunked(CHUNK + b"0\r\n"), **cut)
    yield "half a last chunk", Odd(chunked(CHUNK + b"0"), **cut)
    yield "half a chunk", Odd(chunked(b"ff\r\n" + BODY), **cut)
    for codings in (b"Chunked", b"gzip, chunked", b"chunked, chunked", b", chunked"):
        field = b"Transfer-Encoding: " + codings
        yield f"the coding {codings.decode()}", Odd(response(field, body=CHUNK + LAST))
    for codings in (b"identity", b"foo", b"xchunked", b'"chunked"'):
        field = b"Transfer-Encoding: " + codings
        yield f"the coding {codings.decode()}", Odd(response(field, LENGTH))
    broken = {"truncated": Truncation.UNSPECIFIED, "is_shown": False}
    odd = chunked(CHUNK + b"zz\r\n")
    yield "a size that is none", Odd(odd + b"more\r\n", kept=odd, **broken)
    odd = chunked(CHUNK[:-2] + b"xx\r\n")
    yield "more than a chunk's size", Odd(odd + LAST, kept=odd, **broken)
    yield "chunks that are none", Odd(chunked(BODY), is_shown=False)


ODD = {**dict(lengths()), **dict(heads()), **dict(chunks())}
