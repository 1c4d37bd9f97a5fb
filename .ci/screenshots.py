"""Takes the screenshots of README.md in Chromium, from an archive of sample pages.

Run ``make screenshots`` after the interface has changed.
"""

import base64
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import urllib.request
from html import escape
from pathlib import Path
from shutil import which
from urllib.parse import quote

from PIL import Image, ImageDraw
from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).parents[1] / "docs"
SIZE = {"width": 1100, "height": 720}
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PAGES = (
    (
        "https://birds.example.org/red-kites",
        "The return of the red kite",
        "Thirty years ago there were none left in the valley. Today forty of them live here.",
        "#c96f4a",
        ["birds", "nature"],
    ),
    (
        "https://kitchen.example.com/leek-soup",
        "Leek and potato soup",
        "Four ingredients, one pot, and half an hour. The trick is to wait with the salt.",
        "#7fa650",
        ["recipes"],
    ),
    (
        "https://maps.example.net/lake-walk",
        "A day's walk around the lake",
        "Twenty kilometres without a road: where to start, where to rest, and where to swim.",
        "#4a86c9",
        ["nature", "walks"],
    ),
    (
        "https://code.example.org/wal",
        "How a write-ahead log works",
        "Why a database writes everything twice, and why that is faster than writing it once.",
        "#8a6fb0",
        ["programming"],
    ),
)
"""URL, title, first paragraph, colour and tags of the sample pages."""
PARAGRAPHS = """
<p>A page that was easy to find last year is often gone today: the site was sold, the address
changed, or the author stopped paying for the domain. The notes that linked to it stay.</p>
<p>This sample page stands for an article that somebody wanted to keep. It has a picture, a heading
and a few paragraphs, as most pages have, and a menu that readers do not need.</p>
<p>The archived copy keeps the styles and the picture of the page. The article shows only its text
and pictures, in the same type on every page, so that it can be read in peace.</p>"""


def picture(colour: str) -> str:
    """Return a landscape of hills as a data URL."""
    image = Image.new("RGB", (960, 400), "#dfe9f2")
    draw = ImageDraw.Draw(image)
    draw.ellipse((720, 60, 820, 160), fill="#fbf3d0")
    draw.polygon(((0, 400), (0, 300), (260, 130), (560, 400)), fill=colour)
    draw.polygon(((300, 400), (640, 200), (960, 360), (960, 400)), fill="#51606b")
    file = io.BytesIO()
    image.save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def sample(url: str, title: str, text: str, colour: str) -> bytes:
    """Return a page as SingleFile saves it."""
    return f"""<!DOCTYPE html><html lang="en"><!--
 Page saved with SingleFile
 url: {url}
 saved date: Sun Nov 22 2026 10:00:00 GMT+0000
--><meta charset="utf-8"><title>{escape(title)}</title>
<meta name="description" content="{escape(text)}">
<style>body {{ margin: 0; font: 18px/1.6 Georgia, serif; color: #222 }}
header {{ background: {colour}; color: #fff; padding: 14px 40px; font-family: sans-serif }}
article {{ max-width: 760px; margin: 30px auto; padding: 0 20px }} img {{ width: 100% }}</style>
<header>{url.split("/")[2]}</header><article><h1>{escape(title)}</h1>
<p class="byline">By <span itemprop="author">Ada Example</span></p>
<img src="{picture(colour)}" alt="Hills" width="960" height="400"><p>{escape(text)}</p>
{PARAGRAPHS}<h2>Further reading</h2>{PARAGRAPHS}</article></html>""".encode()


def request(method: str, url: str, body: bytes, kind: str) -> None:
    """Send a request to the service."""
    prepared_request = urllib.request.Request(url, body, {"Content-Type": kind}, method=method)
    with urllib.request.urlopen(prepared_request):
        pass


def fill(base: str) -> str:
    """Upload the sample pages with their tags; return the path of the first one."""
    for url, title, text, colour, tags in reversed(PAGES):
        html = sample(url, title, text, colour)
        request("POST", f"{base}/api/v1/captures?url={quote(url, safe='')}", html, "text/html")
        name = hashlib.md5(url.encode(), usedforsecurity=False).hexdigest()
        change = json.dumps({"tags": tags, "is_starred": "birds" in tags}).encode()
        request("PATCH", f"{base}/api/v1/entries/{name}", change, "application/json")
    return f"/{name}/"


def take(page: Page, base: str, article: str) -> None:
    """Take the screenshots."""
    page.goto(f"{base}/snapshots")
    page.screenshot(path=DOCS / "screenshot-library.png")
    page.goto(base + article)
    page.screenshot(path=DOCS / "screenshot-article.png")
    page.goto(f"{base}{article}20261122100000/")
    page.wait_for_load_state("networkidle")
    page.screenshot(path=DOCS / "screenshot-archived-page.png")


def main() -> None:
    """Serve an archive of the sample pages, and take the screenshots."""
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        command = [sys.executable, "-m", "archiver", "serve", "--port", "0", "--render", "never"]
        serve = subprocess.Popen([*command, "--data", directory], stdout=subprocess.PIPE, text=True)
        try:
            base = serve.stdout.readline().split()[-1].rstrip("/")
            article = fill(base)
            executable = next(filter(None, map(which, CHROMIUM)))
            browser = playwright.chromium.launch(executable_path=executable)
            take(browser.new_page(viewport=SIZE), base, article)
            browser.close()
        finally:
            serve.terminate()
            serve.wait()


if __name__ == "__main__":
    main()
