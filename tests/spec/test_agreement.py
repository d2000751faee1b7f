"""The fast path and openapi-core give the same verdict, on what openapi-core gets right.

Left out of the comparison, because openapi-core is not right there; each has a test below that
shows what ours does by the standard:

- `discriminator`: openapi-core refuses a body whose value has no mapping and no component of that
  name (documents.md, 2). To the standard it is a hint that never changes a verdict.
- keywords beside `$ref` in 3.0: they are ignored by the standard, openapi-core applies them.
- `readOnly` behind a `$ref`: openapi-core still requires the property.
- a read-only property in a request of 3.0: by the standard it SHOULD NOT be sent; openapi-core
  refuses it.
- `required` of a read-only property in 3.1: openapi-core requires it of a request.
- `format: int32` and `int64` of a number written as a float (`3e9`): openapi-core looks at Python's
  type and lets it pass.
- `format: byte`: openapi-core raises UnicodeEncodeError on text beyond ASCII, and in 3.1, which has
  no such format, still refuses.
- `format: date-time` at its edges (lower case, leap seconds) and `email`, `hostname`, `regex`, ...:
  formats without a bound in OpenAPI, which the two check to a different depth.
- `pattern` beyond what ECMA 262 and Python's `re` share, and `multipleOf` of fractions, where
  Python's floats round.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema_path import SchemaPath
from openapi_core.validation.schemas import (
    oas30_write_schema_validators_factory,
    oas31_schema_validators_factory,
)
from openapi_core.validation.schemas.exceptions import InvalidSchemaValue

from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.schemas.whole_numbers import as_integers
from tests.support.documents import document, library, validator
from tests.support.each import each
from tests.support.thorough import examples

EXAMPLES = examples(40)
"""Schemas for each version, four bodies each. `MODELWAY_EXAMPLES=2000` tries more."""

FACTORIES = {
    "3.0.3": oas30_write_schema_validators_factory,
    "3.1.0": oas31_schema_validators_factory,
}
NAMES = ["a", "b", "id", "x/y", "p%q~", "format", "nullable"]
REFS = ["Leaf", "List", "Tree"]
WORDS = ["", "a", "b", "abc", "xy", "42", "é", "😀", "id"]
FORMATS = {
    "date": ["2024-02-29", "2023-02-29", "2024-1-1", "2024-12-31"],
    "date-time": ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00+02:00", "2024-02-29", "12:00:00Z"],
    "uuid": ["123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-42661417400", "x"],
    "ipv4": ["127.0.0.1", "256.0.0.1", "1.2.3", "::1"],
    "ipv6": ["::1", "2001:db8::ff00:42:8329", "1.2.3.4", "::g", "1:2:3:4:5:6:7:8:9"],
    "x-unknown": ["anything"],
}
BYTES = ["", "YQ==", "YWI=", "YQ", "Y Q=", "YWJj"]
PATTERNS = ["^[a-c]+$", "b", "^a.c$", "[0-9]{2}", "^x?y*$"]
EDGES = [0, 1, -1, 5, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, 2**63, -(2**63)]

integers = st.sampled_from(EDGES) | st.integers(-3, 7)
numbers = integers | st.sampled_from([0.5, -0.5, 1.5, 4.25, 1e10])
scalars = st.none() | st.booleans() | numbers | st.sampled_from([1.0, 0.0]) | st.sampled_from(WORDS)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=5,
)


def options(**keywords: Any) -> Any:
    """A mapping with any of these keywords."""
    return st.fixed_dictionaries({}, optional=keywords)


@st.composite
def _scalar_schemas(draw: Any, is_30: bool) -> dict[str, Any]:
    kind = draw(st.sampled_from(["string", "integer", "number", "boolean"]))
    small = st.integers(0, 3)
    if kind == "string":
        formats = {**FORMATS, "byte": BYTES} if is_30 else FORMATS
        more = draw(
            options(minLength=small, maxLength=small, pattern=st.sampled_from(PATTERNS))
            | options(format=st.sampled_from(sorted(formats)))
            | options(enum=st.lists(st.sampled_from(WORDS), min_size=1, unique=True))
        )
    elif kind == "boolean":
        more = draw(options(enum=st.just([True])))
    else:
        bounds = {"minimum": numbers, "maximum": numbers}
        if is_30:
            bounds |= {"exclusiveMinimum": st.booleans(), "exclusiveMaximum": st.booleans()}
        else:
            bounds |= {"exclusiveMinimum": numbers, "exclusiveMaximum": numbers}
        if kind == "integer":
            bounds |= {"format": st.sampled_from(["int32", "int64"]), "multipleOf": st.just(3)}
        more = draw(options(**bounds) | options(enum=st.lists(numbers, min_size=1)))
        if is_30:
            for bound in ("Minimum", "Maximum"):
                if bound.lower() not in more:
                    more.pop(f"exclusive{bound}", None)
    return _typed(draw, {"type": kind, **more}, is_30)


def _typed(draw: Any, schema: dict[str, Any], is_30: bool) -> dict[str, Any]:
    """The schema, now and then with null among its types."""
    if draw(st.integers(0, 3)) == 0:
        if is_30:
            schema["nullable"] = draw(st.booleans())
        else:
            schema["type"] = [schema["type"], "null"]
    return schema


@st.composite
def schemas(draw: Any, is_30: bool, depth: int = 3) -> Any:
    kinds = ["scalar", "scalar", "ref", "enum"]
    if not is_30:
        kinds += ["const", "boolean"]
    if depth:
        kinds += ["object", "object", "array", "allOf", "anyOf", "oneOf", "not"]
        if not is_30:
            kinds.append("if")
    kind = draw(st.sampled_from(kinds))
    below = schemas(is_30, max(depth - 1, 0))
    small = st.integers(0, 3)
    if kind == "scalar":
        return draw(_scalar_schemas(is_30))
    if kind == "ref":
        return {"$ref": f"#/components/schemas/{draw(st.sampled_from(REFS))}"}
    if kind == "const":
        return {"const": draw(values)}
    if kind == "enum":
        return {"enum": draw(st.lists(values, min_size=1, max_size=3))}
    if kind == "boolean":
        return draw(st.booleans())
    if kind == "object":
        value = draw(
            options(
                properties=st.dictionaries(st.sampled_from(NAMES), below, max_size=3),
                required=st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True),
                additionalProperties=st.booleans() | below,
                minProperties=small,
                maxProperties=small,
            )
        )
        return _typed(draw, {"type": "object", **value}, is_30)
    if kind == "array":
        value = draw(options(minItems=small, maxItems=small, uniqueItems=st.booleans()))
        return _typed(draw, {"type": "array", "items": draw(below), **value}, is_30)
    if kind == "not":
        return {"not": draw(below)}
    if kind == "if":
        return {"if": draw(below), "then": draw(below), "else": draw(below)}
    return {kind: draw(st.lists(below, min_size=1, max_size=3))}


@st.composite
def bodies(draw: Any, schema: Any, components: dict[str, Any], depth: int = 5) -> Any:
    """A value that often, but not always, fits the schema."""
    if not isinstance(schema, dict) or depth == 0 or draw(st.integers(0, 9)) == 0:
        return draw(values)
    again = {"components": components, "depth": depth - 1}
    if "$ref" in schema:
        return draw(bodies(components[schema["$ref"].rpartition("/")[2]], **again))
    for union in ("allOf", "anyOf", "oneOf"):
        if union in schema:
            return draw(bodies(draw(st.sampled_from(schema[union])), **again))
    if "if" in schema:
        return draw(bodies(schema[draw(st.sampled_from(["if", "then", "else"]))], **again))
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    kind = schema.get("type")
    if kind == "object" or kind == ["object", "null"]:
        properties = schema.get("properties", {})
        names = draw(st.sets(st.sampled_from(NAMES), max_size=2)) | set(schema.get("required", ()))
        return {name: draw(bodies(properties.get(name, True), **again)) for name in sorted(names)}
    if kind == "array" or kind == ["array", "null"]:
        least = schema.get("minItems", 0)
        size = draw(st.integers(least, max(least, min(3, schema.get("maxItems", 3)))))
        return [draw(bodies(schema["items"], **again)) for _ in range(size)]
    if kind in ("integer", ["integer", "null"]):
        return draw(integers)
    if kind == "string" and "format" in schema:
        return draw(st.sampled_from(FORMATS.get(schema["format"], BYTES)))
    return draw(scalars | integers | st.sampled_from(WORDS))


def their_verdict(schema: Any, body: Any, version: str, components: dict[str, Any]) -> bool:
    value = document(version=version, components={"schemas": {"Root": schema, **components}})
    spec = SchemaPath.from_dict(value)
    validator = FACTORIES[version].create(spec, spec / "components" / "schemas" / "Root")
    try:
        validator.validate(body)
    except InvalidSchemaValue:
        return False
    return True


def our_verdict(schema: Any, body: Any, version: str, **components: Any) -> bool:
    return bool(validator(schema, version=version, **components).is_valid(body))


def _components(is_30: bool) -> Any:
    """Leaf is anything small; List and Tree contain themselves."""
    ref = "#/components/schemas/"
    chain = {
        "type": "object",
        "properties": {"a": {"$ref": ref + "Leaf"}, "b": {"$ref": ref + "List"}},
        "required": ["a"],
    }
    tree = {"type": "array", "items": {"anyOf": [{"$ref": ref + "Tree"}, {"$ref": ref + "Leaf"}]}}
    return st.fixed_dictionaries(
        {"Leaf": _scalar_schemas(is_30), "List": st.just(chain), "Tree": st.just(tree)}
    )


def _accepts(validator: Any, body: object) -> bool:
    try:
        validator.validate(body)
    except InvalidSchemaValue:
        return False
    return True


@each(
    ("schema", "body", "verdict"),
    [
        ({"type": "integer"}, 1.0, True),
        ({"type": "integer", "nullable": True, "maximum": 5}, 5.0, True),
        ({"type": "integer", "maximum": 5}, 6.0, False),
        ({"type": "integer"}, 1.5, False),
        ({"$ref": "#/components/schemas/Leaf"}, {"a": [2.0]}, True),
        ({"type": "string"}, 1.0, False),
    ],
)
def test_1_0_is_an_integer_in_3_0(schema: Any, body: Any, verdict: bool) -> None:
    """openapi-core reads Draft 4 to the letter; 3.0.4 says that JSON knows no integers."""
    leaf = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    assert our_verdict(schema, body, "3.0.3", Leaf=leaf) is verdict


@each("version", ["3.0.3", "3.1.0"])
def test_the_fast_path_and_openapi_core_agree(version: str) -> None:
    is_30 = version.startswith("3.0")
    verdicts: Counter[bool] = Counter()

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def agree(data: Any) -> None:
        schema = data.draw(schemas(is_30))
        components = data.draw(_components(is_30))
        value = library(
            document(version=version, components={"schemas": {"Root": schema, **components}})
        )
        at = value.document.get("components").get("schemas").step("Root")
        own_validator = Schemas(value).validator(at)
        spec = SchemaPath.from_dict(value.document.value)
        other_validator = FACTORIES[version].create(spec, spec / "components" / "schemas" / "Root")
        for _ in range(4):
            body = json.loads(json.dumps(data.draw(bodies(schema, components))))
            try:
                verdict = _accepts(other_validator, body) or (
                    is_30 and _accepts(other_validator, as_integers(body))
                )
            except UnicodeEncodeError:  # its `format: byte`, see above: no verdict to compare
                continue
            assert own_validator.is_valid(body) is verdict, (schema, components, body)
            verdicts[verdict] += 1

    agree()
    # A comparison in which nearly everything passes, or nothing, would prove little.
    assert min(verdicts[True], verdicts[False]) > sum(verdicts.values()) / 10


@each(
    ("version", "schema", "body"),
    [
        ("3.0.3", {"type": "string", "nullable": True}, None),
        ("3.0.3", {"type": "string", "nullable": True, "enum": ["a"]}, None),
        ("3.0.3", {"type": "string", "nullable": True, "enum": ["a", None]}, None),
        ("3.0.3", {"nullable": True, "allOf": [{"type": "string"}]}, None),
        ("3.0.3", {"type": "integer", "minimum": 5, "exclusiveMinimum": True}, 5),
        ("3.0.3", {"type": "integer", "minimum": 5, "exclusiveMinimum": False}, 5),
        ("3.1.0", {"type": "integer"}, 1.0),
        ("3.1.0", {"type": "integer", "exclusiveMinimum": 5}, 5),
        ("3.0.3", {"type": "integer", "format": "int32"}, 2**31),
        ("3.1.0", {"type": "integer", "format": "int32"}, 2**31),
        ("3.1.0", {"type": ["integer", "null"], "format": "int32"}, 2**31),
        ("3.1.0", {"type": ["integer", "null"], "format": "int64"}, 2**63),
        ("3.0.3", {"format": "int32"}, 2**31),
        ("3.1.0", {"enum": [{"format": "custom"}]}, {"format": "custom"}),
        ("3.0.3", {"enum": [{"type": "x", "nullable": True}]}, {"type": "x", "nullable": True}),
        ("3.1.0", {"const": {"format": "custom"}}, {"format": "custom"}),
        ("3.0.3", {"type": "string", "format": "byte"}, "YQ"),
        ("3.0.3", {"enum": [1]}, True),
        ("3.0.3", {"uniqueItems": True, "type": "array", "items": {}}, [1, True, "1"]),
        ("3.1.0", {"uniqueItems": True}, [1, 1.0]),
        ("3.1.0", {"uniqueItems": True}, [{"a": 1, "b": 2}, {"b": 2, "a": 1}]),
        ("3.1.0", {"minLength": 2}, "😀"),
        ("3.1.0", {"items": {"$ref": "#/components/schemas/Leaf", "maxLength": 1}}, ["ab"]),
        ("3.1.0", {"properties": {"format": {"type": "string"}}}, {"format": 5}),
        ("3.0.3", {"properties": {"nullable": {"type": "string"}}}, {"nullable": None}),
        ("3.0.3", {"properties": {"properties": {"type": "string"}}}, {"properties": 5}),
        (
            "3.0.3",
            {"properties": {"id": {"readOnly": True}}, "required": ["id"], "type": "object"},
            {},
        ),
    ],
)
def test_both_agree_at_the_edges(version: str, schema: Any, body: Any) -> None:
    components = {"Leaf": {"type": "string"}}
    verdict = their_verdict(schema, body, version, components)
    assert our_verdict(schema, body, version, **components) is verdict


@each("version", ["3.0.3", "3.1.0"])
@each(("name", "body"), [(name, text) for name, texts in FORMATS.items() for text in texts])
def test_both_agree_on_a_format(version: str, name: str, body: str) -> None:
    schema = {"type": "string", "format": name}
    assert our_verdict(schema, body, version) is their_verdict(schema, body, version, {})


# What openapi-core gets wrong, and ours by the standard.

CAT = {
    "oneOf": [
        {"properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}},
        {"properties": {"kind": {"const": "dog"}}},
    ],
    "discriminator": {"propertyName": "kind"},
}


def test_a_discriminator_never_changes_a_verdict() -> None:
    assert our_verdict(CAT, {"kind": "cat", "lives": 9}, "3.1.0")
    assert not our_verdict(CAT, {"kind": "cat", "lives": "nine"}, "3.1.0")


@each("mapping", [{}, {"cat": "#/components/schemas/Other"}])
def test_the_mapping_of_a_discriminator_never_changes_a_verdict(mapping: dict[str, str]) -> None:
    schema = {**CAT, "discriminator": {"propertyName": "kind", "mapping": mapping}}
    assert our_verdict(schema, {"kind": "cat", "lives": 9}, "3.1.0", Other={"not": {}})


def test_a_union_with_a_discriminator_accepts_other_types_than_objects() -> None:
    schema = {"anyOf": [{"type": "string"}], "discriminator": {"propertyName": "kind"}}
    assert our_verdict(schema, "x", "3.0.3")


def test_keywords_beside_a_reference_mean_nothing_in_30() -> None:
    schema = {"$ref": "#/components/schemas/Name", "maxLength": 1}
    assert our_verdict(schema, "abc", "3.0.3", Name={"type": "string"})


def test_nullable_beside_a_reference_means_nothing_in_30() -> None:
    schema = {"$ref": "#/components/schemas/Name", "nullable": True}
    assert not our_verdict(schema, None, "3.0.3", Name={"type": "string"})


@each("version", ["3.0.3", "3.1.0"])
def test_a_property_that_is_read_only_by_reference_is_not_required(version: str) -> None:
    schema = {"properties": {"id": {"$ref": "#/components/schemas/Id"}}, "required": ["id"]}
    assert our_verdict(schema, {}, version, Id={"type": "string", "readOnly": True})


def test_a_read_only_property_is_not_required_in_31() -> None:
    schema = {"properties": {"id": {"readOnly": True}, "a": True}, "required": ["id", "a"]}
    assert our_verdict(schema, {"a": 1}, "3.1.0")
    assert not our_verdict(schema, {"id": 1}, "3.1.0")


@each(("name", "body"), [("int32", 3e9), ("int64", 1e19)])
def test_a_whole_number_is_bounded_however_it_is_written(name: str, body: float) -> None:
    assert not our_verdict({"type": "integer", "format": name}, body, "3.1.0")


def test_base64_beyond_ascii_is_refused() -> None:
    assert not our_verdict({"type": "string", "format": "byte"}, "é", "3.0.3")


def test_31_has_no_byte_format() -> None:
    assert our_verdict({"type": "string", "format": "byte"}, "!", "3.1.0")


@each("name", ["hostname", "regex", "uri", "time", "duration", "json-pointer"])
@each("version", ["3.0.3", "3.1.0"])
def test_other_formats_are_annotations(version: str, name: str) -> None:
    assert our_verdict({"type": "string", "format": name}, "((%%", version)


def test_an_exclusive_bound_stays_exclusive_beside_a_format() -> None:
    schema = {"type": "integer", "format": "int32", "minimum": -5, "exclusiveMinimum": True}
    assert not our_verdict(schema, -5, "3.0.3")
    assert our_verdict(schema, -4, "3.0.3")


def test_an_exclusive_bound_beyond_those_of_a_format_leaves_the_format_its_own() -> None:
    schema = {
        "type": "integer",
        "format": "int32",
        "minimum": -(2**40),
        "exclusiveMinimum": True,
    }
    assert our_verdict(schema, -(2**31), "3.0.3")
    assert not our_verdict(schema, -(2**31) - 1, "3.0.3")
