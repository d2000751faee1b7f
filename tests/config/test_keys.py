"""The description of the keys: the schema and its annotations are complete and consistent."""

import pytest

from engine.config import hints, keys
from engine.source.reader import read
from engine.values import units
from engine.values.redaction import is_secret_name

ALL = [key for key in keys.root().all() if key.notes]

MEMBERS = {
    "unit": ("duration", "size", "network", "origin", "money per million", "money each"),
    "path": (True,),
    "secret": ("value", "url", "named", "headers", "shape", "token"),
    "compared": (
        *(False, "targets", "routes", "authentication", "upstreams", "models", "limits", "tokens"),
        "prices",
        "transforms",
        "tools",
        "jwt",
    ),
}
"""The members that have a fixed set of values."""
FREE = {"words", "weaker", "kind", "weaker_kind", "otherwise", "absent", "also", "sentences"}
FREE |= {"format", "synonyms", "bounds"}


@pytest.mark.parametrize("key", ALL, ids=lambda key: key.name)
def test_an_annotation_has_members_that_the_engine_reads(key):
    assert set(key.notes) <= set(MEMBERS) | FREE
    for member, allowed in MEMBERS.items():
        assert key.notes.get(member, allowed[0]) in allowed


def test_every_format_has_a_name_for_messages():
    formats = [key for key in ALL if "format" in key.notes]
    assert formats
    for key in formats:
        assert hints.string_format({keys.ANNOTATION: key.notes}), key.name


@pytest.mark.parametrize(("pattern", "unit"), [(units.DURATION, "duration"), (units.SIZE, "size")])
def test_every_key_with_the_pattern_of_a_unit_names_the_unit(pattern, unit):
    for key in keys.root().all():
        has_pattern = str(key.schema.get("pattern", "")).endswith(pattern.rpartition(")?")[2])
        assert has_pattern == (key.notes.get("unit") == unit) or "per" in key.path, key.name


@pytest.mark.parametrize(
    "name",
    [
        key.name
        for key in keys.root().all()
        if any(word in key.schema.get("description", "") for word in ("Path of", "File of", "file"))
        and key.schema.get("type") == "string"
        and "unit" not in key.notes
        and not {"include", "tests"} & set(key.path[:1])
    ],
)
def test_a_key_that_is_described_as_a_file_is_a_path(name):
    assert keys.find(name).notes.get("path") or name.endswith("reference"), name


def test_a_default_is_converted():
    assert keys.default("server.max_body") == 25_000_000
    assert keys.default("upstreams.*.timeouts.total") == 600.0
    assert keys.default("telemetry.allow_ips") == ["127.0.0.0/8", "::1"]
    with pytest.raises(KeyError):
        keys.default("server.base_url")


def test_a_mapping_is_filled_with_the_defaults_of_the_keys_it_lacks():
    filled = keys.fill({"connect": 1.0}, "upstreams.*.timeouts")
    assert filled == {"connect": 1.0, "first_byte": 60.0, "idle": 60.0, "total": 600.0}


def test_whole_numbers_and_units_are_converted_at_any_depth():
    value = read("{upstreams: {u: {pool: 1e1, heartbeat: 2m, url: 5s}}}", "f").value
    converted = keys.convert(value, keys.root())["upstreams"]["u"]
    assert converted == {"pool": 10, "heartbeat": 120.0, "url": "5s"}
    assert isinstance(converted["pool"], int)


def test_annotated_values_are_found_in_values_of_any_shape():
    value = {"specs": {"a": {"document": "x", "overlays": ["y", 5]}, "b": 7}, "stores": []}
    paths = [(path, text) for path, text, _ in keys.values(value, keys.root(), "path")]
    assert paths == [
        (("specs", "a", "document"), "x"),
        (("specs", "a", "overlays", 0), "y"),
        (("specs", "a", "overlays", 1), 5),
    ]


def test_names_that_the_schema_does_not_know_are_named_with_no_key():
    value = {"upstreams": {"u": {"api_key": "x"}}, "zebra": 1}
    unknown = [path for path, _, key in keys.values(value, keys.root(), "secret") if key is None]
    assert unknown == [("upstreams", "u", "api_key"), ("zebra",)]


def test_a_key_named_like_a_secret_is_a_secret_or_a_file_that_holds_one():
    for key in keys.root().all():
        if key.path and is_secret_name(str(key.path[-1])) and key.path[0] == "upstreams":
            assert {"secret", "path"} & key.members, key.name


def test_parts_that_need_no_conversion_are_not_copied():
    value = {"a": {"url": "https://a"}, "b": {"url": "https://b", "pool": {"idle": "5s"}}}
    converted = keys.convert(value, keys.find("upstreams"))
    assert converted["a"] is value["a"]
    assert converted["b"] == {"url": "https://b", "pool": {"idle": 5.0}}
    assert value["b"]["pool"] == {"idle": "5s"}
