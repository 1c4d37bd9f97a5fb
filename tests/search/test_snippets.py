"""Snippets: the part of a text around the matches."""

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from archiver.errors import InvalidQuery
from archiver.search.query_parser import parse_query
from archiver.search.snippets import LENGTH, SnippetPiece, match_positions, snippet
from archiver.search.words import has_unspaced

FILLER = "lorem ipsum dolor sit amet " * 40


def marked(text: str, query: str) -> str:
    return "".join(
        f"[{piece.text}]" if piece.is_match else piece.text
        for piece in snippet(text, parse_query(query))
    )


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("The quick brown fox", "quick FOX", "The [quick] brown [fox]"),
        ("Un café noir", "cafe", "Un [café] noir"),
        ("Straße, STRASSE, Strasse", "strasse", "[Straße], [STRASSE], [Strasse]"),
        ("Straße, Strasse", '"Straße strasse"', "[Straße, Strasse]"),
        ("vœux, Hawai\u02bbi, Ærø", "voeux hawaii aero", "[vœux], [Hawai\u02bbi], [Ærø]"),
        ("das Dampf\u00adschiff fährt", "dampfschiff", "das [Dampf\u00adschiff] fährt"),
        ("\u00adcafe\u0301 noir", "café", "\u00ad[cafe\u0301] noir"),
        ("في كتـــابي وكتـــاب", "كتاب*", "في [كتـــابي] وكتـــاب"),
        ("archive archives", "archiv*", "[archive] [archives]"),
        ("one, two; one two", '"one two"', "[one, two]; [one two]"),
        ("foxes and fox", "fox -foxes", "foxes and [fox]"),
        ("snake_case word", "case", "snake_[case] word"),
        ("nothing here", "fox", "nothing here"),
        ("spaces\n\n and\tlines", "lines", "spaces and [lines]"),
        ("東京都は日本の首都", "京都", "東[京都]は日本の首都"),
        ("ที่นี่ภาษาไทยดี", "ภาษาไทย", "ที่นี่[ภาษาไทย]ดี"),
        ("python入門書", "入門 python", "[python][入門]書"),
        ("anything", "", "anything"),
        ("", "fox", ""),
    ],
)
def test_hits_are_marked(text: str, query: str, expected: str) -> None:
    assert marked(text, query) == expected


def test_a_snippet_is_around_the_match() -> None:
    cut = marked(FILLER + "the fox sleeps " + FILLER, "fox")

    assert cut.startswith("… ")
    assert cut.endswith(" …")
    assert "the [fox] sleeps" in cut
    assert len(cut) < LENGTH + 20


def test_a_snippet_prefers_a_part_with_more_words() -> None:
    assert "[fox] and [bear]" in marked(f"fox {FILLER} fox and bear {FILLER}", "fox bear")


@pytest.mark.parametrize(
    ("query", "is_found"), [("red", True), ("red kite", True), ("-fox", True), ("absent", False)]
)
def test_the_start_of_a_text_has_the_snippet_of_the_whole_or_none(
    query: str, is_found: bool
) -> None:
    text, tree = f"{FILLER}red fox {FILLER}red kite {FILLER}", parse_query(query)
    starts = {
        snippet(text[:length].rpartition(" ")[0], tree, is_cut=True)
        for length in range(0, len(text), 9)
    }
    assert starts - {()} == ({snippet(text, tree)} if is_found else set())


def test_without_a_match_the_snippet_is_the_start() -> None:
    pieces = snippet(f"Beginning {FILLER}", parse_query("fox"))

    assert pieces[0].text.startswith("Beginning lorem")
    assert pieces[-1] == SnippetPiece(" …", is_match=False)


@given(st.text(), st.text())
def test_any_text_and_query_have_a_snippet(text: str, query: str) -> None:
    text = text * 20
    try:
        query_tree = parse_query(query)
    except InvalidQuery:
        reject()
    joined = "".join(piece.text for piece in snippet(text, query_tree))

    assert joined.removeprefix("… ").removesuffix(" …") in " ".join(text.split()) or not joined


@given(st.text("ab é-_.", max_size=60), st.text('ab é"*', min_size=1, max_size=12))
def test_text_without_spaces_elsewhere_does_not_change_a_snippet(text: str, query: str) -> None:
    try:
        query_tree = parse_query(query)
    except InvalidQuery:
        reject()
    beside = f"{text} 東"

    assert has_unspaced(beside)
    assert match_positions(beside, query_tree) == match_positions(text, query_tree)
