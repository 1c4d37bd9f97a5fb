from archiver.replay.tag_syntax import BytesText


def test_characters_missing_in_an_encoding_are_written_as_references():
    raw = BytesText("windows-1252")

    assert raw.to_text("\xe9\x81") == "é\x81"
    assert raw.from_text("é€\u4e00") == "\xe9\x80&#19968;"


def test_text_is_returned_unchanged():
    assert BytesText().to_text("é") == BytesText().from_text("é") == "é"


def test_invalid_bytes_become_replacement_characters():
    assert BytesText("utf-8").to_text("\xff") == "\ufffd"
