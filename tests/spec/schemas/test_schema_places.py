"""The schemas of a place in a body."""

import pytest

from engine.source.problem import Findings
from engine.spec.schemas.schema_places import can_have, names_in, place_in
from engine.spec.spec import read

DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths: {}
components:
  schemas:
    Chat:
      allOf:
        - {type: object, required: [model], properties: {model: {type: string}}}
        - anyOf:
            - {required: [n], properties: {n: {type: integer}}}
            - properties:
                n: {type: string}
                free: {}
                list: {items: {$ref: "#/components/schemas/Item"}}
      properties:
        map: {type: object, additionalProperties: {type: number}}
        closed: {type: object, additionalProperties: false}
        any: {type: object}
        pair: {type: array, prefixItems: [{type: string}]}
        self: {$ref: "#/components/schemas/Chat"}
    Item: {type: object, required: [name], properties: {name: {type: string}}}
"""


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    file = tmp_path_factory.mktemp("spec") / "shop.yaml"
    file.write_text(DOCUMENT)
    spec = read("shop", file, "shop.yaml", (), Findings())
    return spec.library.document.get("components").get("schemas").get("Chat")


@pytest.mark.parametrize(
    ("place", "types", "free", "required"),
    [
        ("model", ["string"], False, True),
        ("n", ["integer", "string"], False, False),
        ("x", [], False, False),
        ("x/y", [], False, False),
        ("free/x/y", [], True, False),
        ("any/x", [], True, False),
        ("map/x", ["number"], False, False),
        ("closed/x", [], False, False),
        ("model/x", [], False, False),
        ("list/0/name", ["string"], False, True),
        ("list/*/name", ["string"], False, True),
        ("list/name", [], False, False),
        ("pair/0", ["string"], False, False),
        ("self/self/model", ["string"], False, True),
    ],
)
def test_a_place_has_the_schemas_that_describe_it(chat, place, types, free, required):
    schema_place = place_in(chat, place.split("/"), "*")
    assert sorted(schema.value["type"] for schema in schema_place.schemas) == types
    assert (schema_place.free, schema_place.required) == (free, required)
    assert bool(schema_place) is (bool(types) or free)
    assert can_have([chat], place.split("/"), "*") is bool(schema_place)


def test_the_names_of_all_branches(chat):
    assert {"model", "n", "list", "map"} <= set(names_in(chat))
