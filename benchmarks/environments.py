"""Virtual environments for other programs, which are not dependencies."""

import subprocess
import venv
from pathlib import Path


def environment_with(directory: Path, *packages: str) -> Path:
    """Create an environment with these packages from PyPI; return its ``bin``."""
    venv.create(directory, with_pip=True)
    pip = [directory / "bin" / "python", "-m", "pip", "--quiet", "install"]
    subprocess.run([*pip, "--upgrade", "pip", "setuptools", "wheel"], check=True)
    subprocess.run([*pip, *packages], check=True)
    return directory / "bin"
