"""Exports of reference managers: LaTeX escapes, and RIS without start or end tags."""

import json

import pytest

from archiver.formats.bibliographies import address_of, text_of_latex
from tests.formats.reading import annotations, opened, source_record_of

A, B = "https://a.example/1", "https://b.example/2"


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"G{\"o}del", "Gödel"),
        (r"G\"{o}del, G\"odel", "Gödel, Gödel"),
        (r"Erd{\H o}s, Erd\H{o}s", "Erdős, Erdős"),
        (r"{\v{C}}apek, \v Capek", "Čapek, Čapek"),
        (r"na{\"\i}ve, na\"{\i}ve, \'\i", "naïve, naïve, í"),
        (r"Stra{\ss}e, Stra\ss e, {\O}rsted", "Straße, Straße, Ørsted"),
        (r"Wa\l\k{e}sa, Fran{\c c}ois, \c{c}a", "Wałęsa, François, ça"),
        (r"pages 1--2 --- more \& 50\%", "pages 1\u20132 — more & 50%"),
        (r"\LaTeX{} in C:\unknown", r"\LaTeX in C:\unknown"),
        ("R&D, 50% of #1 -- more", "R&D, 50% of #1 \u2013 more"),
        ("https://a.example/x--y", "https://a.example/x--y"),
        ("plain {Braces}", "plain Braces"),
    ],
)
def test_latex_letters_are_decoded(latex, text):
    assert text_of_latex(latex) == text


def test_latex_in_bibtex_titles_notes_and_keywords_is_decoded():
    (read,) = annotations(
        rf'@misc{{k, title = "{{G{{\"o}}del}}", url={{{A}}}, note={{{{\v S}}koda}}, '
        r"keywords = {Erd{\H o}s, na\"{\i}ve}, author = {M{\"u}ller}}",
        "x.bib",
        form="BibTeX",
    )

    assert (read.title, read.note, read.tags) == ("Gödel", "Škoda", ("Erdős", "naïve"))
    assert source_record_of(read)["author"] == r"M{\"u}ller"


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
    ("endless", "others"),
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
def test_an_unclosed_reference_is_a_problem_and_later_ones_are_read(endless, others):
    _, found = opened(endless + others)

    assert ["incomplete" in each.problem for each in found] == [True, False, False]
    assert "not read" in found[2].problem
    assert "ndless" in found[0].annotation.url_given
    assert found[1].annotation.url_given == B


def test_a_reference_with_several_urls_uses_the_first_and_keeps_the_others():
    (both,) = annotations(f"TY  - JOUR\nTI  - T\nUR  - {A};b=1;{B}\nER  - \n", form="RIS")
    (lines,) = annotations(f"TY  - JOUR\nTI  - T\nUR  - {A}\nUR  - {B}\nER  - \n", form="RIS")

    assert (both.url_given, source_record_of(both)["UR"]) == (f"{A};b=1", B)
    assert (lines.url_given, source_record_of(lines)["UR"]) == (A, B)


@pytest.mark.parametrize(
    ("doi", "remarks", "address"),
    [
        ("10.1000/182", "PMID: 1234", "https://doi.org/10.1000/182"),
        ("doi:10.1000/182", "", "https://doi.org/10.1000/182"),
        ("", "Read it.\nPMID: 18160043", "https://pubmed.ncbi.nlm.nih.gov/18160043/"),
        ("", "PMID: 123456 PMCID: PMC77777", "https://pmc.ncbi.nlm.nih.gov/articles/PMC77777/"),
        ("", "arXiv:2101.00001v2 [cs]", "https://arxiv.org/abs/2101.00001"),
        ("", "arXiv: hep-th/9901001", "https://arxiv.org/abs/hep-th/9901001"),
        ("", "ISBN 978-3-16-148410-0, about PMIDs", ""),
    ],
)
def test_a_reference_without_a_url_uses_its_identifiers(doi, remarks, address):
    assert address_of(doi, remarks) == address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("@article{k, title={T}, pmid={18160043}}", "https://pubmed.ncbi.nlm.nih.gov/18160043/"),
        (
            "@misc{k, title={T}, eprint={2101.00001}, archivePrefix={arXiv}}",
            "https://arxiv.org/abs/2101.00001",
        ),
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


def test_a_person_directly_in_an_item_is_kept():
    [found] = read(item(1, "<foaf:Person><foaf:surname>Ann</foaf:surname></foaf:Person>"))

    assert (found.url_given, found.title) == ("http://a.example/1", "T")
    assert source_record_of(found) == {"person": "Ann"}


def test_repeated_references_to_one_text_do_not_multiply_it():
    text = "word " * 2_000
    refers = (
        '<dcterms:isReferencedBy rdf:resource="#n"/><dcterms:isPartOf rdf:resource="#j"/>'
        '<z:link rdf:resource="#f"/>'
    )
    apart = (
        f'<bib:Memo rdf:about="#n"><rdf:value>{text}</rdf:value></bib:Memo>'
        f'<bib:Journal rdf:about="#j"><dc:title>{text}</dc:title></bib:Journal>'
        f'<z:Attachment rdf:about="#f"><rdf:value>{text}</rdf:value></z:Attachment>'
    )

    first, *others = read("".join(item(n, refers) for n in range(100)) + apart)

    assert first.note == text.strip()
    assert len(others) == 99
    assert all(len(each.note + each.source_record) < 1_200 for each in others)


JOURNAL = "<bib:Journal{}><dc:title>J</dc:title><dc:identifier>DOI {}</dc:identifier></bib:Journal>"


def test_an_item_without_a_url_uses_its_identifiers():
    attached = '<z:Attachment rdf:about="#f"><dc:identifier><dcterms:URI><rdf:value>{}</rdf:value>'
    attached += "</dcterms:URI></dc:identifier></z:Attachment>"
    items = {
        f"<dcterms:isPartOf>{JOURNAL.format('', '10.1/a')}</dcterms:isPartOf>": "https://doi.org/10.1/a",
        '<dcterms:isPartOf rdf:resource="urn:issn:1"/>': "https://doi.org/10.1/b",
        "<dc:description>PMID: 18160043\nPMCID: PMC3081528</dc:description>": (
            "https://pmc.ncbi.nlm.nih.gov/articles/PMC3081528/"
        ),
        '<z:link rdf:resource="#f"/>': "https://a.example/attached",
    }
    inner = "".join(
        f'<bib:Article rdf:about="#{n}">{each}<dc:title>T</dc:title></bib:Article>'
        for n, each in enumerate(items)
    )
    apart = JOURNAL.format(' rdf:about="urn:issn:1"', "10.1/b")

    found = read(inner + apart + attached.format("https://a.example/attached"))

    assert [each.url_given for each in found] == [*items.values()]
