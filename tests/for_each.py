"""Tests of many values: one test for all, because a test for each costs more than its body."""

from collections.abc import Callable, Iterable
from typing import Any


def for_each(
    names: str | tuple[str, ...], values: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Call a test for each value, as ``pytest.mark.parametrize`` does, but in one test.

    A failure has the value in its notes.
    """

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        def test() -> None:
            for value in values:
                try:
                    check(*((value,) if isinstance(names, str) else value))
                except BaseException as error:
                    error.add_note(f"{names}: {value!r}")
                    raise

        test.__doc__ = check.__doc__
        return test

    return decorate
