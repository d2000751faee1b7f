"""The keywords of JSON Schema, by the values to which they and the schemas in them apply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

BY_TYPE: Mapping[str, frozenset[str]] = {
    "number": frozenset(
        {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    ),
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "array": frozenset(
        {"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}
        | {"contains", "minContains", "maxContains"}
    ),
    "object": frozenset(
        {"properties", "patternProperties", "additionalProperties", "propertyNames", "required"}
        | {"minProperties", "maxProperties", "dependentRequired", "dependentSchemas"}
    ),
}
"""Keywords by the type of values to which they apply: JSON Schema accepts values of other types."""

ANNOTATIONS = frozenset(
    {"title", "description", "default", "example", "examples", "deprecated", "externalDocs", "xml"}
    | {"readOnly", "writeOnly", "contentEncoding", "contentMediaType", "$comment", "discriminator"}
)
"""Keywords that refuse no value."""

SOURCE_PATTERN = "x-modelway-source-pattern"
"""Beside a `pattern` that is written as the engine reads it: the pattern of the document."""

LITERAL = frozenset({"enum", "const", "default", "example", "examples"})
"""Keywords whose values are data, not schemas."""

NAMING = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "schemas"}
    | {"parameters", "requestBodies", "responses", "paths", "content", "headers"}
)
"""Keys whose values are mappings of names."""

# Keywords whose schemas apply to the same value as the schema that has them.
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
SAME_VALUE = ("not", "if", "then", "else")
SAME_VALUE_LISTS = ("allOf", "anyOf", "oneOf")
SAME_VALUE_MAPPINGS = ("dependentSchemas", "dependencies")

# Keywords by the form of the schemas in them.
SUBSCHEMAS = (
    *("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"),
    *("unevaluatedProperties", "unevaluatedItems", "additionalItems", "contentSchema"),
)
SUBSCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
SUBSCHEMA_MAPPINGS = (
    *("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"),
    "dependencies",
)


def same_value(schema: Mapping[str, Any]) -> Iterator[object]:
    """The subschemas for the same value, of a valid schema without references."""
    yield from (schema[word] for word in SAME_VALUE if word in schema)
    for word in SAME_VALUE_LISTS:
        yield from schema.get(word, ())
    yield from schema.get("dependentSchemas", {}).values()


def of_items(schema: Mapping[str, Any]) -> Iterator[object]:
    """The subschemas for items of the value, of a valid schema."""
    yield from (schema[word] for word in ("items", "contains") if word in schema)
    yield from schema.get("prefixItems", ())
