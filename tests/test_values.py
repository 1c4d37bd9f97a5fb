import pickle
from dataclasses import field, fields, replace

import pytest

from archiver.values import frozen


@frozen
class Place:
    name: str
    tags: tuple[str, ...] = ()
    seen: list[int] = field(default_factory=list, compare=False)


def test_values_of_equal_fields_are_equal_and_hash_alike():
    assert Place("a", ("x",)) == Place("a", ("x",), [1])
    assert hash(Place("a")) == hash(Place("a", (), [2]))
    assert Place("a") != Place("b")


def test_a_value_is_replaced_matched_and_told_field_by_field():
    changed = replace(Place("a"), name="b")
    match changed:
        case Place(name, tags):
            assert (name, tags) == ("b", ())
    assert [each.name for each in fields(changed)] == ["name", "tags", "seen"]


def test_a_value_holds_its_fields_and_nothing_else():
    with pytest.raises(AttributeError):
        Place("a").other = 1


def test_a_value_comes_back_from_another_process_as_it_was():
    assert pickle.loads(pickle.dumps(Place("a", ("x",)))) == Place("a", ("x",))
