"""The difference of two JSON bodies, value by value."""

import pytest

from engine.offline.rehearsal.sent_request import changes


def changes_of(before, after):
    return [change.as_json() for change in changes(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (b'{"a": 1}', b'{"a": 1}', []),
        (b'{"a":1}', b'{ "a" : 1 }', []),
        (b'{"a": 1}', b'{"a": 2}', [{"place": "a", "before": 1, "after": 2}]),
        (b'{"a": 1}', b'{"a": 1.0}', [{"place": "a", "before": 1, "after": 1.0}]),
        (b'{"a": 1}', b'{"a": true}', [{"place": "a", "before": 1, "after": True}]),
        (b"{}", b'{"a": null}', [{"place": "a", "after": None}]),
        (b'{"a": null}', b"{}", [{"place": "a", "before": None}]),
        (
            b'{"a": [{"b": 1}]}',
            b'{"a": [{"b": 2}]}',
            [{"place": "a[0].b", "before": 1, "after": 2}],
        ),
        (b"[1]", b"[1, 2]", [{"place": "", "before": [1], "after": [1, 2]}]),
    ],
)
def test_each_changed_value_is_reported_with_its_place(before, after, expected):
    assert changes_of(before, after) == expected


def test_a_body_that_is_no_json_has_no_changes():
    assert changes(b"a=1", b"a=2") is None
    assert changes(b"same", b"same") == []
