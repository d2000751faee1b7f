"""A discriminator chooses the branch that judges, and whose errors are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.values.errors import GatewayError
from tests.support.documents import ask, document, get, read
from tests.support.each import each

Json = dict[str, Any]

KINDS = {"type": {"type": "string", "enum": ["text", "json"]}}
TEXT = {"type": "object", "required": ["type"], "properties": KINDS}
JSON = {
    "type": "object",
    "required": ["schema"],
    "properties": {**KINDS, "schema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
}
MAPPING = {"text": "#/components/schemas/Text", "json": "Json"}
BRANCHES: list[Any] = [
    {"$ref": "#/components/schemas/Text"},
    {"$ref": "#/components/schemas/Json"},
]


def refusal(folder: Path, schema: Any, value: Any, version: str, **schemas: Any) -> str:
    """The message of the refusal of a body; "" if it is accepted."""
    body = {"content": {"application/json": {"schema": schema}}}
    specification, problems = read(
        folder,
        document(
            version=version,
            paths={"/x": {"post": get(requestBody=body)}},
            components={"schemas": {"Text": TEXT, "Json": JSON, **schemas}},
        ),
    )
    assert specification is not None, problems
    try:
        ask(specification.operations["x"], value)
    except GatewayError as error:
        return error.message
    return ""


@each(
    ("value", "message"),
    [
        ({"type": "text"}, ""),
        ({"type": "json", "schema": {}}, ""),
        ({"type": "json"}, "Missing required parameter: 'schema'."),
        (
            {"type": "json", "schema": {"n": "x"}},
            "Invalid type for 'schema.n': expected an integer, got the string 'x'.",
        ),
    ],
)
@each("keyword", ["oneOf", "anyOf"])
@each("version", ["3.0.3", "3.1.0"])
def test_the_branch_that_is_named_judges(
    tmp_path: Path, version: str, keyword: str, value: Any, message: str
) -> None:
    schema = {keyword: BRANCHES, "discriminator": {"propertyName": "type", "mapping": MAPPING}}
    assert refusal(tmp_path, schema, value, version) == message


@each("value", [{"type": "other"}, {}, 5, {"type": 5}])
def test_without_a_name_all_branches_judge(tmp_path: Path, value: Any) -> None:
    schema = {"oneOf": BRANCHES, "discriminator": {"propertyName": "type", "mapping": MAPPING}}
    assert refusal(tmp_path, schema, value, "3.1.0")
    assert not refusal(tmp_path, {**schema, "oneOf": [*BRANCHES, True]}, value, "3.1.0")


OPEN = {"type": "object", "properties": {"type": {"type": "string"}, "n": {"type": "integer"}}}


@each(
    ("mapping", "value", "message"),
    [
        ({"a": "One", "b": "Two"}, {"type": "a"}, ""),
        ({"a": "One", "b": "Two"}, {"type": "One"}, ""),
        ({"a": "One", "b": "Two"}, {"type": "c"}, "expected one of One, Two, a, b"),
        ({"a": "One", "b": "Two"}, {"type": 5}, "Invalid"),
        ({"a": "One", "b": "Two"}, {}, ""),
        ({"a": "One"}, {"type": "c"}, ""),
        (None, {"type": "c"}, ""),
    ],
)
@each("version", ["3.0.3", "3.1.0"])
def test_a_value_that_a_complete_mapping_does_not_name_is_refused(
    tmp_path: Path, version: str, mapping: Any, value: Any, message: str
) -> None:
    discriminator = {"propertyName": "type", **({"mapping": mapping} if mapping else {})}
    schema = {
        "anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("One", "Two")],
        "discriminator": discriminator,
    }
    refused = refusal(tmp_path, schema, value, version, One=OPEN, Two=OPEN)
    assert message in refused
    assert bool(refused) is bool(message)


def test_values_that_a_mapped_branch_lists_itself_are_known(tmp_path: Path) -> None:
    listed = {"type": "object", "properties": {"type": {"enum": ["a", "a2"]}}}
    schema = {
        "oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("One", "Two")],
        "discriminator": {"propertyName": "type", "mapping": {"a": "One", "b": "Two"}},
    }
    two = {"type": "object", "properties": {"type": {"enum": ["b"]}}}
    assert refusal(tmp_path, schema, {"type": "a2"}, "3.1.0", One=listed, Two=two) == ""


@each(("value", "message"), [("c", ""), ("d", ""), ("b", ""), ("q", "missing")])
@each("version", ["3.0.3", "3.1.0"])
def test_a_branch_may_have_branches_that_its_own_mapping_names(
    tmp_path: Path, version: str, value: str, message: str
) -> None:
    def union(mapping: Json) -> Json:
        refs = [{"$ref": f"#/components/schemas/{name}"} for name in mapping.values()]
        return {"oneOf": refs, "discriminator": {"propertyName": "type", "mapping": mapping}}

    schemas = {"Inner": union({"c": "C", "d": "D"}), "B": {**OPEN, "required": ["n"]}}
    outer = union({"inner": "Inner", "b": "B"})
    body = {"type": value, **({"n": 1} if value == "b" else {})}
    refused = refusal(tmp_path, outer, body, version, **schemas, C=OPEN, D=OPEN)
    assert message in refused.lower()
    assert bool(refused) is bool(message)


def test_names_of_components_choose_without_a_mapping(tmp_path: Path) -> None:
    kind = {"type": "object", "properties": {"kind": {"type": "string"}}}
    schema = {
        "oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in "AB"],
        "discriminator": {"propertyName": "kind"},
    }
    named = {"A": kind, "B": {**kind, "required": ["b"]}}
    assert refusal(tmp_path, schema, {"kind": "A", "b": 1}, "3.1.0", **named) == ""
    assert "'b'" in refusal(tmp_path, schema, {"kind": "B"}, "3.1.0", **named)


def test_a_branch_may_have_keywords_beside_its_reference(tmp_path: Path) -> None:
    branches = [BRANCHES[0], {**BRANCHES[1], "minProperties": 3}]
    schema = {"oneOf": branches, "discriminator": {"propertyName": "type", "mapping": MAPPING}}
    value = {"type": "json", "schema": {}}
    assert "fields" in refusal(tmp_path, schema, value, "3.1.0")
    assert refusal(tmp_path, schema, {**value, "more": 1}, "3.1.0") == ""


def test_a_mapping_to_a_branch_that_refuses_the_value_does_not_choose(tmp_path: Path) -> None:
    closed = {"type": "object", "properties": {"type": {"const": "a"}}}
    other = {"type": "object", "properties": {"type": {"const": "b"}}}
    schema = {
        "oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("One", "Two")],
        "discriminator": {"propertyName": "type", "mapping": {"a": "Two", "b": "One"}},
    }
    assert refusal(tmp_path, schema, {"type": "a"}, "3.1.0", One=closed, Two=other) == ""


def test_it_chooses_within_lists_and_references(tmp_path: Path) -> None:
    item = {"oneOf": BRANCHES, "discriminator": {"propertyName": "type", "mapping": MAPPING}}
    schema = {"type": "array", "items": {"$ref": "#/components/schemas/Item"}}
    message = refusal(tmp_path, schema, [{"type": "json"}], "3.0.3", Item=item)
    assert message == "Missing required parameter: '[0].schema'."


OTHER = {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}


@each(
    ("value", "message"),
    [
        ({"id": 1}, ""),
        ({"type": "new", "id": 1}, ""),
        ({"type": 5, "id": 1}, ""),
        ({"type": "json", "schema": {}}, ""),
        ({"type": "json"}, "Missing required parameter: 'schema'."),
        ({"type": "new", "schema": {}}, "Missing required parameter: 'id'."),
        ({"schema": {}}, "Missing required parameter: 'id'."),
        ({}, "Missing required parameter: 'id'."),
    ],
)
@each("default", ["Other", "#/components/schemas/Other"])
@each("mapping", [None, MAPPING | {"text": "#/components/schemas/Text"}])
@each("keyword", ["oneOf", "anyOf"])
def test_the_default_judges_what_names_no_branch(
    tmp_path: Path, keyword: str, mapping: Any, default: str, value: Any, message: str
) -> None:
    discriminator = {"propertyName": "type", "defaultMapping": default}
    if mapping:
        discriminator["mapping"] = mapping
    else:
        value = {**value, "type": "Json"} if value.get("type") == "json" else value
    branches = [*BRANCHES, {"$ref": "#/components/schemas/Other"}]
    json_schema = {**JSON, "properties": {"schema": {"type": "object"}}}
    schema = {keyword: branches, "discriminator": discriminator}
    schemas = {"Other": OTHER, "Json": json_schema}
    assert refusal(tmp_path, schema, value, "3.2.0", **schemas) == message


@each("target", ["Nowhere", "#/components/schemas/Nowhere", "Elsewhere", 5])
def test_a_default_that_is_no_branch_chooses_nothing(tmp_path: Path, target: Any) -> None:
    discriminator = {"propertyName": "type", "mapping": MAPPING, "defaultMapping": target}
    schema = {"anyOf": BRANCHES, "discriminator": discriminator}
    value = {"schema": {"n": 1}}
    assert refusal(tmp_path, schema, value, "3.2.0", Elsewhere={"type": "string"}) == ""
