"""Words of a text: tokenizer, word forms and index keys.

Case and diacritics fold (Unicode NFKD, combining marks dropped, case folded; kana and Hangul only
NFKC, where a mark makes another letter). Scripts written without spaces become pairs of characters
that overlap, and the last character alone: 東京都 is 東京, 京都, 都. So any stretch of such a run
is a phrase of pairs, and any one character begins a word.

A key begins with a character that no text can bring into the index, and is of one length.
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

LONGEST = 60
"""Characters of a word that count; two that differ later are one."""
MOST_WORDS = 200_000
"""Of one text; what follows is not found."""
SHORT = 2 * MOST_WORDS
"""Characters of a text that holds no more words than count, however short they are."""
UNSPACED = (
    "\u0e01-\u0edf\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, kana, Han; but for the digits and signs among them."""
_APART = {code: " " for code in range(128) if not chr(code).isalnum()}
"""Twice as quick as an expression that finds what is between."""
_COMPOSED = re.compile("[\u3040-\u30ff\uac00-\ud7a3]")
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_MARKED_BLOCKS = (range(0x0483, 0x0488), range(0x0591, 0x1D00), range(0xA670, 0xAC00))


def words_of(text: str) -> list[str]:
    """The words of a text in order, as the index keeps them; none holds white space or a sign."""
    folded = fold(text)
    if folded.isascii() and len(folded) <= SHORT:
        words = folded.translate(_APART).split()
        if len(folded) <= LONGEST or max(map(len, words), default=0) <= LONGEST:
            return words
        return [word[:LONGEST] for word in words]
    return [word for run in _runs_of(folded) for word in _pieces(run, ends_alone=True)][:MOST_WORDS]


def phrase_of(text: str) -> list[str]:
    """The words that follow each other wherever a text stands: what a query asks the index for."""
    *runs, last = _runs(text) or [""]
    words = [word for run in runs for word in _pieces(run, ends_alone=True)]
    return words + _pieces(last, ends_alone=False) if last else []


def is_open(text: str) -> bool:
    """Whether a phrase ends in one character of a script without spaces: any word may go on so."""
    runs = _runs(text)
    return bool(runs) and len(runs[-1]) == 1 and bool(_unspaced().match(runs[-1]))


def is_unspaced(character: str) -> bool:
    """Whether a character is of a script that is written without spaces."""
    return bool(_unspaced().match(character))


def has_unspaced(text: str) -> bool:
    """Whether any character of a text is of such a script."""
    return not text.isascii() and bool(_unspaced().search(text))


def fold(text: str) -> str:
    """A text without case and diacritics."""
    if text.isascii():
        return text.lower()
    return _FOREIGN.sub(_fold_foreign, text.lower()).lower()


def _fold_foreign(run: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", run[0]).translate(_FOLDED)


class _Folding(dict[int, str]):
    """Each character folded, made when it is first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if _COMPOSED.match(character):
            folded = character
        else:
            parts = unicodedata.normalize("NFKD", character.casefold())
            folded = "".join(each for each in parts if not unicodedata.combining(each)).casefold()
        is_sign = folded and not any(_is_letter(each) for each in folded)
        self[code] = " " if is_sign else folded
        return self[code]


def _is_letter(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character) in ("Mn", "Mc")


_FOLDED = _Folding()


def _runs(text: str) -> list[str]:
    """Stretches of letters and digits, those of scripts without spaces apart."""
    return _runs_of(fold(text))


def _runs_of(folded: str) -> list[str]:
    pattern = _ascii() if folded.isascii() else _any()
    if len(folded) <= SHORT:
        return pattern.findall(folded)
    return [match[0] for match in islice(pattern.finditer(folded), MOST_WORDS)]


def _pieces(run: str, *, ends_alone: bool) -> list[str]:
    if run.isascii() or not _unspaced().match(run):
        return [run[:LONGEST]]
    pairs = [run[n : n + 2] for n in range(len(run) - 1)]
    return [*pairs, run[-1]] if ends_alone or not pairs else pairs


@cache
def _ascii() -> re.Pattern[str]:
    return re.compile(r"[a-z0-9]+")


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(rf"[{UNSPACED}]+")


@cache
def _any() -> re.Pattern[str]:
    """Letters, digits and the marks without which a word of an Indic script falls apart."""
    marks = "".join(
        chr(code)
        for block in _MARKED_BLOCKS
        for code in block
        if unicodedata.category(chr(code)) in ("Mn", "Mc")
    )
    unspaced = rf"(?:(?![\W_])[{UNSPACED}]|[{UNSPACED}](?<=[{marks}]))+"
    return re.compile(rf"{unspaced}|(?:(?![{UNSPACED}])[^\W_]|(?![{UNSPACED}])[{marks}])+")


MOST_TERMS = 8
"""Of a query whose words are taken in other forms, too."""
_WORD = re.compile(r"[a-z]{4,}")
_ENDINGS = ("ing", "ies", "ied", "es", "ed", "er", "s", "e")
_SHORTEST_STEM = 3


def forms_of(term: Term) -> tuple[Term, ...]:
    """A term, and other forms of it where it is one whole word; some are words of no language."""
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
    if len(stem) < _SHORTEST_STEM:
        return word
    return f"{stem}y" if ending in ("ies", "ied") else stem


_START = "\ue000"
"""Of a private use area: ``words_of`` lets none of those through."""
MOST_LABELS = 10
MOST_YEARS, MOST_YEARS_BY_MONTH = 30, 2


@lru_cache(4096)
def key(condition: Condition, value: str) -> str:
    """The word that stands for a condition and its value."""
    digest = hashlib.blake2b(f"{condition}:{fold(value)}".encode("utf-8", "replace"), digest_size=8)
    return _START + digest.hexdigest()


def list_key(path: str) -> str:
    """What lists are looked for by: their paths, in any case, without what no query can hold."""
    return fold(unquoted(path))


def sites_of(host: str) -> Iterator[str]:
    """A host, with and without its port, and the domains that it is below."""
    yield host
    bare = _without_port(host)
    if bare != host:
        yield bare
    if _is_address(bare):
        return
    labels = bare.split(".")[-MOST_LABELS:]
    yield from (".".join(labels[n:]) for n in range(1, len(labels)))


def languages_of(tag: str) -> Iterator[str]:
    """A language tag, and each of its beginnings: pt-br and pt."""
    parts = tag.split("-")[:4]
    yield from ("-".join(parts[: n + 1]) for n in range(len(parts)))


def months_of(moment: datetime) -> tuple[str, str]:
    """The year of a moment, and its month."""
    return f"{moment.year:04}", f"{moment.year:04}-{moment.month:02}"


def dates_within(value: Dates) -> list[str]:
    """The months, or else the years, that cover a span; empty if they are too many to be named."""
    if value.first is None or value.last is None:
        return []
    first, beyond = value.first.begins, value.last.following.begins
    last = beyond - timedelta(seconds=1)
    years = range(first.year, last.year + 1)
    if len(years) > MOST_YEARS:
        return []
    if len(years) > MOST_YEARS_BY_MONTH:
        return [f"{year:04}" for year in years]
    months = [f"{year:04}-{month:02}" for year in years for month in range(1, 13)]
    return [each for each in months if months_of(first)[1] <= each <= months_of(last)[1]]


@lru_cache(16_384)
def reversed_host(host: str) -> str:
    """``org.example.www.`` of ``www.example.org:80``: what is below a domain begins as it does."""
    bare = _without_port(host)
    return f"={bare}=" if _is_address(bare) else ".".join(reversed(bare.split("."))) + "."


def site_range(site: str) -> tuple[str, str]:
    """The first of the reversed hosts that a site stands for, and what lies beyond the last.

    A site with a port is one host: its range is empty, and it is found by its name.
    """
    first = reversed_host(site)
    beyond = first[:-1] + chr(ord(first[-1]) + 1)
    return (first, first) if _without_port(site) != site else (first, beyond)


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _is_address(host: str) -> bool:
    return host.startswith("[") or host.replace(".", "").isdecimal()
