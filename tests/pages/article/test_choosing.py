"""The chosen element has the content of the page and no navigation."""

import pytest

from archiver.pages.article.extraction import extract_article
from archiver.pages.article_text import whole

URL = "https://example.com/deep/page.html"
SENTENCE = "The mill stood by the river and ground what the valley grew each year. "


def article_of(body: str) -> str:
    """Return the article of a page with this body, including its head."""
    return whole(extract_article(f"<html><body>{body}</body></html>", URL))


def test_pictures_linked_to_themselves_are_a_gallery():
    items = "".join(f'<li><a href="{n}.jpg"><img src="s{n}.jpg"></a></li>' for n in range(8))

    article = article_of(f"<div id=main><h2>The mill</h2><ul>{items}</ul></div>")

    assert article.count("<img") == 8


def test_all_sections_of_a_manual_are_extracted():
    sections = "".join(
        f"<div class=sect><h2>Part {n}</h2><div class=body><div><p>{SENTENCE * size}</p></div>"
        "</div></div>"
        for n, size in enumerate((2, 9, 1, 3))
    )

    article = article_of(f"<div id=header><h1>Mill</h1></div><div id=content>{sections}</div>")

    assert all(f"Part {n}</h2>" in article for n in range(4))


def test_all_posts_of_a_thread_without_paragraphs_are_extracted():
    posts = "".join(
        f"<div class=post><h4>{name}</h4><div><span>{SENTENCE * 4}</span></div></div>"
        for name in ("Ada", "Grace", "Mary")
    )
    quoting = posts.replace("<span>", "<span></span><table><tr><td>said</td></tr></table><span>")

    article = article_of(f"<h1>Mills</h1><div id=posts>{quoting}</div>")

    assert all(name in article for name in ("Ada", "Grace", "Mary"))


def test_a_text_in_sections_keeps_its_title_and_its_motto():
    sections = "".join(
        f"<div class=section><h2>Part {n}</h2><p>{SENTENCE * 9}</p></div>" for n in range(3)
    )
    above = "<h1>On mills</h1><blockquote><p>Grind - A miller</p></blockquote>"

    article = article_of(f"<div class=book>{above}{sections}</div>")

    assert "On mills" in article
    assert "A miller" in article


def test_the_number_of_a_heading_stays():
    heading = '<h2><span class="header-section-number">2.5</span> Tables</h2>'

    assert "2.5" in article_of(f"<div>{heading}<p>{SENTENCE * 9}</p></div>")


def test_a_short_article_does_not_include_its_surroundings():
    article = article_of(
        f"<p class=breadcrumbs>Boards / Mills</p><article><p>{SENTENCE * 4}</p></article>"
        f"<footer class=site-footer><p>Made from a dump, by a program, in July.</p></footer>"
    )

    assert "Boards" not in article
    assert "dump" not in article


def test_text_directly_in_a_section_is_extracted():
    article = article_of(
        f"<section>{SENTENCE}<b>Twice.</b></section><div><p>{SENTENCE * 9}</p></div>"
    )

    assert "Twice." in article


def test_a_page_of_links_is_its_main_element():
    links = "".join(f"<li><a href=/{n}>A mill by the river, number {n}</a></li>" for n in range(9))

    toast = "<aside class=toast><div><p>A new version of content is available.</p></div></aside>"

    article = article_of(f"<div><main><ul>{links}</ul></main></div>{toast}")

    assert article.count("A mill by the river") == 9
    assert "available" not in article


def test_class_names_do_not_remove_a_heading_followed_by_text():
    section = f'<h2 id="footer">Footer</h2><p>{SENTENCE * 3}</p>'
    beside = '<h2 id="comments">Comments</h2><ol class="comments"><li>First!</li></ol>'

    article = article_of(
        f'<div id=content><h1 id="menu">Menu</h1><p>{SENTENCE}</p>'
        f"<p>{SENTENCE * 9}</p>{section}{beside}</div>"
    )

    assert ">Menu</h2>" in article
    assert ">Footer</h2>" in article
    assert "Comments" not in article


def test_content_hidden_until_a_script_runs_is_extracted():
    for hidden in ("hidden", "aria-hidden=true", "style='display: none'"):
        article = extract_article(f"<body {hidden}><article><p>{SENTENCE * 9}</p></article>", URL)

        assert SENTENCE.strip() in article.text


@pytest.mark.parametrize("name", ["header-anchor", "section-header", "header"])
def test_a_heading_with_the_class_header_stays(name):
    middle = f"<h2 class={name}>In autumn</h2><ul><li>Rye</li><li>Barley</li></ul>"

    article = article_of(f"<article><p>{SENTENCE * 9}</p>{middle}<p>{SENTENCE * 9}</p></article>")

    assert "In autumn</h2>" in article


@pytest.mark.parametrize("name", ["scroll-x", "media", "widget"])
def test_data_tables_and_pictures_stay_in_elements_of_any_class(name):
    table = f"<div class={name}><table><tr><th>Rye</th></tr><tr><td>12</td></tr></table></div>"
    picture = f"<div class={name}><img src=a.jpg><small>A sack</small></div>"
    middle = f"{table}<p>{SENTENCE * 9}</p>{picture}"

    article = article_of(f"<article><p>{SENTENCE * 9}</p>{middle}<p>{SENTENCE * 9}</p></article>")

    assert "<table>" in article
    assert "<img" in article
    assert "A sack" in article


def test_sections_with_ids_from_their_headings_stay():
    def section(name: str) -> str:
        slug = name.lower().replace(" ", "-")
        return f"<section id={slug}><h2>{name}</h2><p>{SENTENCE * 6}</p></section>"

    names = ("Wheels", "Legends", "Related work", "Community")

    article = article_of(f"<main><h1>Mills</h1>{''.join(map(section, names))}</main>")

    assert all(f"{name}</h2>" in article for name in names)


def test_sections_named_by_headings_are_removed_without_prose_or_with_comments():
    links = "".join(f'<li><a href="/{n}">Mill number {n}</a></li>' for n in range(5))
    page = (
        f"<main><section id=wheels><h2>Wheels</h2><p>{SENTENCE * 9}</p></section>"
        f"<section id=related><h2>Related</h2><ul>{links}</ul></section>"
        f"<section id=comments><h2>Comments</h2><p>{SENTENCE * 2} I saw it.</p></section></main>"
    )

    article = article_of(page)

    assert "Wheels" in article
    assert "Mill number" not in article
    assert "I saw it" not in article


def test_text_next_to_a_large_figure_is_extracted():
    opening = "<h2>Before</h2><ol><li>Take the stone.</li></ol><pre>mill --turn</pre>"

    article = article_of(
        f"<div class=post><p>{SENTENCE}</p>{opening}"
        f"<figure><img src=a.png><figure>{f'<p>{SENTENCE * 3}</p>' * 9}</figure></figure></div>"
    )

    assert "Before</h2>" in article
    assert "Take the stone." in article
    assert "mill --turn" in article


def test_paragraphs_in_an_element_named_shared_stay():
    prose = f"<p>{SENTENCE}</p><p>{SENTENCE}</p>"

    article = article_of(
        f'<div class="entry share">{prose}</div><div class=share><p>Share</p><p>Send</p></div>'
    )

    assert article.count("The mill stood") == 2
    assert "Send" not in article


def test_tag_lists_are_removed_and_page_lists_stay():
    text = f"<p>{SENTENCE * 9}</p>"
    filed = '<ul><li><a href="/tag/mills/">mills</a></li><li><a rel=tag href="/w">wheels</a></ul>'
    read = '<h2>Sources</h2><ul><li><a href="/mills/">On mills</a></li></ul>'

    article = article_of(f"<article>{text}{read}<div>Tags: {filed}</div></article>")

    assert "On mills" in article
    assert "wheels" not in article


def test_elements_named_navigation_are_removed_if_they_contain_only_links():
    crumbs = '<ul class="nav-crumbs"><li><a href="/">Home</a><li><a href="/a">Articles</a></ul>'
    around = '<ul class="post-navigation"><li><a href="/b">Older wheel</a></ul>'
    directions = '<ul class="nav"><li>Turn <a href="/c">left</a> at the mill, and stop.</ul>'

    article = article_of(
        f"<article><h2>Mills</h2>{crumbs}{around}<p>{SENTENCE * 9}</p>{directions}"
    )

    assert "Articles" not in article
    assert "Older wheel" not in article
    assert "at the mill, and stop" in article


def test_elements_named_newsletter_or_related_are_removed():
    offered = (
        "<section class=x-recommended><h3>Recommended for you</h3><p>Another mill</p></section>"
        "<section class=newsletter-box><h4>Letters from the mill</h4></section>"
    )

    article = article_of(f"<article><p>{SENTENCE * 9}</p>{offered}</article>")

    assert "Another mill" not in article
    assert "Letters" not in article


def test_navigation_next_to_an_article_is_removed_despite_the_class_post():
    links = "<div><a href=/a>The mill of the valley</a> <a href=/b>Other mills</a></div>"
    around = f"<nav class=post-navigation><h2>More of them</h2>{links}</nav>"

    text = f"<p>{SENTENCE * 5}</p>" * 2

    article = article_of(f"<div class=entry-content>{text}</div>{around}")

    assert SENTENCE.strip() in article
    assert "More of them" not in article


LOOSE = (
    "First line.<br><br>Second line.<br><br>Third line.",
    f"First. {SENTENCE}<br>Second. {SENTENCE}<br>Third. {SENTENCE}",
    f"First. {SENTENCE}<div><p>Second. {SENTENCE * 9}</p></div>Third. {SENTENCE}",
    f"First. {SENTENCE}<p>Second. {SENTENCE}<p><i>Third.</i> {SENTENCE}",
    f"<h2>First</h2>Second. {SENTENCE}<hr>Third. {SENTENCE}",
    f"First. {SENTENCE}<table><tr><td>Second. {SENTENCE * 9}</table>Third. {SENTENCE}",
)


@pytest.mark.parametrize("text", LOOSE, ids=["breaks", "lines", "div", "p", "headings", "table"])
def test_text_directly_in_the_body_is_in_the_article(text):
    article = extract_article(f"<title>Mill</title><body>{text}", URL).text

    assert [article.find(word) for word in ("First", "Second", "Third")] == sorted(
        article.find(word) for word in ("First", "Second", "Third")
    )
    assert "First" in article
    assert SENTENCE not in text or article.count(SENTENCE.strip()) == text.count(SENTENCE.strip())


@pytest.mark.parametrize(
    "tag",
    "main center form fieldset details blockquote li dd td my-body font span b section".split(),
)
def test_text_next_to_a_block_is_in_the_article(tag):
    block = f"<div><p>Second. {SENTENCE * 9}</p><p>{SENTENCE * 9}</p></div>"
    text = f"<{tag}>First. {SENTENCE * 3}{block}Third. {SENTENCE * 3}</{tag}>"
    container = f"<table><tr>{text}</table>" if tag == "td" else text

    article = article_of(container)

    assert article.find("First") < article.find("Second") < article.find("Third")
    assert "First" in article


def test_links_directly_in_the_body_are_not_part_of_an_article():
    links = "".join(f'<a href="/{n}">Page {n}</a> | ' for n in range(5))

    article = article_of(f"{links}<div id=content><p>{SENTENCE * 9}</p><p>{SENTENCE * 9}</p></div>")

    assert "Page 3" not in article
