"""The reference of keys: every key that holds a value has a row that says what it takes."""

import pytest

from engine.config import keys
from engine.config.key_reference import markdown

SCHEMA = {
    "properties": {
        "server": {
            "description": "How it listens.",
            "type": "object",
            "properties": {
                "workers": {
                    "description": "Worker processes.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 8,
                    "default": 2,
                    "x-modelway": {"weaker": "more"},
                },
                "key": {
                    "description": "A file.",
                    "type": "string",
                    "x-modelway": {"path": True, "secret": "value"},
                },
                "level": {
                    "description": "How much.",
                    "enum": ["all", "some", "none"],
                    "x-modelway": {"weaker": ["all", "some", "none"]},
                },
                "nets": {
                    "description": "A | B.",
                    "type": "array",
                    "items": {"type": "string"},
                    "x-modelway": {"unit": "network", "weaker": "gain"},
                },
            },
        },
        "targets": {
            "description": "By name.",
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "properties": {
                    "wait": {
                        "description": "How long.",
                        "type": "string",
                        "x-modelway": {"unit": "duration"},
                    },
                    "places": {
                        "description": "By name.",
                        "type": "object",
                        "additionalProperties": {"type": "array", "items": {"type": "string"}},
                    },
                },
            },
        },
    }
}
ROWS = markdown(keys.describe(SCHEMA)).splitlines()


@pytest.mark.parametrize(
    "row",
    [
        "| `workers` | integer, from 1, up to 8 | `2` | Worker processes. | more |",
        "| `key` | string, path, secret |  | A file. |  |",
        "| `level` | `all`, `some`, `none` |  | How much. | a later one of `all`, `some`, `none` |",
        "| `nets` | list of networks |  | A \\| B. | more entries |",
        "By name. Keys of each named entry.",
        "| `wait` | duration |  | How long. |  |",
        "| `places` | mapping |  | By name. |  |",
    ],
)
def test_a_key_has_its_row(row):
    assert row in ROWS


def test_every_key_that_is_no_group_has_a_row():
    text = markdown(keys.root())
    for key in keys.root().all():
        if not key.children and key.path[-1] != keys.ENTRY:
            assert f"{key.path[-1]}` |" in text, key.name
