"""The draft of an imported config; what importers make of it is in `sources/`."""

from engine.offline.imports.imported_config import Entry, ImportedConfig
from engine.source.reader import read
from tests.support import yaml_text


def draft():
    return ImportedConfig(read("a: 1\nb: {c: 2}\n", "their.yaml"))


def test_equal_entries_share_a_name_and_others_get_a_number():
    config = draft()
    names = [
        config.named(config.upstreams, "openai", {"url": url}, line)
        for line, url in enumerate(("x", "y", "x"), 1)
    ]
    assert names == ["openai", "openai-2", "openai"]
    assert config.upstreams["openai"].lines == [1, 3]


def test_each_secret_has_a_variable_of_its_own():
    config = draft()
    config.secrets["KEY"] = ""
    secrets = ("first", "second", "first", "")
    names = [config.variable("KEY", secret) for secret in secrets]
    assert names == ["KEY_2", "KEY_3", "KEY_2", "KEY"]


def test_a_note_has_the_place_of_the_key_and_stands_once():
    config = draft()
    for _ in range(2):
        config.skip(("b", "c"), "why not")
    assert [str(note) for note in config.notes] == ["their.yaml:2:5: not imported: c: why not"]
    assert "# Not imported:\n#   their.yaml:2:5: c: why not\n" in config.text("x")


def test_a_long_entry_is_a_block_with_the_same_value():
    config = draft()
    long = {"to": [{"upstream": "u" * 30, "model": str(i) * 30} for i in range(3)]}
    config.models["m"] = Entry(long, [7, 3, 7])
    text = config.text("x")
    assert "  m:  # their.yaml:3, 7\n" in text
    assert max(map(len, text.splitlines())) <= 100
    assert yaml_text.load(text)["models"] == {"m": long}


def test_the_variables_are_those_of_its_entries():
    config = draft()
    value = {"a": "${ONE}", "b": ["x${TWO:-y}"], "c": "$${NOT"}
    config.upstreams["u"] = Entry(value, [1])
    assert {"ONE", "TWO"} <= set(config.variables())
