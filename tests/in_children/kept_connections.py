"""Connections to the databases of tests, kept from one test to the next.

A process of the server takes milliseconds to begin, and has to find anew what each statement names:
a third of what tests have it compute. Given back, a connection is as one that was just made.
"""

import os
import struct
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Lock

from pg8000.dbapi import Error

from archiver.index.dialect.postgres_address import Address
from archiver.index.dialect.postgres_connection import SaidConnection

MOST = 6
"""So many of one database: an archive that is open has five, and one asks who empties it."""
_free: defaultdict[Address, list[SaidConnection]] = defaultdict(list)
_lock = Lock()
os.register_at_fork(after_in_child=_free.clear)


def kept(
    connect: Callable[[Address], SaidConnection], is_ours: Callable[[str], bool]
) -> Callable[[Address], SaidConnection]:
    """What connects in place of ``connect``; ``is_ours``: whether those of a database are kept."""

    def connected(address: Address) -> SaidConnection:
        if not is_ours(address.database):
            return connect(address)
        while (found := _taken(address)) is not None:
            if not found.is_spoken_to:
                return found
            _end(found)
        made = connect(address)
        made.close = partial(_give_back, made, address)
        return made

    return connected


def idle(database: str) -> list[int]:
    """The server's processes of those of a database that nobody uses."""
    with _lock:
        found = [each for at in _free if at.database == database for each in _free[at]]
    return [struct.unpack_from("!i", each._backend_key_data)[0] for each in found]


def forget(database: str) -> None:
    """Keep none of a database, which goes."""
    with _lock:
        found = [each for at in [*_free] if at.database == database for each in _free.pop(at)]
    for each in found:
        _end(each)


def _taken(address: Address) -> SaidConnection | None:
    with _lock:
        return _free[address].pop() if _free[address] else None


def _give_back(connection: SaidConnection, address: Address) -> None:
    try:
        connection.rollback()
        connection.autocommit = True
        connection.execute_simple("DISCARD ALL")
    except Error:
        _end(connection)
        return
    connection.autocommit = False
    connection._known.clear()
    with _lock:
        if len(_free[address]) < MOST:
            _free[address].append(connection)
            return
    _end(connection)


def _end(connection: SaidConnection) -> None:
    with suppress(Error):  # it is closed already
        SaidConnection.close(connection)
