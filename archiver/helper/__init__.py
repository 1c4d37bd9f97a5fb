"""A helper: a process that works the queue beside the one that started it.

Run as ``python -m archiver.helper``. Like a command it looks for garbage seldom, and runs modules
of others where they are used: a fifth of what it takes to start.
"""

from archiver.garbage import collect_seldom
from archiver.lazy_modules import load_lazily

collect_seldom()
load_lazily()
