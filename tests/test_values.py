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


@frozen
class Named:
    name: str
    parts: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.parts = self.name.split()


@frozen
class Titled(Named):
    title: str = field(default="none", kw_only=True)


@frozen
class OwnWay:
    name: str

    def __init__(self, first: str, last: str) -> None:
        self.name = f"{first} {last}"


def test_a_value_is_made_as_a_dataclass_is_the_first_time_and_the_second():
    for _ in range(2):
        made = Titled("a b", title="c")

        assert (made.name, made.parts, made.title) == ("a b", ["a", "b"], "c")
        with pytest.raises(TypeError, match=r"Titled\.__init__\(\).*missing.*'name'"):
            Titled()
        with pytest.raises(TypeError, match="positional"):
            Titled("a", "b")


def test_a_value_may_be_made_in_a_way_of_its_own():
    assert OwnWay("a", last="b").name == "a b"
