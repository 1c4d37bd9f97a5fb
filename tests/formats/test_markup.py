"""What is read whole, for speed, is what reading it in parts gives."""

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from archiver.formats.markup import Link, Tag, tokenize, tokenize_list

_PIECES = (
    *("<DT><A HREF=", "<dt><a href=", '"http://a/"', "'b'", "c", "<DT>", "<A", "</A>", "</a>\n"),
    *(' TAGS="x,y"', ' T=""', ' T = "u"', "/", ">", "<", "Title", "&amp;", "<DD>", "note", "\n"),
    *("<H3>F</H3>", "<DL><p>", "</DL>", "<script>", "</script>", "<!--", "-->", '"', "é", " "),
)
_ITEM = '<DT><A HREF="http://a/">Title</A>\n'
_texts = st.lists(st.sampled_from((*_PIECES, _ITEM)), max_size=30).map("".join)


def parts(tokens):
    """Tokens with links taken apart, and text between two tags in one piece; none that is white."""
    apart = []
    for token in tokens:
        if isinstance(token, Link):
            apart += [Tag("dt", ""), Tag("a", token.attributes), token.text, Tag("/a", "")]
        else:
            apart.append(token)
    joined = []
    for is_text, group in groupby(apart, lambda each: isinstance(each, str)):
        some = [*group]
        joined += ["".join(some).strip()] if is_text else some
    return [each for each in joined if each]


@given(_texts, st.integers(1, 50))
def test_a_plain_item_is_read_whole_as_it_is_in_parts(text, size):
    chunks = [text[at : at + size] for at in range(0, len(text), size)]

    assert parts(tokenize_list(chunks)) == parts(tokenize(chunks))


def test_items_as_browsers_write_them_are_read_whole():
    tokens = [*tokenize_list(["<DL><p>\n" + _ITEM * 3])]

    assert tokens[3:] == [Link(' HREF="http://a/"', "Title")] * 3
