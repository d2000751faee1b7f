"""Settings join those that a file has."""

from __future__ import annotations

import json
import tomllib

import pytest

from engine.cli.connect.merge import CannotMerge, merge, revert

TOML = """# mine
model = "old"  # my model
[tools]
web = true

[model_providers.other]
name = "other"
"""
SETTINGS = 'model = "new"\n\n[model_providers.modelway]\nname = "modelway"\n'


def test_a_file_without_text_gets_the_settings() -> None:
    assert merge("a.toml", " \n", SETTINGS) == SETTINGS


def test_toml_keeps_what_else_is_there_and_its_comments() -> None:
    text = merge("a.toml", TOML, SETTINGS)
    assert tomllib.loads(text) == {
        "model": "new",
        "tools": {"web": True},
        "model_providers": {"other": {"name": "other"}, "modelway": {"name": "modelway"}},
    }
    assert "# mine\n" in text
    assert "# my model" in text


def test_json_keeps_what_else_is_there_and_its_indent() -> None:
    before = '{\n    "security": {"auth": {"useExternal": true}},\n    "theme": "ünï"\n}\n'
    text = merge("a.json", before, '{"security": {"auth": {"selectedType": "key"}}}')
    assert json.loads(text) == {
        "security": {"auth": {"useExternal": True, "selectedType": "key"}},
        "theme": "ünï",
    }
    assert text.startswith('{\n    "security"')
    assert "ünï" in text
    assert text.endswith("}\n")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '{"a": 1} // mine', "it is not JSON: "),
        ("a.json", "[1]", "it is not a JSON object"),
        ("a.toml", "a = ", "it is not TOML: "),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(name: str, text: str, message: str) -> None:
    with pytest.raises(CannotMerge, match=message):
        merge(name, text, SETTINGS if name.endswith("toml") else "{}")


def test_settings_are_taken_out_of_a_file_that_others_changed() -> None:
    before = '{"a": 1, "b": {"x": 1}, "c": 3}'
    after = merge("f.json", before, '{"a": 2, "b": {"y": 2}, "d": {"e": {"f": 1}}, "g": 5}')
    value = json.loads(after)
    value["b"]["z"], value["g"], value["h"] = 3, 6, 7
    text = revert("f.json", json.dumps(value), before, after)
    assert json.loads(text) == {"a": 1, "b": {"x": 1, "z": 3}, "c": 3, "g": 6, "h": 7}


def test_toml_keeps_its_comments_when_settings_are_taken_out() -> None:
    after = merge("f.toml", TOML, SETTINGS)
    text = revert("f.toml", after + "\n[mine]\na = 1\n", TOML, after)
    assert tomllib.loads(text) == {**tomllib.loads(TOML), "mine": {"a": 1}}
    assert "# my model" in text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", 'model_providers.own.name = "x"\n[tools]\nweb = true\n'),
        ("a.toml", 'model_providers = {own = {name = "x"}}\n'),
        ("a.json", '{"own": "\\ud800"}'),
        ("a.json", '{"a":' * 50_000),
    ],
    ids=["dotted", "inline", "surrogate", "deep"],
)
def test_settings_that_would_land_elsewhere_are_refused(name: str, text: str) -> None:
    with pytest.raises(CannotMerge):
        merge(name, text, SETTINGS if name == "a.toml" else '{"a": {"b": 1}}')


def test_a_member_that_the_file_wrote_otherwise_is_restored_or_refused() -> None:
    before = '[model_providers]\nmodelway.name = "old"\n[q]\n'
    after = merge("f.toml", before, SETTINGS + 'base_url = "b"\nenv_key = "X"\n')
    with pytest.raises(CannotMerge):
        revert("f.toml", after + "[z]\n", before, after)
    after = merge("f.json", '{"a": "x"}', '{"a": {"b": 1}}')
    value = json.loads(after) | {"c": 1}
    text = revert("f.json", json.dumps(value), '{"a": "x"}', after)
    assert json.loads(text) == {"a": "x", "c": 1}


def test_json_keeps_its_line_ends() -> None:
    text = merge("a.json", '{\r\n  "a": 1\r\n}\r\n', '{"b": 2}')
    assert text == '{\r\n  "a": 1,\r\n  "b": 2\r\n}\r\n'


def test_a_file_of_another_kind_is_its_agents_alone():
    assert merge("modelway.yaml", "", "models: []\n") == "models: []\n"
    assert merge("modelway.yaml", "models: []\n", "models: []\n") == "models: []\n"
    with pytest.raises(CannotMerge, match="only JSON and TOML can be joined"):
        merge("modelway.yaml", "models: [mine]\n", "models: []\n")
