"""`modelway schema`: the schema of this version, for editors and for other validators."""

import json

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from engine import cli
from engine.source import files
from engine.source.reader import read
from tests.support.commands import DOCUMENT, GOOD


def run(*words):
    return CliRunner().invoke(cli.main, ["schema", *map(str, words)])


def test_it_prints_the_shipped_schema():
    assert run().output == files.SCHEMA.read_text("utf-8")


def test_it_writes_over_the_file_that_it_is_made_from(tmp_path, monkeypatch):
    file = tmp_path / "gateway.schema.json"
    file.write_text(files.SCHEMA.read_text("utf-8"))
    monkeypatch.setattr(files, "SCHEMA", file)
    before = file.read_text("utf-8")
    assert run("-o", file).exit_code == 0
    assert file.read_text("utf-8") == before


def test_the_reference_of_keys_is_that_of_this_version():
    """Out of date: run `modelway schema --format markdown -o docs/reference/keys.md`."""
    printed = run("--format", "markdown").output
    assert printed == (files.HOME / "docs" / "reference" / "keys.md").read_text("utf-8")


@pytest.mark.parametrize(("weight", "right"), [(2, True), ("${W}", False)])
def test_expanded_it_takes_no_references(weight, right):
    schema = json.loads(run("--expanded").output)
    value = read("{version: 1, specs: {s: {document: d}}, routes: [{operation: s.o}]}", "f").value
    value["routes"][0]["to"] = [{"upstream": "u", "weight": weight}]
    assert Draft202012Validator(schema).is_valid(value) is right
    value["policies"] = [{"max_body": 5}]
    assert not Draft202012Validator(schema).is_valid(value)


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    result = run("-o", tmp_path / "nowhere" / "x.json")
    assert result.exit_code == 1
    assert "cannot be written" in result.output


def project(folder, first=""):
    """A project whose config begins with this line."""
    folder.mkdir()
    (folder / "shop.yaml").write_text(DOCUMENT)
    (folder / "gateway.yaml").write_text(first + GOOD)
    return folder / "gateway.yaml"


@pytest.mark.parametrize(
    ("first", "written"),
    [
        ("", "schemas/gateway.schema.json"),
        ("# yaml-language-server: $schema=editor/mine.json\n", "editor/mine.json"),
        ("# yaml-language-server: $schema=https://example.com/s\n", "schemas/gateway.schema.json"),
    ],
)
def test_the_schemas_of_a_project_are_where_its_config_says(tmp_path, first, written):
    config = project(tmp_path / "p", first)
    assert run("--project", "-c", config).exit_code == 0
    schema = json.loads((config.parent / written).read_text("utf-8"))
    operation = schema["$defs"]["route"]["properties"]["operation"]
    assert operation["anyOf"][0]["enum"] == ["shop.list", "shop.more", "shop.*"]
    assert (config.parent / written).with_name("overlay.schema.json").is_file()


def test_a_config_that_cannot_be_read_has_no_schemas(tmp_path):
    config = tmp_path / "gateway.yaml"
    config.write_text("a: [")
    result = run("--project", "-c", config)
    assert (result.exit_code, "the config cannot be read" in result.output) == (1, True)
