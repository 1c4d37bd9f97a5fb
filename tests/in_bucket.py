"""Runs tests with segments in a bucket: ``pytest -p tests.in_bucket``, by itself or with the index
in PostgreSQL.

Wherever a test, or a process that it starts, opens an archive whose segments lie in its folder,
they lie in a place of their own in a bucket of an S3 server instead, once they are closed, and are
read from there. Tests of ``cluster`` say themselves where theirs lie.
"""

import os
import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import obstore
import pytest
from obstore.store import S3Store

from archiver import archive
from tests.cluster.s3_servers import REGION, s3_server
from tests.in_children.bucket import BUCKET, OWN, place_of, shelves_over
from tests.indices import TESTS, why
from tests.prepared import KINDS, WHEN_COPIED


def pytest_configure(config: pytest.Config) -> None:
    """Let the segments of this process, and of those it starts, lie in a bucket from now on.

    One server is there for all processes in which tests run, which get its address by variables.
    """
    if BUCKET not in os.environ:
        _start_server(config)
    if getattr(config.option, "numprocesses", None):
        return  # the tests run in other processes
    archive.open_shelf = shelves_over(archive.open_shelf)
    WHEN_COPIED.append(_copy)
    KINDS.append(lambda: OWN in os.environ)


def _start_server(config: pytest.Config) -> None:
    folder = Path(mkdtemp(prefix="archiver-tests-"))
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    running = s3_server(folder)
    server = running.__enter__()
    config.add_cleanup(lambda: running.__exit__(None, None, None))
    server.make_bucket("archives")
    os.environ |= {
        BUCKET: "archives",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}",
        "AWS_REGION": REGION,
        "AWS_ACCESS_KEY_ID": server.access,
        "AWS_SECRET_ACCESS_KEY": server.secret,
    }


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let folders be folders to tests that have a store of their own accord, or want a folder."""
    os.environ.pop(OWN, None)
    of_folders = item.get_closest_marker("folder")
    if item.path.is_relative_to(TESTS / "cluster") or (of_folders and why(of_folders)):
        os.environ[OWN] = "1"


def _copy(source: Path, to: Path) -> None:
    """Copy the segments of an archive, too."""
    if not (to / archive.STORE).exists():
        return
    (to / archive.STORE).write_text(f"{place_of(to)}\n")
    there, here = (place_of(each).rpartition("/")[2] for each in (source, to))
    for some in obstore.list(_objects(), there):
        for path in (each["path"] for each in some):
            name = path.removeprefix(there)
            obstore.put(_objects(), f"{here}{name}", obstore.get(_objects(), path).bytes())


@cache
def _objects() -> S3Store:
    address, way = os.environ["AWS_ENDPOINT_URL"], {"allow_http": True}
    return S3Store(os.environ[BUCKET], endpoint=address, client_options=way)
