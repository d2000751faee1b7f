"""A changed transform is told by the edits that differ, without their values."""

import pytest

from engine.offline.diff.difference import differences_between
from tests.support.rehearsing import CONFIG, patched, planned

OLD = {"request": {"header": {"set": {"x-a": "hush-1", "x-b": "1"}, "remove": ["x-c"]}}}


def message(folder, old, new):
    def side(name, transform):
        return planned(folder / name, patched(CONFIG, {"upstreams": {"main": transform}}))

    (difference,) = differences_between(
        side("a", {"transform": old}), side("b", {"transform": new})
    )
    return difference.message


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ({"set": {"x-a": "hush-2", "x-b": "1"}, "remove": ["x-c"]}, "request.header.set x-a"),
        ({"set": {"x-a": "hush-1", "x-b": "1"}}, "no longer request.header.remove x-c"),
        (
            {"set": {"x-a": "hush-1", "x-d": "1"}, "remove": ["x-c"]},
            "request.header.set x-d; no longer request.header.set x-b",
        ),
        (
            {"set": {"x-a": "hush-1", "x-b": "1"}, "remove": ["x-e", "x-c"]},
            "request.header.remove x-e",
        ),
    ],
)
def test_the_edits_that_differ_are_named(tmp_path, header, expected):
    told = message(tmp_path, OLD, {"request": {"header": header}})
    assert told == f"is transformed differently: {expected}"


def test_a_transform_that_is_new_or_gone_is_told(tmp_path):
    new = {"request": {"path": "/x"}}
    added = message(tmp_path, None, new)
    assert added == "is transformed now: request.path"
    assert message(tmp_path, new, None) == "has no transform"
