"""The schemas of a project for editors: its names are suggested; overlays may be incomplete."""

import pytest
from jsonschema import Draft202012Validator

from engine import policies
from engine.config import json_schema
from engine.config.project_schema import Names, overlay_schema, project_schema
from engine.edge import answers
from engine.source.reader import read
from engine.upstream import choose

NAMES = Names(
    providers=["groq"],
    dialects=["openai"],
    operations=["shop.chat", "shop.*"],
    specs=["shop"],
    upstreams=["main"],
    models=["small", "any-*"],
    tokens=["alice"],
)
OPTIONS = policies.schema(), choose.forms(), answers.schema()
SHIPPED = json_schema.editor_schema(json_schema.schema(), *OPTIONS)
PROJECT = project_schema(SHIPPED, NAMES)
OVERLAY = Draft202012Validator(overlay_schema(PROJECT))


@pytest.mark.parametrize("place", NAMES.places())
def test_every_place_of_names_suggests_them(place):
    value = PROJECT["$defs"]
    for step in place.split("/"):
        value = value[int(step) if isinstance(value, list) else step]
    assert value["anyOf"][0]["enum"] == list(NAMES.places()[place])


def test_wildcards_are_suggested_only_where_they_may_stand():
    places = NAMES.places()
    assert "any-*" in places["token/properties/models/items"]
    assert "any-*" not in places["model/properties/fallback/items"]


def test_entries_are_suggested_by_their_names():
    assert list(PROJECT["properties"]["upstreams"]["properties"]) == ["main"]
    assert list(PROJECT["properties"]["prices"]["properties"]) == ["small", "any-*"]


CONFIG = """\
version: 1
specs: {shop: {document: shop.yaml, dialect: "DIALECT"}}
upstreams: {main: {url: "http://a"}}
models: {small: {to: [{upstream: main}], fallback: [other]}}
routes: [{operation: shop.new, model: $request.body#/model}]
"""


@pytest.mark.parametrize("dialect", ["openai", "new", "${DIALECT}"])
def test_a_name_that_the_project_does_not_have_is_allowed(dialect):
    value = read(CONFIG.replace("DIALECT", dialect), "f").value
    assert Draft202012Validator(PROJECT).is_valid(value)


def test_the_schema_that_it_is_made_from_is_unchanged():
    before = json_schema.editor_schema(json_schema.schema(), *OPTIONS)
    assert before == SHIPPED


@pytest.mark.parametrize(
    ("overlay", "right"),
    [
        ("server: {workers: 3}", True),
        ("upstreams: {main: {timeouts: {total: 5m}}}", True),
        ("upstreams: {main: {timeouts: }}", True),
        ("upstreams: {main: {credential: {value: x}}}", True),
        ("models: {small: {title: Small}}\nprices: {small: {input: 1}}", True),
        ("upstreams: {main: {timeout: {total: 5m}}}", False),
        ("server: {workers: many}", False),
        ("models: {small: {zebra: 1}}", False),
        ("tokens: [{name: alice}]", False),
        ("zebra: 1", False),
    ],
)
def test_an_overlay_has_the_keys_of_the_file_and_need_not_be_complete(overlay, right):
    assert OVERLAY.is_valid(read(overlay, "f").value) == right


def test_both_are_valid_schemas():
    Draft202012Validator.check_schema(PROJECT)
    Draft202012Validator.check_schema(OVERLAY.schema)
