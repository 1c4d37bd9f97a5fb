"""Pinned versions of the groups in pyproject.toml, with hashes of their files.

Writes .ci/requirements/*.txt. Versions stay unless pyproject.toml requires another, or --upgrade is
given. Use the oldest Python that is supported.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".ci" / "requirements"
INDEX = "https://pypi.org/simple"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS = {
    "program": PROJECT["project"]["dependencies"],
    **PROJECT["project"]["optional-dependencies"],
    **PROJECT["dependency-groups"],
    "build": [*PROJECT["build-system"]["requires"], "editables"],
}
COMPLETE = ("build", "moto")
"""Groups that are installed alone; other files have only what the files before them lack."""
UNUSABLE = re.compile(r"-win32|-win_|-ios_|-android_|-pp\d|-cp(?:2\d|3\d|310)-cp")
"""Names of wheels for systems and versions of Python that are not supported."""


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def resolve(requirements: list[str], pins: dict[str, str]) -> dict[str, str]:
    """Return the version of each package that the requirements need."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        constraints.writelines(f"{name}=={version}\n" for name, version in pins.items())
        constraints.flush()
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
        options = ("--dry-run", "--ignore-installed", "--report", "-", "-c", constraints.name)
        report = subprocess.run((*pip, *options, *requirements), check=True, stdout=subprocess.PIPE)
    installed = (each["metadata"] for each in json.loads(report.stdout)["install"])
    return {canonical(each["name"]): each["version"] for each in installed}


def hashes_of(name: str, version: str) -> list[str]:
    headers = {"Accept": "application/vnd.pypi.simple.v1+json"}
    page = urllib.request.Request(f"{INDEX}/{name}/", headers=headers)
    with urllib.request.urlopen(page) as response:
        files = {
            each["filename"]: each["hashes"]["sha256"] for each in json.load(response)["files"]
        }
    is_of_version = re.compile(rf".+-{re.escape(version)}(?:-.+\.whl|\.tar\.gz|\.zip)").fullmatch
    return sorted(
        {files[each] for each in files if is_of_version(each) and not UNUSABLE.search(each)}
    )


def main() -> None:
    written: dict[str, str] = {}
    for group, requirements in GROUPS.items():
        path = FOLDER / f"{group}.txt"
        old = (
            path.read_text(encoding="utf-8")
            if path.exists() and "--upgrade" not in sys.argv
            else ""
        )
        pins = dict(re.findall(r"^(\S+)==([^\s;]+)", old, re.MULTILINE))
        pins_wanted = resolve(requirements, pins | written)
        skipped = set() if group in COMPLETE else set(written)
        markers = dict(re.findall(r"^([\w.-]+).*?(;.*)$", "\n".join(requirements), re.MULTILINE))
        markers = {canonical(name): marker for name, marker in markers.items()}
        with path.open("w", encoding="utf-8") as file:
            for name in sorted(pins_wanted.keys() - skipped):
                file.write(f"{name}=={pins_wanted[name]}{markers.get(name, '')}")
                file.writelines(
                    f" \\\n  --hash=sha256:{each}" for each in hashes_of(name, pins_wanted[name])
                )
                file.write("\n")
        if group not in COMPLETE:
            written |= pins_wanted


main()
