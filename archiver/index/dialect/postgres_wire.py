"""How statements go to a PostgreSQL server: with as few waits for it as there can be.

The driver waits three times for one: to have it read, described, and run. Here all of that goes at
once; a transaction begins along with its first statement; and what nobody needs the answer of is
sent with what comes next (PostgreSQL, "Message Flow": each has a Sync of its own, so that what
fails ends nothing but its transaction). Its error is raised by the next that is waited for. Of
several that are asked at once, only the last is waited for.
"""

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from pg8000.converters import make_params
from pg8000.core import IN_TRANSACTION, Context
from pg8000.dbapi import Connection, Cursor, Error, InterfaceError, convert_paramstyle

BEGIN = "begin transaction"
"""What the driver begins one with."""
MOST_OWED = 64
"""Statements whose answers nobody has read."""
BUFFERED_BYTES = 1 << 20
"""Of what is sent; what is not touched of it takes no memory."""
MOST_KNOWN = 512
"""Statements of which a connection remembers what columns their answers have."""
MOST_NUMBERED = 256
"""Statements whose parameters are numbered, as they are kept: the longest have ten kilobytes."""
_QUERIES = ("SELECT", "WITH")
_UNNAMED = b"\0"
_NULL = struct.pack("!i", -1)


class Wired(bytes):
    """A value as the server keeps it, not as text (PostgreSQL, "Overview", formats and codes)."""


@lru_cache(MOST_NUMBERED)
def numbered(statement: str) -> str:
    """A statement as a server reads it, its parameters numbered."""
    written: str = convert_paramstyle("format", statement, ())[0]
    return written


class NumberingCursor(Cursor):
    """Numbers the parameters of a statement once.

    The driver reads it letter by letter each time it is run: one that asks 31 parts of the index of
    words takes it a millisecond.
    """

    _input_oids: Sequence[int]

    def execute(self, operation: str, args: Sequence[Any] = (), stream: object = None) -> None:
        """Run a statement."""
        conn = self._c
        if not args or stream or not isinstance(conn, PipelinedConnection) or conn.is_closed:
            super().execute(operation, args, stream)
            return
        conn.begin()
        oids, self._input_oids = self._input_oids, ()
        self._context = conn.execute_unnamed(numbered(operation), vals=args, oids=oids)
        rows = self._context.rows
        self._row_iter = None if rows is None else iter(rows)


class PipelinedConnection(Connection):
    """A connection that waits once for a statement, and for some not at all."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self._sock = self._usock.makefile(mode="rwb", buffering=BUFFERED_BYTES)
        self._owed: list[Context] = []
        self._is_unanswered = self._is_asking = False
        self._known: dict[str, Any] = {}

    def cursor(self) -> NumberingCursor:
        """What runs statements."""
        return NumberingCursor(self)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Wait in this block for no rows whose columns are known; the next waited for has them."""
        self._is_asking = True
        try:
            yield
        finally:
            self._is_asking = False

    @contextmanager
    def unanswered(self) -> Iterator[None]:
        """Wait for no answer in this block."""
        self._is_unanswered = True
        try:
            yield
        finally:
            self._is_unanswered = False

    @property
    def is_closed(self) -> bool:
        """Whether it was closed here."""
        return self._sock is None

    def begin(self) -> None:
        """Begin a transaction, where statements are to be of one and it has not begun."""
        if not (self._in_transaction or self.autocommit):
            self.execute_simple(BEGIN)

    def execute_simple(self, statement: str) -> Context:
        """Run a statement without parameters."""
        context = Context(statement)
        self.send_QUERY(statement)
        if statement == BEGIN:
            self._owed.append(context)
            self._transaction_status = IN_TRANSACTION
            return context
        return self._sent(context)

    def execute_unnamed(
        self,
        statement: str,
        vals: Sequence[Any] = (),
        oids: Sequence[int] = (),
        stream: object = None,
    ) -> Context:
        """Run a statement with parameters."""
        context = Context(statement, stream=stream)
        params = make_params(self.py_types, vals)
        written = statement.encode(self._client_encoding)
        kinds = struct.pack(f"!H{len(oids)}i", len(oids), *(max(each, 0) for each in oids))
        self._send_message(b"P", _UNNAMED + written + b"\0" + kinds)
        self._send_message(b"B", self._bound(params))
        self._send_message(b"D", b"P" + _UNNAMED)
        self._send_message(b"E", _UNNAMED + struct.pack("!i", 0))
        self._send_message(b"S", b"")
        return self._sent(context)

    def commit(self) -> None:
        """End a transaction, if there is one."""
        if self._in_transaction:
            self._answered(self._asked("commit"))

    def rollback(self) -> None:
        """End a transaction; what failed in it is nobody's concern any more."""
        if self._in_transaction:
            self._answered(self._asked("rollback"), heeds_owed=False)

    def _asked(self, statement: str) -> Context:
        self.send_QUERY(statement)
        return Context(statement)

    def _bound(self, params: Sequence[str | Wired | None]) -> bytes:
        """The parameters of the unnamed statement, for the unnamed portal."""
        count = len(params)
        formats = (isinstance(each, Wired) for each in params)
        parts = [_UNNAMED, _UNNAMED, struct.pack(f"!H{count}HH", count, *formats, count)]
        for each in params:
            value = each.encode(self._client_encoding) if isinstance(each, str) else each
            parts += [_NULL] if value is None else [struct.pack("!i", len(value)), value]
        return b"".join((*parts, struct.pack("!H", 0)))

    def _sent(self, context: Context) -> Context:
        known = self._known.get(context.statement) if self._is_asking else None
        if known is not None:
            context.columns, context.rows = known, []  # its cursor looks at these rows once told to
        elif not self._is_unanswered:
            self._answered(context)
            self._remember(context)
            return context
        self._owed.append(context)
        if len(self._owed) >= MOST_OWED:
            self._answered(self._owed.pop())
        return context

    def _remember(self, context: Context) -> None:
        """Know from now on which columns the answer has, where nothing but rows is asked for."""
        is_query = context.statement.startswith(_QUERIES)
        if is_query and context.columns and len(self._known) < MOST_KNOWN:
            self._known[context.statement] = context.columns

    def _answered(self, context: Context, *, heeds_owed: bool = True) -> Context:
        """Read the answer to this, and first those to what stands before it."""
        try:
            self._sock.flush()
        except OSError as error:
            raise InterfaceError(f"the connection broke ({error})") from error
        owed, self._owed = self._owed, []
        errors = [self._error_of(each) for each in (*owed, context)]
        heeded = errors if heeds_owed else errors[-1:]
        if first := next(filter(None, heeded), None):
            raise first
        return context

    def _error_of(self, context: Context) -> Error | None:
        """Why a statement failed, once its answer is read."""
        try:
            self.handle_messages(context)
        except Error as error:
            if error is not context.error:
                raise
        return context.error
