"""Any mutation of a config is refused with a place, or the config starts."""

import os

import pytest

from engine import policies
from engine.config import json_schema
from tests.support.mutations import Mutation, full_config, judge, mutations, prepare
from tests.support.thorough import changes

COUNT = changes(64)
"""The number of mutations; MODELWAY_MUTATIONS=20000 tries more."""

SEED = int(os.environ.get("MODELWAY_MUTATIONS_SEED", "0"))
_PARTS = 8


@pytest.fixture
def folder(tmp_path, monkeypatch):
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def keys(schema, at=""):
    """The place in the schema of every key that a file may have."""
    for name, below in schema.get("properties", {}).items():
        yield f"{at}/{name}"
        yield from keys(below, f"{at}/{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from keys(schema[key], f"{at}/*")
    for branch in schema.get("anyOf", []):
        yield from keys(branch, at)


def used_keys(schema, value, at=""):
    """The places in the schema of the keys that a value has."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        yield from used_keys(json_schema.schema()["$defs"][name], value, f"#{name}")
    for branch in schema.get("anyOf", []):
        yield from used_keys(branch, value, at)
    below = value if isinstance(value, list) else []
    if isinstance(value, dict):
        below = [entry for name, entry in value.items() if name not in schema.get("properties", {})]
        for name, inner in schema.get("properties", {}).items():
            if name in value:
                yield f"{at}/{name}"
                yield from used_keys(inner, value[name], f"{at}/{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            for inner in below:
                yield from used_keys(schema[key], inner, f"{at}/*")


def test_the_config_uses_every_key_of_the_schema():
    schema = json_schema.schema()
    all_keys = set(keys(schema))
    for name, below in schema["$defs"].items():
        all_keys |= set(keys(below, f"#{name}"))
    assert len(all_keys) > 150
    all_keys.remove("#server/grace")  # the short form of server.drain.grace, which excludes it
    assert all_keys - set(used_keys(schema, full_config())) == set()


def test_the_config_uses_every_policy():
    config = full_config()
    listed = [*config["policies"], *(p for r in config["routes"] for p in r.get("policies", []))]
    assert {name for policy in listed for name in policy} == set(policies.names())


def test_the_config_itself_is_right(folder):
    result = judge(Mutation((folder / "gateway.yaml").read_text("utf-8"), "nothing changed"))
    assert [str(problem) for problem in result.findings.errors] == []


@pytest.mark.no_cover  # coverage would take twice the time of the changes themselves
@pytest.mark.parametrize("part", range(_PARTS))
@pytest.mark.timeout(1200)
def test_a_changed_config_is_refused_with_a_place_or_serves(folder, part):
    changes = mutations(SEED * _PARTS + part)
    plans = 0
    for _ in range(max(1, COUNT // _PARTS)):
        change = next(changes)
        try:
            plans += judge(change).plan is not None
        except Exception as error:
            raise AssertionError(f"{change.words}\n{change.text}") from error
    expected = COUNT // _PARTS // 20  # none of so few as in the gate
    assert plans >= expected, "hardly any of these is right: they prove little"
