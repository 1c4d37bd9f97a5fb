"""The name of this machine, as others that share an index know it: of one data directory."""

from pathlib import Path
from uuid import uuid4

from archiver.kept_file import KeptFile

NAME = "machine"
_MOST = 100


def machine_of(data: Path) -> str:
    """The name of the machine whose data directory this is, made when first asked for. Blocking.

    A copy of the directory is another machine: each knows of its own processes by their locks,
    and must never take those of the other for dead. So the name is bound to the directory's inode.
    """
    file, here = KeptFile(data / NAME, mode=0o644), str(data.stat().st_ino)
    with file.alone():
        held = (file.read(_MOST) or b"").decode("utf-8", "replace").split()
        if held[1:] == [here]:
            return held[0]
        name = uuid4().hex[:12]
        file.write(f"{name} {here}\n".encode())
        return name
