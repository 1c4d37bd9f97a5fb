"""Commands on a shared archive."""

from tests.command_line import run_in_thread
from tests.processes import running

PROGRAM = """
import sys

from archiver.cli.main import main
from archiver.crawl import dispatcher

dispatcher.RECOVERY_SECONDS = 0.3
dispatcher.FAILURE_SECONDS = 1.0
main()
"""
"""The command line with short waits for lost workers and servers."""
SETTINGS = {
    "ARCHIVER_ALLOW_NETWORKS": "127.0.0.0/8",
    "ARCHIVER_HOST_DELAY": "0",
    "ARCHIVER_RENDER": "never",
    "ARCHIVER_EXTRACT_PROCESSES": "1",
}


def archiver(*arguments, **variables):
    """Run a command while the block runs, then kill it."""
    return running(*arguments, program=("-c", PROGRAM), **SETTINGS | variables)


async def run(*arguments, input_data="", **variables):
    """Return the exit status and the output of a command, run in this process."""
    done = await run_in_thread(*arguments, variables=SETTINGS | variables, input_data=input_data)
    return done.returncode, done.stdout


async def run_expecting_error(*arguments, **variables):
    """Return the exit status and the error message of a command, run in this process."""
    done = await run_in_thread(*arguments, variables=SETTINGS | variables)
    return done.returncode, done.stderr
