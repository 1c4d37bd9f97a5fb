"""Terms, said to SQLAlchemy itself, which this loads."""

import operator
import types
from collections.abc import Callable, Sequence
from functools import wraps
from threading import RLock
from typing import Any

from archiver.index.core import whole
from archiver.index.core.spelling import Whole, given_of, kind_of, named_of
from archiver.index.core.terms import Attribute, Call, Definition, Item, Name, Operation, Term

_LOCK = RLock()
_fixed: dict[str, Any] = {}
"""What is the same one in every statement: tables, classes of ours, what is imported."""


def said(term: Term, values: Sequence[Any] | None = None) -> Any:
    """What a term stands for.

    Args:
        term: a statement.
        values: in the place of those in it, as ``Spelling`` gives them; None for its own.
    """
    with _LOCK:
        return _Saying(None if values is None else iter(values)).value(term)


class _Saying:
    """One statement: each term in it becomes one thing, however often it stands there."""

    def __init__(self, values: Any) -> None:
        self._values = values
        self._met: dict[int, Any] = {}

    def value(self, value: Any, *, is_parameter: bool = False) -> Any:
        """What stands somewhere: a term, a value, or several."""
        if isinstance(value, Term):
            return self._term(value)
        if is_parameter and kind_of(value):
            if self._values is not None:
                return next(self._values)
            return list(value) if type(value) is Whole else value
        if type(value) in (tuple, list):
            return type(value)(self.value(each, is_parameter=is_parameter) for each in value)
        if type(value) is dict:
            return {key: self.value(each) for key, each in value.items()}
        return value

    def _term(self, term: Term) -> Any:
        if term._leaf is not None:
            if term._leaf not in _fixed:
                _fixed[term._leaf] = _Saying(None).made(term)
            return _fixed[term._leaf]
        if id(term) not in self._met:
            self._met[id(term)] = self.made(term)
        return self._met[id(term)]

    def made(self, term: Term) -> Any:
        """What a term stands for, the first time."""
        if isinstance(term, Name):
            return getattr(whole, term._name)
        if isinstance(term, Attribute):
            return getattr(self._term(term._of), term._name)
        if isinstance(term, Item):
            return self._term(term._of)[self.value(term._key)]
        if isinstance(term, Operation):
            given = [self.value(each, is_parameter=True) for each in term._operands]
            return getattr(operator, term._name)(*given)
        if isinstance(term, Call):
            return self._call(term)
        if isinstance(term, Definition):
            return self._definition(term)
        raise TypeError(type(term))

    def _call(self, term: Call) -> Any:
        made = self._term(term._made)
        given = [self.value(each, is_parameter=each_is) for each, each_is in given_of(term)]
        named = {name: self.value(each) for name, each in named_of(term)}
        changes = {name[1:]: named.pop(name) for name in [*named] if name[0] == "."}
        result = made(*given, **named)
        for name, each in changes.items():
            setattr(result, name, each)
        return result

    def _definition(self, term: Definition) -> Any:
        bases = types.resolve_bases(tuple(self.value(each) for each in term._bases))
        namespace = {name: self._member(each) for name, each in term._namespace.items()}
        namespace.pop("__orig_bases__", None)
        made = types.new_class(term._name, bases, exec_body=lambda body: body.update(namespace))
        for engines, written in term._rules:
            whole.compiles(made, *engines)(_saying(written))
        return made

    def _member(self, value: Any) -> Any:
        return _saying(value) if isinstance(value, types.FunctionType) else self.value(value)


def _saying(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ours that SQLAlchemy calls: what it gives is said, too."""

    @wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        return _Saying(None).value(function(*given, **named))

    return called
