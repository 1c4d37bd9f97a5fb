from datetime import UTC, datetime

from archiver.replay.memento import memento, original, timegate, timemap, write_links


def test_memento_links_conform_to_rfc_8288():
    moment = datetime(2024, 2, 29, 12, 0, 1, tzinfo=UTC)

    header = write_links(
        (
            original("https://example.com/"),
            timegate("/timegate/https://example.com/"),
            timemap("/timemap/link/https://example.com/"),
            memento("/web/20240229120001/https://example.com/", moment, "first", "last"),
        )
    )

    assert header == (
        '<https://example.com/>; rel="original", '
        '</timegate/https://example.com/>; rel="timegate", '
        '</timemap/link/https://example.com/>; rel="timemap"; type="application/link-format", '
        '</web/20240229120001/https://example.com/>; rel="first last memento"; '
        'datetime="Thu, 29 Feb 2024 12:00:01 GMT"'
    )


def test_link_targets_cannot_end_their_brackets_or_the_header():
    header = write_links((original('https://example.com/a>b"c\r\nd é'),))

    assert header == '<https://example.com/a%3Eb%22c%0D%0Ad%20%C3%A9>; rel="original"'
