"""Zotero RDF of other programs: persons anywhere, and shared resources."""

from tests.formats.reading import annotations, source_record_of

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
