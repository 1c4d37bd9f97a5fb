"""Packaged files, pinned versions and the image match the program and the docs."""

import re
import shutil
import subprocess
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.specifiers import SpecifierSet

import archiver
from archiver.helpers import MIGRATIONS, STATIC, TEMPLATES

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINNED = {
    group: (ROOT / ".ci" / "requirements" / f"{group}.txt").read_text(encoding="utf-8")
    for group in ("program", "cluster", "dev", "build", "moto")
}
PINS = {
    name: version
    for group in ("program", "cluster", "dev", "build")
    for name, version in re.findall(r"^([\w-]+)==([^\s;]+)", PINNED[group], flags=re.MULTILINE)
}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def oldest_python() -> str:
    return PROJECT["project"]["requires-python"].removeprefix(">=") + ".0"


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_wheel_contains_all_data_files():
    shipped = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]

    for directory in (TEMPLATES, STATIC, MIGRATIONS):
        assert directory == ROOT / directory.name
        assert shipped[directory.name] == f"archiver/_shipped/{directory.name}"


def test_both_version_numbers_are_equal():
    assert PROJECT["project"]["version"] == archiver.__version__


def test_every_dependency_is_pinned():
    requirements = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]
    names = {canonical(re.match(r"[\w.-]+", each)[0]) for each in requirements}

    assert names - PINS.keys() == set()


def test_every_pinned_version_has_hashes_and_nothing_is_installed_without():
    one = r"[\w-]+==\S+(?: [^\\\n]+)?(?: \\\n  --hash=sha256:[0-9a-f]{64})+\n"
    installs = re.findall(r"\$\(PIP\).*? (install .*|\$\(INSTALL\).*)", MAKEFILE)

    assert [group for group, text in PINNED.items() if not re.fullmatch(f"(?:{one})+", text)] == []
    assert [each for each in installs if "--no-deps" not in each and "$(INSTALL)" not in each] == []


def test_pinned_versions_support_the_oldest_supported_python():
    for name, version in PINS.items():
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            continue  # required on other versions of Python only
        supported = installed.metadata.get("Requires-Python") or ""
        assert installed.version == version, f"{name}: run `make test`, which installs the pins"
        assert SpecifierSet(supported).contains(oldest_python()), name


def test_the_image_is_built_with_make_targets():
    built = DOCKERFILE.split("FROM ")[1]
    (step,) = re.findall(r"^RUN make (.*)$", built, flags=re.MULTILINE)
    targets = [word for word in step.split() if "=" not in word]

    assert "pip" not in DOCKERFILE
    assert [each for each in targets if not re.search(rf"^{each}:", MAKEFILE, re.MULTILINE)] == []
    check = MAKEFILE.split("\ncheck-image:")[1].split("\n\n")[0]
    assert [each for each in targets if each not in check] == []


def test_make_installs_again_after_the_system_python_was_replaced(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    python, installed = (tmp_path / ".venv" / name for name in ("bin/python", ".installed"))
    python.parent.mkdir(parents=True)
    installed.touch()
    for program, is_usable in (("/bin/true", True), ("/removed/python3", False)):
        python.unlink(missing_ok=True)
        python.symlink_to(program)
        subprocess.run(["make", "help"], cwd=tmp_path, check=True, capture_output=True)
        assert installed.exists() == is_usable
