"""Edits of JSON text change the members at their paths and leave all other bytes."""

import json

from hypothesis import given
from hypothesis import strategies as st

from engine.values.json_edit import edits, without_members

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text('ab"\\{}', max_size=2), below)
    ),
    max_leaves=12,
)


def _members(value, path=()):
    """The paths of all members of objects in a value."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _members(item, (*path, index))
    elif isinstance(value, dict):
        for key, below in value.items():
            yield (*path, key)
            yield from _members(below, (*path, key))


@given(value=JSON, data=st.data(), indent=st.sampled_from([None, 0, 1]))
def test_members_are_taken_out_and_nothing_else(value, data, indent):
    every = list(_members(value))
    drawn_paths = data.draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    paths = [p for p in drawn_paths if not any(p[: len(q)] == q and p != q for q in drawn_paths)]
    text = json.dumps(value, indent=indent).encode()
    for path in paths:
        holder = value
        for step in path[:-1]:
            holder = holder[step]
        del holder[path[-1]]
    assert json.loads(without_members(text, paths)) == value


def test_a_repeated_member_is_taken_out_every_time():
    text = b'{"a": 1, "b": 2, "\\u0061": 3}'
    assert without_members(text, [("a",)]) == b'{"b": 2}'


def _paths(value, path=()):
    """The paths of all members and items of a value."""
    for step in _steps(value):
        yield (*path, step)
        yield from _paths(value[step], (*path, step))


def _changed(value, changes, path=()):
    """The value after the changes."""
    if path in changes:
        return json.loads(changes[path])
    members = [
        step for step in ((*path, s) for s in _steps(value)) if changes.get(step, b"") is not None
    ]
    if isinstance(value, dict):
        return {step[-1]: _changed(value[step[-1]], changes, step) for step in members}
    if isinstance(value, list):
        return [_changed(value[step[-1]], changes, step) for step in members]
    return value


def _steps(value):
    return value if isinstance(value, dict) else range(len(value) if isinstance(value, list) else 0)


@given(value=JSON, data=st.data(), indent=st.sampled_from([None, 0, 1]))
def test_edits_change_and_remove_members_and_items(value, data, indent):
    every = list(_paths(value))
    drawn = data.draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    paths = [p for p in drawn if not any(p[: len(q)] == q and p != q for q in drawn)]
    changes = {path: data.draw(st.sampled_from([None, b'"new"'])) for path in paths}
    text = json.dumps(value, indent=indent).encode()
    result, position = b"", 0
    for start, end, new in edits(text, changes):
        result += text[position:start] + new
        position = end
    assert json.loads(result + text[position:]) == _changed(value, changes)
