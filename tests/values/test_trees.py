"""Leaves of trees, and changed copies, which share what has no change."""

import pytest

from engine.values.trees import (
    entries_of,
    has_more_levels,
    is_number,
    leaves,
    map_leaves,
    member_at,
    merge,
    objects_of,
    value_at,
    with_changes,
)

TREE = {"a": [1, {"b": "x"}], "c": {}, "d": None}


def test_a_path_leads_through_lists_and_a_path_of_names_may_lead_nowhere():
    tree = {"a": [{"b": 1}], "c": {"d": None}}
    assert value_at(tree, ("a", 0, "b")) == 1
    assert value_at(tree, ()) is tree
    assert member_at(tree, ("c",)) == {"d": None}
    assert member_at(tree, ("a", "b")) is member_at(tree, ("c", "d", "e")) is None
    with pytest.raises(KeyError):
        value_at(tree, ("c", "x"))


def test_what_is_not_a_mapping_or_list_has_no_entries():
    assert [*entries_of({"a": 1})] == [("a", 1)]
    assert [*entries_of(["a"])] == [(0, "a")]
    assert [*entries_of("a")] == [*objects_of({"a": {}})] == []
    assert [*objects_of([{}, 1, [{}], {"a": 1}])] == [{}, {"a": 1}]


def test_true_is_not_a_number():
    assert list(map(is_number, (0, 1.5, True, "1", None))) == [True, True, False, False, False]


def test_leaves_have_their_paths_and_empty_parts_are_leaves():
    assert list(leaves(TREE)) == [
        (("a", 0), 1),
        (("a", 1, "b"), "x"),
        (("c",), {}),
        (("d",), None),
    ]
    assert list(leaves("x", ("a",))) == [(("a",), "x")]


def test_a_copy_has_changed_leaves_and_the_same_form():
    assert map_leaves(TREE, lambda path, value: len(path)) == {
        "a": [2, {"b": 3}],
        "c": {},
        "d": 1,
    }
    assert map_leaves(TREE, lambda path, value: value) == TREE


def _double(step, entry):
    return entry * 2 if isinstance(entry, int) else entry


def test_entries_of_a_mapping_are_replaced_in_their_order():
    assert list(with_changes({"a": "x", "b": 1, "c": "y"}, _double).items()) == [
        ("a", "x"),
        ("b", 2),
        ("c", "y"),
    ]


def test_items_of_a_list_are_replaced():
    assert with_changes(["x", 1], _double) == ["x", 2]


def test_an_entry_may_become_none():
    assert with_changes([1, 2], lambda index, item: None) == [None, None]


def test_the_key_or_the_index_is_passed():
    steps = []
    with_changes({"a": 1}, lambda step, entry: steps.append(step))
    with_changes(["b"], lambda step, entry: steps.append(step))
    assert steps == ["a", 0]


def test_a_value_without_changes_is_not_copied():
    for value in ({"a": "x"}, ["x"], {}, []):
        assert with_changes(value, _double) is value


def test_mappings_merge_at_every_level():
    below = {"headers": {"set": {"a": "1"}, "remove": ["x"]}, "pool": 1}
    above = {"headers": {"set": {"b": "2"}, "remove": ["y"]}, "url": "u"}
    merged = merge(below, above)
    assert merged["headers"] == {"set": {"a": "1", "b": "2"}, "remove": ["y"]}
    assert (merged["pool"], merged["url"]) == (1, "u")
    assert below["headers"]["set"] == {"a": "1"}


def test_levels_are_those_of_mappings_and_lists():
    value = {"a": [{"b": 1}], "c": 2}
    assert has_more_levels(value, 2)
    assert not has_more_levels(value, 3)
    assert not has_more_levels([], 1)
