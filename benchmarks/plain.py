"""A simple pipeline for comparison: fetch, Beautiful Soup, readability, a file per page.

Usage: python -m benchmarks.plain LIST FOLDER [PARSER]

PARSER is Beautiful Soup's: the fast ``lxml``, or Python's ``html.parser``. Resources are not
fetched. Each page becomes ``FOLDER/<MD5 of its URL>/index.md``. Pages that its libraries cannot
parse are skipped and counted.
"""

import hashlib
import http.client
import logging
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

from bs4 import BeautifulSoup
from readability import Document

log = logging.getLogger(__name__)


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    urls, folder = Path(sys.argv[1]).read_text().split(), Path(sys.argv[2])
    parser = sys.argv[3] if len(sys.argv) > 3 else "lxml"
    connection = http.client.HTTPConnection(urlsplit(urls[0]).netloc)
    lost = 0
    for url in urls:
        connection.request("GET", urlsplit(url).path)
        page = connection.getresponse().read()
        try:
            keep(url, page, folder, parser)
        except Exception:
            log.exception("%s could not be read", url)
            lost += 1
    print(f"lost\t{lost}")


def keep(url: str, page: bytes, folder: Path, parser: str) -> None:
    """Extract one page and write its file."""
    soup = BeautifulSoup(page, parser)
    title = soup.title.get_text() if soup.title else ""
    needs = [
        each.get("src") or each.get("href") for each in soup.select("img[src], link[href], source")
    ]
    article = Document(str(soup)).summary(html_partial=True)
    name = hashlib.md5(url.encode(), usedforsecurity=False).hexdigest()
    (folder / name).mkdir(parents=True)
    head = f"title: {title}\nurl: {url}\nhash_url: {name}\nneeds: {len(needs)}\n\n"
    (folder / name / "index.md").write_text(head + article, encoding="utf-8", errors="replace")


if __name__ == "__main__":
    main()
