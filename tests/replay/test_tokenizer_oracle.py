"""The rewriter finds the same start tags as a browser's tokenizer, by html5lib's tests.

These test the tokenizer without a tree builder, which would change its state after tags such as
``<script>``; the text after such a tag is not compared.
"""

import json
import re
from pathlib import Path

import pytest

from archiver.replay.html_rewriter import HtmlRewriter
from archiver.replay.start_tags import StartTag, Tags, closes_itself
from archiver.replay.tag_syntax import RAW_TEXT, BytesText
from archiver.replay.url_rewriter import UrlRewriter

FILES = sorted((Path(__file__).parent / "html5lib_tokenizer").glob("*.test"))
ENTERED = {
    "Data state": "",
    "PLAINTEXT state": "<plaintext>",
    "RCDATA state": "<{}>",
    "RAWTEXT state": "<{}>",
    "Script data state": "<script>",
    "CDATA section state": "<svg><![CDATA[",
}
CHANGING = {*RAW_TEXT, "style", "script", "plaintext", "svg", "math"}
"""Start tags after which a tree builder changes the state of the tokenizer."""


DISABLED = ' type="text/x-archived-script"'
"""Attribute that is added to scripts."""


class UnchangedUrls(UrlRewriter):
    """Rewriter that changes no URL."""

    def rewrite(self, _reference, _use):
        return None


class RecordingTags(Tags):
    """Recorder for the start tags it receives."""

    def __init__(self, links):
        super().__init__(links, BytesText(), None)
        self.seen = []

    def rewrite(self, source, name, *, foreign=False, kind=""):
        tag = StartTag(source, name, BytesText())
        attributes = {_read(each): _read(tag.value(each)) for each in tag.names()}
        self.seen.append((_read(name), attributes, closes_itself(source)))
        return super().rewrite(source, name, foreign=foreign, kind=kind)


class RecordingRewriter(HtmlRewriter):
    """Rewriter that skips no tag."""

    _plain = re.compile("[^<]*+")

    def __init__(self):
        links = UnchangedUrls("https://example.com/", "20240229120001")
        super().__init__(links)
        self._tags = self.tags = RecordingTags(links)


def _read(text):
    """Normalise line ends and NUL as a tokenizer does (HTML §13.2.3.5)."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def _unescaped(value):
    """Decode the tests' own escapes, used for characters that JSON cannot hold."""
    if isinstance(value, str):
        return re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), value)
    if isinstance(value, dict):
        return {_unescaped(key): _unescaped(each) for key, each in value.items()}
    return [_unescaped(each) for each in value] if isinstance(value, list) else value


def _cases(path):
    tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
    for test in tests:
        source, output = test["input"], test["output"]
        if test.get("doubleEscaped"):
            source, output = _unescaped(source), _unescaped(output)
        tags = [(token[1], token[2], len(token) > 3) for token in output if token[0] == "StartTag"]
        for state in test.get("initialStates", ["Data state"]):
            opening = ENTERED[state].format(test.get("lastStartTag", "xmp"))
            yield opening, source, tags


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_start_tags_and_attributes_match_the_tokenizer_tests(path):
    for opening, source, tags in _cases(path):
        rewriter = RecordingRewriter()
        out = rewriter.feed(opening)
        opened = len(rewriter.tags.seen)

        out += rewriter.feed(source) + rewriter.close()

        changing = [number for number, (name, _, _) in enumerate(tags, 1) if name in CHANGING]
        compared = changing[0] if changing else None
        assert rewriter.tags.seen[opened:][:compared] == tags[:compared], source
        assert out.replace(DISABLED, "") == opening + source


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_documents_without_references_are_unchanged(path):
    for opening, source, _ in _cases(path):
        for size in (len(source) + 1, 1, 3):
            rewriter = HtmlRewriter(UnchangedUrls("https://example.com/", "20240229120001"))
            out = [rewriter.feed(opening)]
            out += [rewriter.feed(source[at : at + size]) for at in range(0, len(source), size)]

            result = "".join(out) + rewriter.close()
            assert result.replace(DISABLED, "") == opening + source
