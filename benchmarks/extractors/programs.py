"""Extractors in other languages, as programs that read and write one line of JSON per page.

A request has ``html`` and ``url``; the response has ``html``, ``title``, ``author``, ``date``, and
``ms`` of CPU. They are built in a folder if their tool chain is installed.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from benchmarks.extractors.reading import FACTS, Reading

HERE = Path(__file__).resolve().parent
NODE = ("@mozilla/readability@0.6.0", "defuddle@0.19.4", "jsdom@29.1.1")
GO = ("codeberg.org/readeck/go-readability/v2@v2.1.3",)
RUST = {"dom_smoothie": "=0.19.0", "legible": "=0.5.1", "serde_json": "1"}
_MANIFEST = '[package]\nname = "others"\nversion = "0.0.0"\nedition = "2021"\n\n[dependencies]\n'


@dataclass(frozen=True, slots=True)
class Kind:
    """Extractors of one language.

    Attributes:
        tool: required program; without it they are left out.
        names: names of the extractors.
        build: function that builds them in a folder, which may contain an earlier build; returns
            the command, to which a name is appended.
    """

    tool: str
    names: tuple[str, ...]
    build: Callable[[Path], list[str]]


def build_node(folder: Path) -> list[str]:
    """Build the extractors from npm."""
    (folder / "package.json").write_text("{}", encoding="utf-8")
    _run(folder, "npm", "install", "--no-save", "--no-audit", "--no-fund", *NODE)
    shutil.copy(HERE / "node.mjs", folder)
    return ["node", str(folder / "node.mjs")]


def build_go(folder: Path) -> list[str]:
    """Build the port maintained and used by Readeck."""
    shutil.copy(HERE / "others.go", folder / "main.go")
    (folder / "go.mod").write_text("module others\n", encoding="utf-8")
    _run(folder, "go", "get", *GO)
    _run(folder, "go", "build", "-o", "others", ".")
    return [str(folder / "others")]


def build_rust(folder: Path) -> list[str]:
    """Build the two ports on crates.io."""
    (folder / "src").mkdir(exist_ok=True)
    shutil.copy(HERE / "others.rs", folder / "src" / "main.rs")
    dependencies = "".join(f'{name} = "{version}"\n' for name, version in RUST.items())
    (folder / "Cargo.toml").write_text(_MANIFEST + dependencies, encoding="utf-8")
    _run(folder, "cargo", "build", "--release", "--quiet")
    return [str(folder / "target" / "release" / "others")]


KINDS = (
    Kind("npm", ("readability.js", "defuddle"), build_node),
    Kind("go", ("go-readability",), build_go),
    Kind("cargo", ("dom_smoothie", "legible"), build_rust),
)


def commands(folder: Path, programs: Iterable[str]) -> dict[str, list[str]]:
    """Return the commands of the wanted extractors; print those that cannot be built."""
    command_lines = {}
    options = set(programs)
    for kind in KINDS:
        names = [name for name in kind.names if not options or name in options]
        if not names:
            continue
        if shutil.which(kind.tool) is None:
            print(f"{', '.join(names)} left out: there is no {kind.tool} here to build with.")
            continue
        place = folder / kind.tool
        place.mkdir(parents=True, exist_ok=True)
        try:
            command = kind.build(place.resolve())
        except subprocess.CalledProcessError as refused:
            print(f"{', '.join(names)} left out: {kind.tool} could not build it.\n{refused.stderr}")
            continue
        command_lines.update({name: [*command, name] for name in names})
    return command_lines


def read_all(command: list[str], pages: list[tuple[str, str]]) -> list[Reading]:
    """Return the results of a program for pages, each given as HTML and URL.

    The first page is read twice, as a warm-up. After a crash there are no further results.
    """
    options = [json.dumps({"html": html, "url": url}) for html, url in (pages[0], *pages)]
    answered = subprocess.run(
        command, input="\n".join(options) + "\n", check=False, stdout=subprocess.PIPE, text=True
    ).stdout.splitlines()[1:]
    answers = [json.loads(line) for line in answered]
    return [_reading(answer or {}) for _, answer in zip_longest(pages, answers[: len(pages)])]


def _reading(answer: dict[str, str]) -> Reading:
    facts = {fact: answer.get(fact) or "" for fact in FACTS}
    return Reading(answer.get("html") or "", facts, float(answer.get("ms") or 0))


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
