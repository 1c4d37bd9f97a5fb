"""Words of a text: tokenizer, word forms and index keys.

Words are folded, so that searches ignore case and diacritics: Unicode NFKD without combining marks,
and case folded. Latin letters that do not decompose become their base letters, as in ICU's
Latin-ASCII. Kana and Hangul are only normalised (NFKC), because their marks distinguish letters.
Invisible characters, such as soft hyphens, variation selectors and kashida, are dropped.

Text in scripts without spaces is split into overlapping pairs of characters, followed by its last
character: 東京都 becomes 東京, 京都, 都. So each substring is a phrase of pairs, and each character
is the start of a word.

An index key is a word that represents a condition such as ``site:example.org``. It starts with a
private-use character, which no other word has.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache, lru_cache
from itertools import islice

from archiver.model.entry_list import unquoted
from archiver.search.query_dates import Dates
from archiver.search.query_tree import Condition, Term

MAX_WORD_LENGTH = 60
"""Maximum length of a word in the index; the rest is cut off."""
MAX_WORDS = 200_000
"""Maximum words of one text; words after that are not indexed."""
MAX_UNLIMITED_LENGTH = 2 * MAX_WORDS
"""Length in characters up to which a text has at most ``MAX_WORDS`` words."""
UNSPACED = (
    "\u0e01-\u0edf\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, kana and Han, without their digits and signs."""
_SEPARATORS_TO_SPACE = {code: " " for code in range(128) if not chr(code).isalnum()}
"""Translation of ASCII separators to spaces, which is twice as fast as a regular expression."""
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_UNSPACED_RUN = re.compile(rf"[{UNSPACED}]+")
_COMPOSED = re.compile("[\u3040-\u30ff\uac00-\ud7a3]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]+")
_MARKED_BLOCKS = (range(0x0483, 0x0488), range(0x0591, 0x1D00), range(0xA670, 0xAC00))


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, as stored in the index."""
    folded = fold(text)
    if folded.isascii() and len(folded) <= MAX_UNLIMITED_LENGTH:
        words = folded.translate(_SEPARATORS_TO_SPACE).split()
        if len(folded) <= MAX_WORD_LENGTH or max(map(len, words), default=0) <= MAX_WORD_LENGTH:
            return words
        return [word[:MAX_WORD_LENGTH] for word in words]
    return [word for run in _runs_of(folded) for word in _pieces(run, ends_alone=True)][:MAX_WORDS]


def phrase_of(text: str) -> list[str]:
    """Return the words that a text has in the index, in order, for a phrase search.

    If the text ends in a script without spaces, its last word is a pair of characters. The single
    last character is left out, because the phrase can be followed by more text in the index.
    """
    *runs, last = _runs(text) or [""]
    words = [word for run in runs for word in _pieces(run, ends_alone=True)]
    return words + _pieces(last, ends_alone=False) if last else []


def is_open(text: str) -> bool:
    """Return whether a phrase ends in a single character of a script without spaces.

    Such a character is the start of a pair in the index, so the phrase is searched as a prefix.
    """
    runs = _runs(text)
    return bool(runs) and len(runs[-1]) == 1 and bool(_UNSPACED_RUN.match(runs[-1]))


def is_unspaced(character: str) -> bool:
    """Return whether a character belongs to a script that is written without spaces."""
    return bool(_UNSPACED_RUN.match(character))


def has_unspaced(text: str) -> bool:
    """Return whether a text has characters of a script that is written without spaces."""
    return not text.isascii() and bool(_UNSPACED_RUN.search(text))


def fold(text: str) -> str:
    """Return a text without case and diacritics."""
    if text.isascii():
        return text.lower()
    return _NON_ASCII.sub(_fold_non_ascii, text.lower()).lower()


def _fold_non_ascii(run: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", run[0]).translate(FOLDED)


_IGNORED = re.compile(
    "[\u00ad\u02b9-\u02bf\u02ee\u034f\u061c\u0640\u07fa\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
"""Default ignorable characters, the letter apostrophes and primes of romanisations, and kashida."""
_LATIN = re.compile(
    r"LATIN (?:SMALL |CAPITAL )?(?:LETTER |LIGATURE )(?:SMALL CAPITAL )?"
    r"(?:AFRICAN |BROKEN |DOTLESS |INSULAR |LONG |SCRIPT |SHARP |BARRED |OPEN (?=E))?"
    r"(ENG|ETH|KRA|THORN|[A-Z]{1,2})(?: BAR\b.*| DIGRAPH.*| WITH .*)?"
)
"""Unicode names of Latin letters; the group is the base letter, or the two base letters."""
_NAMED = {"ENG": "n", "ETH": "d", "KRA": "q", "THORN": "th"}


class _Folding(dict[int, str]):
    """Translation table for ``str.translate`` that folds each character when it is first used."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if _COMPOSED.match(character):
            folded = character
        else:
            parts = unicodedata.normalize("NFKD", character.casefold())
            bases = (each for each in parts if not unicodedata.combining(each))
            folded = "".join(map(_base_of, bases)).casefold()
        is_sign = folded and not any(_is_letter(each) for each in folded)
        self[code] = " " if is_sign else folded
        return self[code]


def _base_of(character: str) -> str:
    """Return the base letter of a character; empty if the character is invisible."""
    if character.isascii():
        return character
    if _IGNORED.match(character):
        return ""
    named = _LATIN.fullmatch(unicodedata.name(character, ""))
    return _NAMED.get(named[1], named[1].lower()) if named else character


def _is_letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character) in ("Mn", "Mc")


FOLDED = _Folding()


def _runs(text: str) -> list[str]:
    """Return the folded words of a text; a run of a script without spaces is a separate word."""
    return _runs_of(fold(text))


def _runs_of(folded: str) -> list[str]:
    pattern = _ASCII_WORD if folded.isascii() else _word_pattern()
    if len(folded) <= MAX_UNLIMITED_LENGTH:
        return pattern.findall(folded)
    return [match[0] for match in islice(pattern.finditer(folded), MAX_WORDS)]


def _pieces(run: str, *, ends_alone: bool) -> list[str]:
    if run.isascii() or not _UNSPACED_RUN.match(run):
        return [run[:MAX_WORD_LENGTH]]
    pairs = [run[n : n + 2] for n in range(len(run) - 1)]
    return [*pairs, run[-1]] if ends_alone or not pairs else pairs


@cache
def _word_pattern() -> re.Pattern[str]:
    """Return a pattern for words, including the combining marks inside words of Indic scripts."""
    marks = "".join(
        chr(code)
        for block in _MARKED_BLOCKS
        for code in block
        if unicodedata.category(chr(code)) in ("Mn", "Mc")
    )
    unspaced = rf"(?:(?![\W_])[{UNSPACED}]|[{UNSPACED}](?<=[{marks}]))+"
    return re.compile(rf"{unspaced}|(?:(?![{UNSPACED}])[^\W_]|(?![{UNSPACED}])[{marks}])+")


MAX_EXPANDED_TERMS = 8
"""Maximum terms of a query that is expanded with word forms."""
_WORD = re.compile(r"[a-z]{4,}")
_ENDINGS = ("ing", "ies", "ied", "es", "ed", "er", "s", "e")
_MIN_STEM_LENGTH = 3


def forms_of(term: Term) -> tuple[Term, ...]:
    """Return a term and its other word forms, if it is one whole English-like word.

    Some of the generated forms are not words of any language.
    """
    words = phrase_of(term.text)
    if term.prefix or len(words) != 1 or not _WORD.fullmatch(words[0]):
        return (term,)
    return (term, *(Term(form, term.column) for form in dict.fromkeys(_forms(words[0]))))


def _forms(word: str) -> Iterator[str]:
    stem = _stem(word)
    for ending in ("", "s", "es", "e", "ed", "ing", "er"):
        yield stem + ending
    if stem.endswith("y"):
        yield f"{stem[:-1]}ies"
        yield f"{stem[:-1]}ied"


def _stem(word: str) -> str:
    if word.endswith("ss"):
        return word
    ending = next((each for each in _ENDINGS if word.endswith(each)), "")
    stem = word.removesuffix(ending)
    if len(stem) < _MIN_STEM_LENGTH:
        return word
    return f"{stem}y" if ending in ("ies", "ied") else stem


_KEY_PREFIX = "\ue000"
"""Private-use character, which ``words_of`` never returns."""
MAX_LABELS = 10
"""Maximum number of labels of a host for which index keys are made."""
MAX_YEARS, MAX_YEARS_BY_MONTH = 30, 2
"""Maximum length in years of a date range that is searched by year keys, and by month keys."""


@lru_cache(4096)
def index_key(condition: Condition, value: str) -> str:
    """Return the index key of a condition and a value: a word that search documents can have."""
    digest = hashlib.blake2b(f"{condition}:{fold(value)}".encode("utf-8", "replace"), digest_size=8)
    return _KEY_PREFIX + digest.hexdigest()


def list_key(path: str) -> str:
    """Return a list's path in the form that searches compare: folded, without quotes."""
    return fold(unquoted(path))


def sites_of(host: str) -> Iterator[str]:
    """Yield a host, the host without its port, and its parent domains."""
    yield host
    bare = _without_port(host)
    if bare != host:
        yield bare
    if _is_address(bare):
        return
    labels = bare.split(".")[-MAX_LABELS:]
    yield from (".".join(labels[n:]) for n in range(1, len(labels)))


def languages_of(tag: str) -> Iterator[str]:
    """Yield a language tag and its prefixes, such as pt-br and pt."""
    parts = tag.split("-")[:4]
    yield from ("-".join(parts[: n + 1]) for n in range(len(parts)))


def months_of(moment: datetime) -> tuple[str, str]:
    """Return the year of a time, and its year and month: ``2026`` and ``2026-11``."""
    return f"{moment.year:04}", f"{moment.year:04}-{moment.month:02}"


def dates_within(value: Dates) -> list[str]:
    """Return all years or months of a date range, in the form of ``months_of``.

    The list is empty if the range has no start, no end or too many years.
    """
    if value.first is None or value.last is None:
        return []
    first, end = value.first.begins, value.last.following.begins
    last = end - timedelta(seconds=1)
    years = range(first.year, last.year + 1)
    if len(years) > MAX_YEARS:
        return []
    if len(years) > MAX_YEARS_BY_MONTH:
        return [f"{year:04}" for year in years]
    months = [f"{year:04}-{month:02}" for year in years for month in range(1, 13)]
    return [each for each in months if months_of(first)[1] <= each <= months_of(last)[1]]


@lru_cache(16_384)
def reversed_host(host: str) -> str:
    """Return a host's labels in reverse order: ``org.example.www.`` for ``www.example.org:80``.

    So the reversed name of a host is a prefix of those of its subdomains. An IP address is not
    reversed.
    """
    bare = _without_port(host)
    return f"={bare}=" if _is_address(bare) else ".".join(reversed(bare.split("."))) + "."


def site_range(site: str) -> tuple[str, str]:
    """Return the range of the reversed names of a host and its subdomains: start and exclusive end.

    The range is empty for a host with a port, which has no subdomains.
    """
    first = reversed_host(site)
    end = first[:-1] + chr(ord(first[-1]) + 1)
    return (first, first) if _without_port(site) != site else (first, end)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _is_address(host: str) -> bool:
    return host.startswith("[") or host.replace(".", "").isdecimal()
