"""Hostile and very long input has the same result in both engines."""

import html
import random
import re
from collections.abc import Callable
from string import ascii_letters

import pytest

from archiver.app import open_app
from archiver.config import Settings
from archiver.model.listing import ListingQuery
from tests.command_line import run_command

Outcomes = list[tuple[int, str, str]]
Both = Callable[..., tuple[Outcomes, Outcomes]]


def letters(length: int, seed: int = 0) -> str:
    """Return letters that cannot be compressed."""
    return "".join(random.Random(seed).choices(ascii_letters, k=length))


@pytest.fixture
def run_on_both_engines(address, tmp_path) -> Both:
    """Run the same commands on a file index and on a server index; return both outputs."""

    def run_both(*commands: tuple[str, ...], input_data: bytes = b"") -> tuple[Outcomes, Outcomes]:
        return run("", "in-a-file", commands, input_data), run(
            address, "on-a-server", commands, input_data
        )

    def run(
        index: str, name: str, commands: tuple[tuple[str, ...], ...], input_data: bytes
    ) -> Outcomes:
        variables = {"ARCHIVER_INDEX": index, "ARCHIVER_DATA": str(tmp_path / name)}
        variables |= {"ARCHIVER_RENDER": "never", "ARCHIVER_RETRIES": "0"}
        variables |= {"ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8", "ARCHIVER_LOG_LEVEL": "error"}
        results = []
        for each in commands:
            done = run_command(*each, variables=variables, input_data=input_data)
            out = re.sub(r"^undo\t.*", "", done.stdout, flags=re.MULTILINE)
            results.append((done.returncode, out, done.stderr))
        return results

    return run_both


def bookmarks(*lines: str, folders: tuple[str, ...] = ()) -> bytes:
    opened = "".join(f"<DT><H3>{html.escape(each)}</H3><DL><p>" for each in folders)
    text = f"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><p>{opened}{''.join(lines)}"
    return text.encode("utf-8", "surrogatepass")


def link(url: str, title: str = "", tags: str = "") -> str:
    return f'<DT><A HREF="{url}" TAGS="{html.escape(tags)}" ADD_DATE="1700000000">{title}</A>'


FOLDERS = tuple(letters(190, seed) for seed in range(42))
PATH = "/".join(FOLDERS)
READING_COMMANDS = (("lists",), ("search", f"list:{FOLDERS[0]}"), ("export", "jsonl", "-"))


def test_lists_with_long_paths_behave_alike(run_on_both_engines):
    content = bookmarks(link("https://a.example/"), link("https://b.example/"), folders=FOLDERS)
    commands = (
        ("import", "-", "--no-crawl", "--folders-as", "paths"),
        ("edit", "https://a.example/", "--list", f"{PATH}/inside"),
        *READING_COMMANDS,
        ("imports", "undo", "1"),
        ("lists",),
    )

    in_a_file, on_a_server = run_on_both_engines(*commands, input_data=content)

    assert on_a_server == in_a_file
    assert {in_a_file[n][0] for n in (0, 1, -2, -1)} == {0}
    assert PATH in in_a_file[2][1].replace("\\/", "/")


ADDRESSES = (
    f"https://a.example/{letters(8000)}",
    f"https://a.example/?{letters(8170)}",
    f"https://a.example/{letters(8190)}",
    f"https://{letters(8000).lower()}/",
    f"https://{'.'.join(letters(60, n).lower() for n in range(100))}/",
    f"https://{'.'.join(letters(62, n).lower() for n in range(4))}/",
    "https://a.example/\0b",
    "https://a.example/\ud800",
    "https://a.example/%00%ED%A0%80",
)


TEXTS = (letters(8000), "a\0b", "\0", "a\x01b\x01\x02", "a\ud800b", "\U0001f600" * 5000, "﷽" * 3000)


def test_hostile_urls_and_texts_are_imported_alike(run_on_both_engines):
    content = bookmarks(
        *(link(url, "Some") for url in ADDRESSES),
        *(
            f"<DT><H3>{text}</H3><DL><p>{link(f'https://{n}.example/', text, f'{text},other')}</DL>"
            for n, text in enumerate(TEXTS)
        ),
    )
    commands = (("import", "-", "--no-crawl", "--folders-as", "paths"), *READING_COMMANDS)

    in_a_file, on_a_server = run_on_both_engines(*commands, input_data=content)

    assert on_a_server == in_a_file
    assert in_a_file[0][0] == 0
    for url in (ADDRESSES[0], ADDRESSES[1], ADDRESSES[5], f"https://{len(TEXTS) - 1}.example/"):
        assert url in in_a_file[3][1]


def test_many_links_of_one_host_are_queued_alike(run_on_both_engines):
    content = b"\n".join(b"https://a.example/%d" % n for n in range(2_500))
    commands = (("import", "-", "--no-crawl"), ("list", "--limit", "50"))

    in_a_file, on_a_server = run_on_both_engines(*commands, input_data=content)

    assert on_a_server == in_a_file
    assert "2500" in in_a_file[0][1]


async def test_a_very_long_article_is_found_by_its_last_word(live, address, tmp_path):
    words = " ".join(f"word{n % 20_000:09}" for n in range(180_000))
    assert len(words) > 2 << 20
    url = live.article("long", body=f"<article><p>{words} verylast</p></article>")
    results = []

    for index, name in (("", "in-a-file"), (address, "on-a-server")):
        settings = Settings(
            data=tmp_path / name,
            index=index or None,
            allow_networks="127.0.0.0/8",
            host_delay=0,
            render="never",
        )
        async with open_app(settings) as archive:
            await archive.entries.save([url], source="test")
            await archive.crawling.work()
            for query in (
                "verylast",
                "word000019999",
                '"word000000001 word000000002"',
                "absent",
            ):
                listing = await archive.search.listing(ListingQuery(query))
                results.append([(each.entry.url, each.entry.title) for each in listing.items])

    half = len(results) // 2
    assert results[half:] == results[:half]
    assert [len(each) for each in results[:half]] == [1, 1, 1, 0]


async def test_a_feed_with_a_long_url_can_be_followed(live, address, tmp_path):
    body = (
        '<rss version="2.0"><channel><title>News</title>'
        "<item><title>One</title><link>https://a.example/one</link></item></channel></rss>"
    )
    url = live.put(f"/feed?{letters(8000)}", body, kind="application/rss+xml")
    states = []

    for index, name in (("", "in-a-file"), (address, "on-a-server")):
        settings = Settings(
            data=tmp_path / name, index=index or None, allow_networks="127.0.0.0/8", render="never"
        )
        async with open_app(settings) as archive:
            await archive.subscriptions.follow(url, everything=True)
            await archive.subscriptions.check(url)
            listing = await archive.search.listing(ListingQuery())
            states.append([each.entry.url for each in listing.items])
            await archive.subscriptions.unfollow(url)

    assert states == [["https://a.example/one"]] * 2
