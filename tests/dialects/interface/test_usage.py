"""Which numbers of an upstream are counts."""

import pytest
from msgspec import Struct

from engine.dialects.interface.usage import Count
from engine.dialects.interface.usage_counts import (
    MAX_COUNT,
    counts_in,
)


class _Counts(Struct):
    a: Count = None
    b: Count = None


@pytest.mark.parametrize(
    ("holder", "expected"),
    [
        ({"a": 1, "b": 2, "c": {}}, _Counts(1, 2)),
        ({"a": None, "b": MAX_COUNT}, _Counts(None, MAX_COUNT)),
        ({"a": MAX_COUNT + 1, "b": 2}, _Counts(None, 2)),
        ({"a": -1, "b": 2.0}, _Counts(None, 2)),
        ({"a": "1", "b": True}, _Counts(1)),
        ({"a": {}, "b": 2}, _Counts(None, 2)),
        ({"b": 10**30}, _Counts()),
        ({}, _Counts()),
        ([1], _Counts()),
        ("a", _Counts()),
        (None, _Counts()),
    ],
)
def test_counts_of_an_object_without_what_is_no_count(holder, expected):
    assert counts_in(holder, _Counts) == expected


class _Report(Struct, rename="camel"):
    whole_count: Count = None
    of_it: _Counts | None = None


@pytest.mark.parametrize(
    ("holder", "expected"),
    [
        ({"wholeCount": 3, "ofIt": {"a": 1}}, _Report(3, _Counts(1))),
        ({"wholeCount": 3.0, "ofIt": {"a": 1.0, "b": "x"}}, _Report(3, _Counts(1))),
        ({"wholeCount": 3, "ofIt": None}, _Report(3)),
        ({"wholeCount": 3, "ofIt": []}, _Report(3)),
        ({"wholeCount": 3, "ofIt": "many"}, _Report(3)),
        ({"wholeCount": -3}, _Report()),
    ],
)
def test_counts_and_their_details(holder, expected):
    assert counts_in(holder, _Report) == expected


class _OddCounts(Struct):
    odd_count: Count = None
    null_count: Count = None
    text_count: Count = None


def test_what_is_no_count_is_logged_once(caplog):
    holder = {"odd_count": "many", "null_count": None, "text_count": "12", "unknown": []}
    for _ in range(3):
        assert counts_in(holder, _OddCounts) == _OddCounts(text_count=12)
    (line,) = caplog.messages
    assert line == "usage: 'odd_count' in an upstream's answer is a string and is ignored"
