"""Exports of reference managers: LaTeX escapes, and RIS without start or end tags."""

import json

import pytest

from archiver.formats.bibliographies import text_of_latex
from tests.formats.reading import annotations, opened

A, B = "https://a.example/1", "https://b.example/2"


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"G{\"o}del", "Gödel"),
        (r"Erd{\H o}s, Erd\H{o}s", "Erdős, Erdős"),
        (r"na{\"\i}ve, na\"{\i}ve, \'\i", "naïve, naïve, í"),
        (r"Stra{\ss}e, Stra\ss e, {\O}rsted", "Straße, Straße, Ørsted"),
        (r"Wa\l\k{e}sa, Fran{\c c}ois, \c{c}a", "Wałęsa, François, ça"),
        (r"pages 1--2 --- more \& 50\%", "pages 1\u20132 — more & 50%"),
        (r"\LaTeX{} in C:\unknown", r"\LaTeX in C:\unknown"),
        ("https://a.example/x--y", "https://a.example/x--y"),
        ("plain {Braces}", "plain Braces"),
    ],
)
def test_latex_letters_are_decoded(latex, text):
    assert text_of_latex(latex) == text


@pytest.mark.parametrize(
    "text",
    [
        f"TI  - A\nUR  - {A}\nER  - \nTI  - B\nUR  - {B}\nER  - \n",
        f"TY  - ELEC\nTI  - A\nUR  - {A}\nTY  - ELEC\nTI  - B\nUR  - {B}\n",
        f"\ufeffTI  - A\nUR  - {A}\n\nTI  - B\nUR  - {B}\n",
    ],
)
def test_ris_references_without_start_or_end_tag_are_separated(text):
    read = annotations(text, form="RIS")

    assert [(each.title, each.url_given) for each in read] == [("A", A), ("B", B)]


@pytest.mark.parametrize(
    ("endless", "later"),
    [
        (
            f"TY  - ELEC\nTI  - Endless\nUR  - {A}\n" + "KW  - word\n" * 60_000,
            f"TY  - X\nUR  - {B}\n",
        ),
        (
            f"@misc{{endless,\n url = {{{A}}},\n" + "x = {y},\n" * 60_000,
            f"@misc{{b, url = {{{B}}}}}\n",
        ),
    ],
)
def test_an_unclosed_reference_is_a_problem_and_later_ones_are_read(endless, later):
    _, bookmarks = opened(endless + later)

    assert ["incomplete" in each.problem for each in bookmarks] == [True, False, False]
    assert "not imported" in bookmarks[2].problem
    assert "ndless" in bookmarks[0].annotation.url_given
    assert bookmarks[1].annotation.url_given == B


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("@article{k, title={T}, pmid={18160043}}", "https://pubmed.ncbi.nlm.nih.gov/18160043/"),
        (
            "TY  - JOUR\nTI  - T\nN1  - PMID: 77\nN1  - PMID: 777\nER  - \n",
            "https://pubmed.ncbi.nlm.nih.gov/777/",
        ),
        (
            json.dumps(
                [
                    {"type": "article", "title": "T", "PMID": "777"},
                    {"type": "article", "title": "B", "DOI": "10.1/b"},
                ]
            ),
            "https://pubmed.ncbi.nlm.nih.gov/777/",
        ),
    ],
)
def test_identifiers_are_found_in_each_format(text, address):
    assert annotations(text)[0].url_given == address


SPACES = (
    'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:z="http://www.zotero.org/namespaces/export#" '
    'xmlns:bib="http://purl.org/net/biblio#" xmlns:foaf="http://xmlns.com/foaf/0.1/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
)


def read(inner):
    return annotations(f"<rdf:RDF {SPACES}>{inner}</rdf:RDF>", form="Zotero RDF")


def item(number, inner):
    about = f"http://a.example/{number}"
    return f'<bib:Article rdf:about="{about}">{inner}<dc:title>T</dc:title></bib:Article>'


def test_repeated_references_to_one_text_do_not_multiply_it():
    text = "word " * 2_000
    refers = (
        '<dcterms:isReferencedBy rdf:resource="#n"/><dcterms:isPartOf rdf:resource="#j"/>'
        '<z:link rdf:resource="#f"/>'
    )
    items = (
        f'<bib:Memo rdf:about="#n"><rdf:value>{text}</rdf:value></bib:Memo>'
        f'<bib:Journal rdf:about="#j"><dc:title>{text}</dc:title></bib:Journal>'
        f'<z:Attachment rdf:about="#f"><rdf:value>{text}</rdf:value></z:Attachment>'
    )

    first, *remaining = read("".join(item(n, refers) for n in range(100)) + items)

    assert first.note == text.strip()
    assert len(remaining) == 99
    assert all(len(each.note + each.source_record) < 1_200 for each in remaining)
