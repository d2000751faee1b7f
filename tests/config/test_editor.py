"""The JSON Schemas as an editor's language server reads them: valid, and right about real files."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from engine import cli, files
from engine.marked_yaml import read

SCHEMAS = sorted(files.SCHEMA.parent.glob("*.schema.json"))
FOLDER = "https://example.com/schemas/"


def loaded(path):
    return json.loads(path.read_text("utf-8"))


def validator(name):
    """As an editor resolves it: a reference starts at the file's own address."""
    resources = [(FOLDER + path.name, Resource(loaded(path), DRAFT202012)) for path in SCHEMAS]
    return Draft202012Validator(
        {"$ref": FOLDER + name}, registry=Registry().with_resources(resources)
    )


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_a_schema_is_valid_under_its_draft_and_says_which_it_is(path):
    schema = loaded(path)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)


def test_the_shipped_config_is_right_for_an_editor():
    value = read(files.CONFIG.read_text("utf-8"), "gateway.yaml").value
    numbers = ("${",)
    errors = [
        e
        for e in validator("gateway.schema.json").iter_errors(value)
        if not (isinstance(e.instance, str) and e.instance.startswith(numbers))
    ]
    assert errors == []


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("models: {m: {to: [{upstream: u}]}}", True),
        ("routes: [{operation: s.o, answer: models}]\nversion: 1", True),
        ("upstreams: {u: {url: http://h, urk: 1}}", False),
        ("include: [a.yaml]", False),
        ("zebra: 1", False),
    ],
)
def test_a_part_is_held_against_the_sections_of_the_whole(text, right):
    value = read(text, "part.yaml").value
    assert validator("part.schema.json").is_valid(value) is right


def test_a_part_may_have_every_section_but_include():
    whole = set(loaded(files.SCHEMA)["properties"])
    part = loaded(files.SCHEMA.parent / "part.schema.json")["properties"]
    assert set(part) == whole - {"include"}
    assert part == {name: {"$ref": f"gateway.schema.json#/properties/{name}"} for name in part}


def test_init_writes_the_line_that_editors_read_and_the_schema_it_names(tmp_path):
    assert CliRunner().invoke(cli.main, ["init", str(tmp_path / "p")]).exit_code == 0
    first = (tmp_path / "p/gateway.yaml").read_text("utf-8").splitlines()[0]
    match = re.fullmatch(r"# yaml-language-server: \$schema=(.+)", first)
    assert match is not None
    assert loaded(tmp_path / "p" / match[1]) == loaded(files.SCHEMA)
    assert (tmp_path / "p/schemas/part.schema.json").is_file()


def test_every_section_has_words_for_hovering_over_it():
    schema = loaded(files.SCHEMA)
    for name, said in schema["properties"].items():
        below = schema["$defs"][Path(said["$ref"]).name] if "$ref" in said else said
        assert said.get("description") or below.get("description"), name
