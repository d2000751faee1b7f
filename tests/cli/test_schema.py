"""`modelway schema`: the schema of this version, for editors and for other validators."""

import json

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from engine import cli
from engine.source import files
from engine.source.reader import read


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
