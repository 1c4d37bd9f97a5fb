"""What encoding a text is in that does not say so: UTF-8 where it is that, else as Firefox guesses.

The guess is chardetng's: only encodings that browsers know, with the top-level domain as a prior.
"""

import codecs
import re
from typing import Final

from chardetng_py import EncodingDetector

from archiver.encoding.labels import UTF_8, WINDOWS_1252, Encoding, lookup
from archiver.urls.parse import host

SAMPLE_BYTES: Final = 64 << 10
"""How much is looked at, from the first byte on that is not ASCII."""
MOST_START_BYTES: Final = 1 << 20
"""Where that byte is looked for."""

_GUESSED_BYTES: Final = 16 << 10
_GOOD_FOR_ONE_BAD: Final = 4
_LEADS: Final = bytes(range(0xC2, 0xF5))
_NOT_ASCII = re.compile(rb"[\x80-\xff\x1b]")
_FAR_FROM_OTHERS = re.compile(rb"([\x00-\x7f]{4})[\x00-\x7f]+([\x00-\x7f]{4})")
_ASCII = bytes(range(0x80))
_KANA = re.compile(rb"\x82[\x9f-\xf1]|\x83[\x40-\x7e\x80-\x96]")
_SHIFT_JIS: Final = Encoding("shift_jis")
_DOMAIN = re.compile(r"[a-z0-9-]*[a-z][a-z0-9-]*")
_PYTHON_NAMES: Final = {"cp874": "windows-874"}


def has_enough(start: bytes) -> bool:
    """Whether the start of a text is enough to tell its encoding by."""
    first = _NOT_ASCII.search(start, 0, MOST_START_BYTES)
    wanted = first.start() + SAMPLE_BYTES if first else MOST_START_BYTES
    return len(start) >= min(wanted, MOST_START_BYTES)


def detect(start: bytes, url: str) -> Encoding:
    """Tell the encoding of a text that declares none.

    Args:
        start: the text, or so much of it that ``has_enough``.
        url: where it was.
    """
    first = _NOT_ASCII.search(start, 0, MOST_START_BYTES)
    if first is None:
        return WINDOWS_1252
    end = min(first.start() + SAMPLE_BYTES, MOST_START_BYTES)
    sample = start[max(first.start() - 4, 0) : end]
    if _is_utf8(sample):
        return UTF_8
    return _SHIFT_JIS if _is_kana(sample) else _guess(sample, _top_level_domain(url))


def _is_utf8(sample: bytes) -> bool:
    """Whether bytes are UTF-8, but for the end that may be cut and a few that were damaged."""
    try:
        return not codecs.utf_8_decode(sample, "strict", False)[0].isascii()
    except UnicodeDecodeError:
        whole = sample.decode("utf-8", "ignore").encode()
    good = len(whole) - len(whole.translate(None, _LEADS))
    bad = sample.decode("utf-8", "replace").count("\ufffd")
    return good >= _GOOD_FOR_ONE_BAD * bad


def _is_kana(sample: bytes) -> bool:
    """Whether half of what is not ASCII is kana in Shift_JIS, which the guess takes for Cyrillic.

    In every other encoding its lead bytes are rare: quotation marks, controls, two capitals.
    """
    kana = 2 * len(_KANA.findall(sample))
    return kana > 0 and 2 * kana >= len(sample.translate(None, _ASCII))


def _guess(sample: bytes, domain: bytes | None) -> Encoding:
    """Firefox's guess. ASCII far from other bytes tells nothing, unless escapes make it more."""
    evidence = sample if b"\x1b" in sample else _FAR_FROM_OTHERS.sub(rb"\1 \2", sample)
    detector = EncodingDetector()
    detector.feed(evidence[:_GUESSED_BYTES], last=True)
    name = detector.guess(tld=domain, allow_utf8=False)
    return lookup(_PYTHON_NAMES.get(name, name)) or WINDOWS_1252


def _top_level_domain(url: str) -> bytes | None:
    if not url.startswith("http"):
        return None
    name = host(url).partition(":")[0].rstrip(".").rpartition(".")[2]
    return name.encode() if _DOMAIN.fullmatch(name) else None
