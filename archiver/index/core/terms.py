"""What is written with SQLAlchemy's names, put down as it is written: a term for each step.

A term stands for what SQLAlchemy would give. What can't be put down (its truth, its length, its
text) is not guessed: ``light.give_up``.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from archiver import light


class Term:
    """A step, of whatever kind.

    Attributes:
        _leaf: what spells it, wherever it stands; None where its parts do.
    """

    __slots__ = ("_attributes", "_leaf")
    _leaf: str | None
    _attributes: "dict[str, Attribute] | None"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name, name=name, obj=self)
        known = self._attributes
        if known is None:
            known = {}
            _set_attributes(self, known)
        if (found := known.get(name)) is None:
            found = known[name] = Attribute(self, name)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        light.give_up(f"{name} of a term is set")

    def __call__(self, *given: object, **named: object) -> "Call":
        """What it gives when it is called."""
        return Call(self, given, named)

    def __getitem__(self, key: object) -> Any:
        # What a collection of columns has under a name is what it has as an attribute.
        if type(key) is str and isinstance(self, Attribute) and self._name in ("c", "columns"):
            return Attribute.__getattr__(self, key)
        return Item(self, key)

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return (_Defined,)

    def __instancecheck__(self, instance: object) -> bool:
        if not isinstance(instance, Term):
            return False
        made = instance._made if isinstance(instance, Call) else None
        if not (isinstance(self, Name) and isinstance(made, Name)):
            light.give_up("of what class a term is")
        if made is not self and made._name not in _MAKES:
            light.give_up("of what class a term is")
        return made is self or _MAKES[made._name] == self._name

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self._unknown()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._leaf or ''}>"

    def _unknown(self, *_: object) -> NoReturn:
        light.give_up("what a term is, where only SQLAlchemy knows")

    def __iter__(self) -> "Iterator[Term]":
        if isinstance(self, Attribute) and self._name in ("c", "columns"):
            return iter([self.__getattr__(name) for name in _COLUMNS_OF[0](self._of)])
        return self._unknown()

    __contains__ = __str__ = __format__ = _unknown
    __index__ = __int__ = __float__ = __reduce_ex__ = _unknown


_COLUMNS_OF: "list[Callable[[Term], Sequence[str]]]" = []
_MAKES = {
    "bindparam": "BindParameter",
    "select": "Select",
    "text": "TextClause",
    "update": "Update",
}
"""What functions give."""


class Name(Term):
    """What is imported."""

    __slots__ = ("_name",)
    _name: str

    def __init__(self, name: str) -> None:
        _set_attributes(self, None)
        _set_leaf(self, name)
        _set_name(self, name)


class Attribute(Term):
    """What something has."""

    __slots__ = ("_name", "_of")
    _of: Term
    _name: str

    def __init__(self, of: Term, name: str) -> None:
        _set_attributes(self, None)
        leaf = of._leaf
        _set_leaf(self, None if leaf is None else f"{leaf}.{name}")
        _set_of(self, of)
        _set_attribute_name(self, name)

    def __getattr__(self, name: str) -> Any:
        if name in ("name", "key") and isinstance(self._of, Attribute) and self._of._name == "c":
            return self._name  # of a column
        return super().__getattr__(name)


class Call(Term):
    """What something gives when it is called.

    Attributes:
        _made: what is called.
        _given: by place.
        _named: by name.
        _changes: what was set of it afterwards.
    """

    __slots__ = ("_changes", "_given", "_made", "_named")
    _made: Term
    _given: tuple[object, ...]
    _named: dict[str, object]
    _changes: dict[str, object] | None

    def __init__(
        self,
        made: Term,
        given: tuple[object, ...],
        named: dict[str, object],
        leaf: str | None = None,
    ) -> None:
        _set_attributes(self, None)
        _set_leaf(self, leaf)
        _set_made(self, made)
        _set_given(self, given)
        _set_named(self, named)
        _set_changes(self, None)

    def __getattr__(self, name: str) -> Any:
        if name == "name" and isinstance(self._made, Name) and self._made._name == "Table":
            return self._given[0]
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: object) -> None:
        if self._attributes or self._leaf is not None:
            light.give_up("a term is changed that was used")
        _set_changes(self, {**(self._changes or {}), name: value})


class Item(Term):
    """What stands under a key, as a class that was given arguments does."""

    __slots__ = ("_key", "_of")
    _of: Term
    _key: object

    def __init__(self, of: Term, key: object) -> None:
        _set_attributes(self, None)
        _set_leaf(self, None)
        _set_item_of(self, of)
        _set_key(self, key)


class Operation(Term):
    """What an operator gives of one or two."""

    __slots__ = ("_name", "_operands")
    _name: str
    _operands: tuple[object, ...]

    def __init__(self, name: str, operands: tuple[object, ...]) -> None:
        _set_attributes(self, None)
        _set_leaf(self, None)
        _set_operation_name(self, name)
        _set_operands(self, operands)

    def __bool__(self) -> bool:
        # Whether two columns of tables are the same one is all that is ever asked.
        one, *others = self._operands
        if self._name != "eq" or not (one is others[0] or all(map(is_column, self._operands))):
            light.give_up("whether a term is true")
        return one is others[0]


class Definition(Term):
    """A class that is ours and SQLAlchemy's.

    Attributes:
        _rules: for which engines it is written how.
    """

    __slots__ = ("_bases", "_name", "_namespace", "_rules")
    _name: str
    _bases: tuple[object, ...]
    _namespace: dict[str, Any]
    _rules: list[tuple[tuple[str, ...], Callable[..., Any]]]

    def __init__(self, name: str, bases: tuple[object, ...], namespace: dict[str, Any]) -> None:
        _set_attributes(self, None)
        place = f"{namespace['__module__']}.{namespace['__qualname__']}"
        _set_leaf(self, None if "<locals>" in place else place)
        _set_definition_name(self, name)
        _set_bases(self, bases)
        _set_namespace(self, namespace)
        _set_rules(self, [])


class _Defining(type):
    """Makes a term of a class that a term is a base of."""

    def __new__(  # type: ignore[misc]
        cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]
    ) -> "type | Definition":
        if (given := namespace.get("__orig_bases__")) is None:
            return super().__new__(cls, name, bases, namespace)
        return Definition(name, given, namespace)


class _Defined(metaclass=_Defining):
    """Stands in the place of a base that is a term."""


def looks_at_columns(function: Callable[[Term], Sequence[str]]) -> None:
    """Say what tells the names of columns."""
    _COLUMNS_OF.append(function)


def is_column(term: object) -> bool:
    """Whether it is one of a table: there is one term for each of them."""
    if not isinstance(term, Attribute):
        return False
    columns = term._of
    return isinstance(columns, Attribute) and columns._name == "c" and columns._leaf is not None


def setters(kind: type[Term]) -> Iterator[Callable[[Term, object], None]]:
    """What sets the slots of a kind, in the order in which they are named."""
    for name in kind.__slots__:
        yield vars(kind)[name].__set__


_set_attributes, _set_leaf = setters(Term)
(_set_name,) = setters(Name)
_set_attribute_name, _set_of = setters(Attribute)
_set_changes, _set_given, _set_made, _set_named = setters(Call)
_set_key, _set_item_of = setters(Item)
_set_operation_name, _set_operands = setters(Operation)
_set_bases, _set_definition_name, _set_namespace, _set_rules = setters(Definition)


def _operator(name: str, *, is_turned: bool) -> Callable[..., Operation]:
    def of_one(self: Term) -> Operation:
        return Operation(name, (self,))

    def of_two(self: Term, other: object) -> Operation:
        return Operation(name, (self, other))

    def turned(self: Term, other: object) -> Operation:
        return Operation(name, (other, self))

    if name in ("neg", "invert"):
        return of_one
    return turned if is_turned else of_two


for _each in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "invert"):
    setattr(Term, f"__{_each}__", _operator(_each, is_turned=False))
for _each in ("add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "lshift", "rshift"):
    _name = f"{_each}_" if _each in ("and", "or") else _each
    assert hasattr(operator, _name)  # noqa: S101
    setattr(Term, f"__{_each}__", _operator(_name, is_turned=False))
    setattr(Term, f"__r{_each}__", _operator(_name, is_turned=True))
