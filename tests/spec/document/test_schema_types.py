"""What schemas say of types, items and properties."""

from engine.spec.document.schema_types import items_of, kind_of, properties_of
from tests.support.each import each
from tests.support.schemas import repeated, resolve

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
BOOLEAN = {"type": "boolean"}


@each(
    ("schema", "kind"),
    [
        (STRING, "primitive"),
        ({}, "primitive"),
        ({"type": "array"}, "array"),
        ({"type": ["string", "array"]}, "array"),
        ({"items": STRING}, "array"),
        ({"type": "object"}, "object"),
        ({"properties": {"a": {}}}, "object"),
        ({"additionalProperties": STRING}, "object"),
        ({"anyOf": [STRING, {"type": "array", "items": STRING}]}, "array"),
        ({"anyOf": [{"type": "object"}, INTEGER]}, "object"),
        ({"anyOf": [{"type": "object"}, {}]}, "object"),
        ({"allOf": [{"$ref": "Tree"}, {"description": "x"}]}, "object"),
        ({"$ref": "Loop"}, "primitive"),
    ],
)
def test_kind(schema, kind):
    assert kind_of(schema, resolve) == kind


@each(
    ("schema", "items"),
    [
        ({"type": "array"}, {}),
        ({"type": "array", "items": INTEGER}, INTEGER),
        ({"anyOf": [STRING, {"type": "array", "items": INTEGER}]}, INTEGER),
        ({"prefixItems": [INTEGER, STRING]}, {"anyOf": [INTEGER, STRING]}),
        ({"items": False}, False),
    ],
)
def test_items(schema, items):
    assert items_of(schema, resolve) == items


@each(
    ("schema", "properties"),
    [
        ({}, {}),
        ({"properties": {"a": INTEGER}}, {"a": INTEGER}),
        ({"$ref": "Wide"}, {"w": {"$ref": "Wide"}}),
        (
            {"allOf": [{"properties": {"a": INTEGER}}, {"properties": {"b": STRING}}]},
            {"a": INTEGER, "b": STRING},
        ),
        (
            {"allOf": [{"properties": {"a": INTEGER}}, {"properties": {"a": {"minimum": 1}}}]},
            {"a": {"allOf": [INTEGER, {"minimum": 1}]}},
        ),
        (
            {"anyOf": [{"properties": {"a": INTEGER}}, {"properties": {"a": BOOLEAN}}, STRING]},
            {"a": {"anyOf": [INTEGER, BOOLEAN]}},
        ),
    ],
)
def test_properties(schema, properties):
    assert properties_of(schema, resolve) == properties


@each("word", ["allOf", "anyOf", "oneOf"])
def test_the_kind_of_schemas_that_repeat_each_other_is_found(word):
    assert kind_of(repeated(word), lambda schema: schema) == "object"
