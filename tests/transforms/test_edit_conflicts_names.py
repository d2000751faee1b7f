"""The names that edits touch: each once."""

import pytest

from engine.transforms.edit_conflicts import EditedNames
from engine.transforms.faults import Faults


@pytest.mark.parametrize(
    ("section", "codes"),
    [
        ({"remove": ["a", "b"], "set": {"c": 1}, "rename": {"d": "e"}}, []),
        ({"remove": ["a", "a"]}, ["MW363"]),
        ({"remove": ["a"], "rename": {"a": "b"}}, ["MW363"]),
        ({"rename": {"a": "b", "b": "a"}}, ["MW363", "MW363"]),
        ({"rename": {"a": "c", "b": "c"}}, ["MW363"]),
        ({"rename": {"a": "b"}, "set": {"b": 1}}, ["MW363"]),
        ({"rename": {"a": "b"}, "add": {"b": 1}}, []),
        ({"default": {"a": 1}, "set": {"a": 1}}, ["MW363"]),
        ({"remove": ["host"]}, ["MW362"]),
    ],
)
def test_names_are_edited_once(section, codes):
    faults = Faults()
    EditedNames(("header",), faults, {"host": "no"}).read(section)
    assert [fault.code for fault in faults.found] == codes


@pytest.mark.parametrize("kind", ["add", "default"])
def test_a_default_belongs_to_the_name_that_a_rename_gives(kind):
    faults = Faults()
    EditedNames(("header",), faults, lower=True).read({"rename": {"A": "b"}, kind: {"a": 1}})
    assert [fault.hint for fault in faults.found] == ["give the value to the new name, 'b'"]
