import pytest
from hypothesis import given
from hypothesis import strategies as st

from archiver.pages.article.extraction import extract_article
from archiver.pages.article.multipage import find_next_part, is_next_page, join_parts
from archiver.pages.article_text import to_text, whole
from archiver.pages.parsing import parse

HOME = "https://paper.example/2024/essay"
ARTICLE = "<article><p>Words.</p></article>"


@pytest.mark.parametrize(
    ("url", "following"),
    [
        ("/essay", "/essay?page=2"),
        ("/essay?page=2", "/essay?page=3"),
        ("/essay?id=7", "/essay?id=7&page=2"),
        ("/essay?id=7&page=2", "/essay?page=3&id=7"),
        ("/essay/", "/essay/2/"),
        ("/essay", "/essay/2"),
        ("/essay/2", "/essay/3"),
        ("/essay/", "/essay/page/2/"),
        ("/essay.html", "/essay-2.html"),
        ("/essay.html", "/essay_2.html"),
        ("/essay-1.html", "/essay-2.html"),
        ("/essay/page-1.html", "/essay/page-2.html"),
    ],
)
def test_a_url_with_the_next_number_is_the_next_page(url, following):
    assert is_next_page(f"https://paper.example{url}", f"https://paper.example{following}")


@pytest.mark.parametrize(
    ("url", "following"),
    [
        ("/essay", "/essay"),
        ("/essay", "/essay?page=3"),
        ("/essay?page=3", "/essay?page=2"),
        ("/2024/05/essay", "/2024/05/another-essay"),
        ("/essay?id=7", "/essay?id=8&page=2"),
        ("/essay?id=7", "/essay?id=8"),
        ("/essay", "/other/2"),
        ("/posts/1", "/posts/2"),
        ("/posts/123", "/posts/124"),
        ("/?p=123", "/?p=124"),
        ("/essay", "https://elsewhere.example/essay?page=2"),
    ],
)
def test_any_other_url_is_not_the_next_page(url, following):
    base = "https://paper.example"
    target = following if following.startswith("https") else base + following
    assert not is_next_page(base + url, target)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_urls_can_be_compared(url, following):
    current, target = f"https://a.example/{url}", f"https://a.example/{following}"

    assert not (is_next_page(current, target) and is_next_page(target, current))


def test_a_long_path_of_digits_is_fast():
    assert not is_next_page("https://a.example/" + "1/" * 4000, "https://a.example/" + "12-" * 4000)


def find(html, url=HOME):
    return find_next_part(parse(html), url)


def test_the_next_page_of_an_article_is_found():
    assert find(f'<link rel="next" href="?page=2">{ARTICLE}') == f"{HOME}?page=2"
    assert find(f'{ARTICLE}<a rel="nofollow NEXT" href="/2024/essay/2">2</a>') == f"{HOME}/2"


def test_the_next_post_of_a_blog_is_not_a_next_page():
    assert find(f'<link rel="next" href="/2024/another">{ARTICLE}') is None


def test_a_list_of_articles_has_no_next_page():
    assert find(f'<link rel="next" href="?page=2">{ARTICLE}{ARTICLE}') is None
    assert find('<link rel="next" href="?page=2"><p>One.</p>') is None


def test_pages_form_one_article_with_the_metadata_of_the_first():
    first = extract_article(f"<title>Essay</title>{page('One')}", HOME)
    second = extract_article(f"<title>Essay, page 2</title>{page('Two')}", f"{HOME}/2", part=2)
    joined = join_parts(first, [second])
    assert joined.metadata == first.metadata
    assert joined.text.index("One") < joined.text.index("Two")


def test_only_the_first_part_has_a_head():
    parts = [
        extract_article(f"<title>Essay</title>{headed(n)}", f"{HOME}/{n}", part=n) for n in (1, 2)
    ]

    joined = join_parts(parts[0], parts[1:])

    assert "1.jpg" in joined.head
    assert "2.jpg" not in joined.head
    assert joined.text == to_text(whole(joined))
    assert joined.html.index("One") < joined.html.index("2.jpg") < joined.html.index("Two")


def test_footnotes_link_within_their_page():
    parts = [extract_article(page("One"), HOME, part=number) for number in (1, 2)]
    joined = join_parts(parts[0], parts[1:]).html
    for name in ("n1", "p2-n1"):
        assert joined.count(f'id="a-{name}"') == 1
        assert joined.count(f'href="#a-{name}"') == 1


def headed(number):
    picture = f"<figure><img src=/{number}.jpg width=900></figure>"
    return f"<header><h1>Essay</h1>{picture}</header>{page(('One', 'Two')[number - 1])}"


def page(word):
    prose = f"{word} and a sentence that is long enough to be read, with a comma or two. " * 8
    return (
        f'<article><p>{prose}<a href="#n1">1</a></p><p>{prose}</p><p id="n1">{prose}</p></article>'
    )
