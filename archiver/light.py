"""Whether this process does without SQLAlchemy, as a command that only reads may.

It is decided before anything of the index is imported, and holds for as long as the process lives.
Where more is needed after all, the command is begun anew, with all there is: nothing was printed
by then, and nothing changed.
"""

import os
import sys
from typing import NoReturn

_WHOLE = "_ARCHIVER_WHOLE"
"""Set for a process that is begun anew."""
_NEEDS = "sqlalchemy", "archiver.index.core"

_may_be = _is_on = _is_given_up = _has_told = False


class GivenUp(BaseException):
    """More is needed than a process without SQLAlchemy has; no error of anybody's."""


def allow() -> None:
    """Say that this process is the program's own, which can be begun anew; the entry point does."""
    global _may_be  # noqa: PLW0603
    _may_be = os.environ.pop(_WHOLE, None) is None and bool(sys.executable and sys.orig_argv)


def begin() -> None:
    """Do without SQLAlchemy, if that can be: nobody has imported it, nor what would."""
    global _is_on  # noqa: PLW0603
    _is_on = _may_be and not any(each in sys.modules for each in _NEEDS)


def is_on() -> bool:
    """Whether this process does without."""
    return _is_on


def told() -> None:
    """Say that something was printed: the command can't be begun anew."""
    global _has_told  # noqa: PLW0603
    _has_told = True


def give_up(why: str) -> NoReturn:
    """Say that more is needed.

    Raises:
        GivenUp: always; a block that is left by it leaves all in order.
    """
    global _is_given_up  # noqa: PLW0603
    _is_given_up = True
    raise GivenUp(why)


def begin_anew(*, is_failed: bool) -> None:
    """Put the same command with all there is in this process's place, where that may help.

    It does where more was needed, and where something ``is_failed`` that no person can meet: with
    all there is it may go well, or fails in the same way. Otherwise this comes back, as it does
    where something was printed already.
    """
    if _is_on and not _has_told and (_is_given_up or is_failed):
        again = os.environ | {_WHOLE: "1"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], again)  # noqa: S606
