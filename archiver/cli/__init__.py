"""The command line: reads flags, calls one service, prints.

``main`` declares every command on one page and imports nothing heavy, so that help comes at once;
each command's body is a module of its own, imported when it is run. Standard output is for what
was asked for, one record a line or JSON; progress, logs and errors go to standard error.

Objects that a command is made of are not looked through for garbage while they are loaded, and
what others import of Python's own without using it is not run.
"""

from archiver.garbage import collect_seldom
from archiver.lazy_modules import load_lazily

collect_seldom()
load_lazily()
