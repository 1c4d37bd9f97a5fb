from datetime import UTC, datetime

from archiver.replay.memento import memento, original, timegate, timemap, write_links


def test_links_of_a_memento_are_written_as_rfc_8288_has_them():
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


def test_no_target_ends_its_brackets_or_its_header():
    header = write_links((original('https://example.com/a>b"c\r\nd é'),))

    assert header == '<https://example.com/a%3Eb%22c%0D%0Ad%20%C3%A9>; rel="original"'
