"""Icon and preview image of a page."""

import pytest

from archiver.pages.icon_candidates import MAX_COVERS, MAX_ICONS, find_covers, find_icons
from archiver.pages.metadata import read_head_metadata
from archiver.pages.parsing import base_of, parse

PAGE = "https://a.example/blog/post"


def icons_of(html):
    page = parse(html)
    return find_icons(page, PAGE, base_of(page, PAGE))


def covers_of(html):
    page = parse(html)
    return find_covers(read_head_metadata(page), base_of(page, PAGE))


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", ["/favicon.ico"]),
        ('<link rel="shortcut icon" href="/i.ico">', ["/i.ico"]),
        ('<link rel="mask-icon" href="/mask.svg">', ["/favicon.ico"]),
        ('<base href="/x/"><link rel=ICON href="i.png">', ["/x/i.png"]),
        (
            (
                "<link rel=icon href=/16.png sizes=16x16><link rel=icon href=/32.png sizes=32x32>"
                "<link rel=apple-touch-icon href=/t.png><link rel=icon href=/96.png sizes=96x96>"
            ),
            ["/96.png", "/t.png", "/32.png", "/16.png"],
        ),
        (
            (
                "<link rel=icon href=/i.svg type=image/svg+xml><link rel=icon href=/i.ico>"
                "<link rel=apple-touch-icon href=/t.png>"
            ),
            ["/i.svg", "/t.png", "/i.ico"],
        ),
        (
            (
                '<link rel=icon href=/dark.png sizes=64x64 media="(prefers-color-scheme: dark)">'
                "<link rel=icon href=/i.ico>"
            ),
            ["/i.ico", "/dark.png"],
        ),
        ('<link rel=icon href="data:image/png,x">', []),
        ("<link rel=icon href=/i.png>" * 99, ["/i.png"]),
    ],
)
def test_the_smallest_icon_that_is_sharp_comes_first(head, expected):
    assert icons_of(head) == tuple(f"https://a.example{each}" for each in expected)


def test_the_number_of_icons_is_limited():
    links = "".join(f"<link rel=icon href=/{n}.png>" for n in range(99))

    assert len(icons_of(links)) == MAX_ICONS


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", []),
        ('<meta property="og:image" content="/og.png">', ["/og.png"]),
        ('<meta name="twitter:image" content="t.png#x">', ["/blog/t.png"]),
        (
            "<meta name=twitter:image content=/t.png><meta property=og:image content=/o.png>",
            ["/o.png", "/t.png"],
        ),
        ('<meta property="og:image" content="javascript:alert(1)">', []),
        *(
            (
                (
                    '<script type="application/ld+json">{"@type":"Article","headline":"A","image":'
                    f"{image}}}</script>"
                ),
                ["/ld.png"],
            )
            for image in ('"/ld.png"', '{"url": "/ld.png"}', '[{"contentUrl": "/ld.png"}, 7]')
        ),
    ],
)
def test_declared_preview_images_come_first(head, expected):
    assert covers_of(head) == tuple(f"https://a.example{each}" for each in expected)


def test_the_number_of_preview_images_is_limited():
    named = ("og:image", "og:image:url", "twitter:image", "twitter:image:src")
    metas = "".join(f'<meta property="{name}" content="/{n}.png">' for n, name in enumerate(named))

    assert len(covers_of(metas)) == MAX_COVERS
