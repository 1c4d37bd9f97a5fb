"""SQLAlchemy's Core, as the index writes its statements with it; what imports it does so here.

It is SQLAlchemy itself, but in a command that only reads (``archiver.light``): there every name is
a *term*, and what is written with it is put down as it is written. A statement that was compiled
by an earlier process is run as that kept it, by SQLite alone; any other is said to SQLAlchemy
then, which is loaded for it (docs/decisions/0166-statements-kept-compiled.md).

- ``terms``: what is put down; ``names``: what is imported here.
- ``spelling``: what tells one statement from another, whatever values it has.
- ``saying``: a term, said to SQLAlchemy; ``compiling``: what that makes of it.
- ``recipe``: what is kept of a statement; ``kept``: the file.
- ``light_engine``, ``light_rows``: statements run, and their rows.
"""

from typing import TYPE_CHECKING

from archiver import light

if TYPE_CHECKING or not light.is_on():
    from archiver.index.core.whole import *  # noqa: F403  # it says what that is
else:
    from archiver.index.core.names import named as __getattr__  # noqa: F401
