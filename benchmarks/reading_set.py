"""Writes pages of built sites in the layout that ``benchmarks.reading`` expects.

Usage: python -m benchmarks.reading_set CLONES FOLDER

``benchmarks/reading_pages.toml`` lists the pages and the selectors of their articles. CLONES
contains a git repository for each, as ``OWNER+NAME``; missing ones are cloned from GitHub. The
pages are not part of this repository because their licences vary.
"""

import argparse
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from archiver.http.encoding_detection import decode_document

PAGES = Path(__file__).with_name("reading_pages.toml")
NEVER = "script, style, noscript, button, form"
"""Elements that never belong to an article."""


@dataclass(frozen=True, slots=True)
class Site:
    """Pages of one repository with the same structure.

    Attributes:
        kind: kind of content.
        repository: ``owner/name``.
        commit: commit to read.
        address: URL at which the repository's root was published.
        article: selector of the elements that are the article.
        excluded: selector of elements in them that are not part of it; empty for none.
        pages: paths.
        unwrapped: elements used for code layout only, replaced by their content.
    """

    kind: str
    repository: str
    commit: str
    address: str
    article: str
    excluded: str
    pages: list[str]
    unwrapped: tuple[str, ...] = ()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    sites = [Site(**each) for each in tomllib.loads(PAGES.read_text())["site"]]
    for site in sites:
        clone = clone_of(site, options.clones)
        for path in site.pages:
            lay_out(site, path, shown(clone, site.commit, path), options.folder)
    print(f"{sum(len(site.pages) for site in sites)} pages of {len(sites)} sites")


def clone_of(site: Site, clones: Path) -> Path:
    """Return the repository of a site, cloned if necessary."""
    clone = clones / site.repository.replace("/", "+")
    if not clone.exists():
        address = f"https://github.com/{site.repository}"
        command = ["git", "clone", "--quiet", "--bare", "--filter=blob:none", address, str(clone)]
        subprocess.run(command, check=True)
    return clone


def shown(clone: Path, commit: str, path: str) -> bytes:
    """Return a file of a repository at a commit."""
    command = ["git", "-C", str(clone), "show", f"{commit}:{path}"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def lay_out(site: Site, path: str, body: bytes, folder: Path) -> None:
    """Write a page, its URL, and its expected article.

    Raises:
        ValueError: the page has no such article.
    """
    url = site.address + path.removesuffix("index.html")
    tree = LexborHTMLParser(decode_document(body, "text/html", "", url).text)
    for node in tree.css(f"{NEVER}, {site.excluded}" if site.excluded else NEVER):
        node.decompose()
    articles = tree.css(site.article)
    if not articles:
        raise ValueError(f"{url} has no {site.article}")
    for each in articles:
        each.unwrap_tags(list(site.unwrapped))
    name = f"{site.repository} {path}".replace("/", "-").replace(" ", "-").removesuffix(".html")
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    (target / "source.html").write_bytes(body)
    (target / "url.txt").write_text(url, encoding="utf-8")
    expected = "\n".join(each.html or "" for each in articles)
    (target / "expected.html").write_text(expected, encoding="utf-8")


if __name__ == "__main__":
    main()
