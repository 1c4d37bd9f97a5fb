"""A private PostgreSQL server in a temporary or permanent folder."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.pywb_replay import free_port

PATIENCE = 60.0


class PrivatePostgres:
    """Context manager for a server with its data in a folder, temporary by default.

    Committed data survives a stop of the server, but not of the machine.

    Args:
        folder: permanent folder; its port is kept, so that database URLs stay valid.
        settings: additional server settings.
        like: a running server to copy. This server starts as a replica with the data of that
            server, and receives no later changes. After ``promote``, it can replace that server.

    Attributes:
        address: URL of an empty database.
        port: port that it listens on.
    """

    def __init__(
        self, folder: Path | None = None, *settings: str, like: "PrivatePostgres | None" = None
    ) -> None:
        self._programs = max(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, default=None)
        if self._programs is None:
            raise SystemExit("There is no PostgreSQL server here: .ci/packages postgresql")
        self._stays = folder is not None
        self._where = folder.resolve() if folder else Path(tempfile.mkdtemp())
        self._where.mkdir(parents=True, exist_ok=True)
        self._settings = settings
        self._like = like
        self.port = self._port_kept()
        self._whose: dict[str, Any] = {}
        if os.geteuid() == 0:  # the server refuses to run as root
            who = pwd.getpwnam("postgres")
            self._whose = {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []}
            os.chown(self._where, who.pw_uid, who.pw_gid)
        self._server: subprocess.Popen[bytes] | None = None
        self.address = f"postgresql://archiver@127.0.0.1:{self.port}/postgres"

    def _port_kept(self) -> int:
        port_file = self._where / "port"
        if not port_file.exists():
            port_file.write_text(str(free_port()), encoding="ascii")
        return int(port_file.read_text(encoding="ascii"))

    @property
    def pid(self) -> int:
        """Return the id of its main process."""
        return self._server.pid if self._server else 0

    def __enter__(self) -> Self:
        options = ("--auth=trust", "--username=archiver", "--encoding=UTF8", "--locale=C.UTF-8")
        data = self._where / "data"
        if self._like:
            port = f"--port={self._like.port}"
            self._run("pg_basebackup", f"--pgdata={data}", port, "--checkpoint=fast", "--no-sync")
            (data / "standby.signal").touch()
        elif not data.exists():
            self._run("initdb", *options, "--no-sync")
        self.start()
        return self

    def promote(self) -> None:
        """Promote a replica to an independent server."""
        self._run("pg_ctl", "promote", "--wait")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._stays:
            self.stop_at_once()
            shutil.rmtree(self._where)
        elif self._server:
            self._server.send_signal(signal.SIGINT)
            self._server.wait()

    def start(self) -> None:
        """Start it; it accepts connections when this returns."""
        named = ("listen_addresses=127.0.0.1", f"unix_socket_directories={self._where}")
        options = [word for each in (*named, "fsync=off", *self._settings) for word in ("-c", each)]
        with (self._where / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [self._program("postgres"), "-p", str(self.port), *options],
                env=self._environment(),
                stdout=log,
                stderr=log,
                **self._whose,
            )
        deadline = time.monotonic() + PATIENCE
        while self._run("pg_isready", "-q", check=False):
            if time.monotonic() > deadline or self._server.poll() is not None:
                raise SystemExit((self._where / "log").read_text())
            time.sleep(0.05)

    def stop_at_once(self) -> None:
        """Stop it as a machine failure would: clients are not notified, nothing is written."""
        if self._server:
            self._server.send_signal(signal.SIGQUIT)
            self._server.wait()

    def _run(self, name: str, *words: str, check: bool = True) -> int:
        command = [self._program(name), *words]
        done = subprocess.run(
            command,
            env=self._environment(),
            stdout=subprocess.DEVNULL,
            check=check,
            cwd="/",
            **self._whose,
        )
        return done.returncode

    def _program(self, name: str) -> str:
        return f"{self._programs}/{name}"

    def _environment(self) -> dict[str, str]:
        named = {"PGHOST": "127.0.0.1", "PGUSER": "archiver", "PGPORT": str(self.port)}
        return os.environ | named | {"PGDATA": f"{self._where}/data"}


def _version(programs: Path) -> int:
    name = programs.parent.name
    return int(name) if name.isdigit() else 0
