"""Full disks, simulated by a limit on file sizes: reading works and no partial files remain."""

import os
import resource
import subprocess
import sys

import pytest


def run(data, *arguments, most=resource.RLIM_INFINITY):
    """Run the program in a process that can't make files larger than ``most`` bytes."""
    return subprocess.run(
        [sys.executable, "-m", "archiver", *arguments],
        env=os.environ | {"ARCHIVER_DATA": str(data)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )


@pytest.fixture
async def data(live, settings, opened):
    async with opened() as archive:
        await archive.entries.save([live.article("foxes")], source="cli", tags=("t",))
        await archive.crawling.work()
    return settings.data


def names(data):
    """The files of an archive, without those that SQLite makes while one is open."""
    found = (each.name for each in data.iterdir())
    return sorted(each for each in found if not each.endswith(("-shm", "-wal")))


async def test_reading_works_on_a_full_disk_and_writing_says_why_it_does_not(data):
    listed = run(data, "list").stdout

    for command in (["list"], ["search", "foxes"]):
        assert run(data, *command, most=0).stdout == listed
    assert run(data, "verify", most=0).returncode == 0
    refused = run(data, "edit", "--title", "x", "--yes", "--query", "foxes", most=0)
    assert (refused.returncode, "free space" in refused.stderr) == (1, True)


@pytest.mark.parametrize("most", [0, 100_000])
async def test_a_reindex_on_a_full_disk_changes_and_leaves_nothing(data, most):
    listed = run(data, "list").stdout
    before = names(data)

    refused = run(data, "reindex", most=most)

    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    assert names(data) == before
    assert run(data, "list").stdout == listed
