"""Python imports this when a test starts a process with this folder in ``PYTHONPATH``.

Files of links are then read in batches of ``TEST_BATCH`` links, each a transaction, instead of
thousands. Children of the process lack the variable and do not need it.
"""

import os

from archiver.formats import import_process

import_process.BATCH = int(os.environ.get("TEST_BATCH", import_process.BATCH))
