"""OpenAPI's own words in schemas, and schemas across files."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from engine.source.problem import Findings
from engine.spec.document.node import Library
from engine.spec.load import load
from engine.spec.schemas.compiled_schemas import SchemaParts, Schemas
from engine.spec.schemas.json_schema_files import CHECKED_FORMATS, Purpose, json_schema_files
from tests.support.documents import HERE, document, library, validator
from tests.support.each import each

A, B = "#/components/schemas/A", "#/components/schemas/B"


def files(root: Any, **more: Any) -> Library:
    """A document with the schema `Root`, others beside it, and in `x-more` what is in none."""
    schemas = {"Root": root, **{name: more.pop(name) for name in [*more] if name != "extra"}}
    return library(document(components={"schemas": schemas}, **{"x-more": more.get("extra")}))


def paths(root: Any, **more: Any) -> list[str]:
    """The paths of the parts that `Root` refers to."""
    of = files(root, **more)
    parts = SchemaParts(json_schema_files(of, Purpose.REQUEST))
    _, found = parts.of(HERE.as_uri(), ("components", "schemas", "Root"))
    return sorted("/".join(map(str, part.path)) for part in found)


def accepts(value: Any, root: Any, **more: Any) -> bool:
    """Whether `Root` accepts a value."""
    of = files(root, **more)
    node = of.document.get("components").get("schemas").step("Root")
    return Schemas(of).validator(node).is_valid(value)


def test_a_schema_without_references_needs_no_part() -> None:
    assert paths({"type": "string"}, A={}) == []


def test_all_that_is_referred_to_is_a_part() -> None:
    root = {"properties": {"a": {"$ref": A}}}
    schemas = {"A": {"items": {"$ref": B}}, "B": {"minimum": 1}, "C": {"maximum": 1}}
    assert paths(root, **schemas) == ["components/schemas/A", "components/schemas/B"]
    assert accepts({"a": [1]}, root, **schemas)
    assert not accepts({"a": [0]}, root, **schemas)


def test_a_schema_may_refer_to_itself() -> None:
    tree = {"type": "object", "additionalProperties": {"$ref": A}}
    assert paths({"$ref": A}, A=tree) == ["components/schemas/A"]
    assert accepts({"x": {"y": {}}}, {"$ref": A}, A=tree)
    assert not accepts({"x": {"y": 1}}, {"$ref": A}, A=tree)


def test_a_reference_may_lead_into_another_part() -> None:
    root = {"allOf": [{"$ref": f"{A}/properties/x"}, {"$ref": A}]}
    schema = {"properties": {"x": {"minProperties": 1}}}
    assert not accepts({}, root, A=schema)
    assert not accepts({"x": {}}, root, A=schema)
    assert accepts({"x": {"y": 1}}, root, A=schema)


def test_references_may_lead_to_a_part_and_through_a_list_of_it() -> None:
    root = {"allOf": [{"$ref": A}, {"$ref": f"{A}/anyOf/1"}]}
    schema = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert accepts(1, root, A=schema)
    assert not accepts("x", root, A=schema)


def test_a_reference_may_lead_through_a_list() -> None:
    root = {"$ref": f"{A}/anyOf/1"}
    schema = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert accepts(1, root, A=schema)
    assert not accepts("x", root, A=schema)


@each("key", ["a/b", "a~b", "{id}", "a b", "é", "%41", "a#b", "a?b"])
def test_a_reference_may_lead_to_any_key(key: str) -> None:
    root = {"$ref": "#/components/schemas/" + quote(key.replace("~", "~0").replace("/", "~1"))}
    assert accepts("x", root, **{key: {"type": "string"}})
    assert not accepts(1, root, **{key: {"type": "string"}})


@each("reference", ["#/nothing/here", "%00", "file://x", "https://example.com/%00#/a"])
def test_a_reference_in_an_example_without_a_target_does_no_harm(reference: str) -> None:
    assert accepts(1, {"type": "integer", "default": {"$ref": reference}})


def test_a_reference_may_lead_to_the_complete_file() -> None:
    root = {"properties": {"x": {"$ref": "#/x-more"}, "y": {"$ref": "#"}}}
    assert "" in paths(root, extra={"type": "string"})
    assert accepts({"x": "a", "y": 1}, root, extra={"type": "string"})
    assert not accepts({"x": 1}, root, extra={"type": "string"})


V30, V31 = "3.0.3", "3.1.0"
BOTH = each("version", [V30, V31])
BAD = {
    "byte": "YQ",
    "date": "2023-02-30",
    "date-time": "2023-02-28",
    "uuid": "123e4567",
    "email": "nobody",
    "ipv4": "1.2.3.400",
    "ipv6": "::g",
}
GOOD = {
    "byte": "YQ==",
    "date": "2024-02-29",
    "date-time": "2024-02-29T12:00:00Z",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "email": "a@example.com",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
}


def valid(schema: Any, value: Any, version: str = V31, **components: Any) -> bool:
    return bool(validator(schema, version=version, **components).is_valid(value))


# Formats.


@BOTH
@each("name", sorted(CHECKED_FORMATS))
def test_a_checked_format_is_enforced(version: str, name: str) -> None:
    schema = {"type": "string", "format": name}
    assert valid(schema, GOOD[name], version)
    assert valid(schema, BAD[name], version) is (name == "byte" and version == V31)


@BOTH
def test_a_date_with_a_time_needs_no_offset(version: str) -> None:
    assert valid({"format": "date-time"}, "2024-02-29 12:00:00", version)


@BOTH
@each("name", ["binary", "password", "unixtime", "decimal", "float", "uri", ""])
def test_an_unknown_format_passes(version: str, name: str) -> None:
    assert valid({"format": name}, "((", version)
    assert valid({"format": name}, 5.5, version)


@BOTH
@each(("name", "low", "high"), [("int32", -(2**31), 2**31 - 1), ("int64", -(2**63), 2**63 - 1)])
def test_a_number_format_is_a_bound(version: str, name: str, low: int, high: int) -> None:
    schema = {"type": "integer", "format": name}
    assert valid(schema, low, version)
    assert valid(schema, high, version)
    assert not valid(schema, low - 1, version)
    assert not valid(schema, high + 1, version)


def test_a_number_format_leaves_narrower_bounds_alone() -> None:
    schema = {"type": "integer", "format": "int32", "minimum": 1, "maximum": 5}
    assert [valid(schema, n) for n in (0, 1, 5, 6)] == [False, True, True, False]


def test_a_number_in_text_has_no_bounds() -> None:
    assert valid({"type": "string", "format": "int64"}, "99999999999999999999")


# 3.0's nullable.


@each(
    ("schema", "passes"),
    [
        ({"type": "string", "nullable": True}, True),
        ({"type": "string", "nullable": False}, False),
        ({"type": "string"}, False),
        ({"nullable": True, "enum": ["a"]}, False),
        ({"type": "string", "nullable": True, "enum": ["a", None]}, True),
        ({"type": "string", "nullable": True, "enum": ["a"]}, False),
        ({"nullable": True, "allOf": [{"type": "string"}]}, False),
        ({"anyOf": [{"type": "string", "nullable": True}, {"type": "integer"}]}, True),
        ({"$ref": "#/components/schemas/Maybe"}, True),
        ({"type": "string", "nullable": True, "minLength": 2}, True),
    ],
)
def test_null_in_30(schema: Any, passes: bool) -> None:
    maybe = {"type": "object", "nullable": True}
    assert valid(schema, None, V30, Maybe=maybe) is passes


def test_nullable_at_any_depth() -> None:
    schema = {"properties": {"a": {"items": {"type": "integer", "nullable": True}}}}
    assert valid(schema, {"a": [1, None]}, V30)
    assert not valid(schema, {"a": ["x"]}, V30)


def test_a_property_called_nullable_is_a_property() -> None:
    schema = {"type": "object", "properties": {"nullable": {"type": "boolean"}}}
    assert not valid(schema, {"nullable": "x"}, V30)


# readOnly and writeOnly.

ACCOUNT = {
    "type": "object",
    "required": ["id", "name", "secret"],
    "properties": {
        "id": {"type": "string", "readOnly": True},
        "name": {"type": "string"},
        "secret": {"type": "string", "writeOnly": True},
    },
}


@BOTH
def test_a_read_only_property_is_not_required(version: str) -> None:
    assert valid(ACCOUNT, {"name": "n", "secret": "s"}, version)
    assert not valid(ACCOUNT, {"name": "n"}, version)
    assert not valid(ACCOUNT, {"secret": "s"}, version)


@BOTH
def test_a_read_only_property_may_be_sent(version: str) -> None:
    body = {"id": "i", "name": "n", "secret": "s"}
    assert valid(ACCOUNT, body, version)
    assert not valid(ACCOUNT, {**body, "id": 5}, version)


@BOTH
def test_a_property_that_is_read_only_by_reference_is_not_required(version: str) -> None:
    schema = {
        "required": ["id"],
        "properties": {"id": {"$ref": "#/components/schemas/Link"}},
    }
    link = {"$ref": "#/components/schemas/Id"}
    read_only = {"type": "string", "readOnly": True}
    assert valid(schema, {}, version, Link=link, Id=read_only)
    assert valid(schema, {"id": "x"}, version, Link=link, Id=read_only)
    assert not valid(schema, {"id": 5}, version, Link=link, Id=read_only)


def test_read_only_beside_a_reference_counts_in_31() -> None:
    reference = {"$ref": "#/components/schemas/Id", "readOnly": True}
    schema = {"required": ["id"], "properties": {"id": reference}}
    assert valid(schema, {}, V31, Id={"type": "string"})
    assert not valid(schema, {}, V30, Id={"type": "string"})


def test_a_read_only_property_of_a_required_list_elsewhere_stays() -> None:
    schema = {"allOf": [{"properties": {"id": {"readOnly": True}}}, {"required": ["id"]}]}
    assert not valid(schema, {}, V31)


# Literal values are no schemas.


@BOTH
@each(
    "literal",
    [
        {"format": "custom"},
        {"type": "string", "nullable": True},
        {"type": "integer", "format": "int32"},
        {"properties": {"a": {"readOnly": True}}, "required": ["a"]},
        [{"format": "custom"}],
    ],
)
def test_a_literal_value_is_taken_as_it_is(version: str, literal: Any) -> None:
    assert valid({"enum": [literal]}, literal, version)


# Recursion.

TREE = {
    "type": "object",
    "required": ["value"],
    "properties": {
        "value": {"type": "integer"},
        "children": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
    },
}


@BOTH
def test_a_schema_may_contain_itself(version: str) -> None:
    schema = {"$ref": "#/components/schemas/Tree"}
    right = {"value": 1, "children": [{"value": 2, "children": [{"value": 3}]}]}
    wrong = {"value": 1, "children": [{"value": 2, "children": [{"value": "x"}]}]}
    assert valid(schema, right, version, Tree=TREE)
    assert not valid(schema, wrong, version, Tree=TREE)


def test_two_schemas_may_contain_each_other() -> None:
    ref = "#/components/schemas/"
    a = {"properties": {"b": {"$ref": ref + "B"}}, "type": "object"}
    b = {"properties": {"a": {"$ref": ref + "A"}}, "type": "object"}
    assert valid({"$ref": ref + "A"}, {"b": {"a": {"b": {}}}}, A=a, B=b)
    assert not valid({"$ref": ref + "A"}, {"b": {"a": {"b": 5}}}, A=a, B=b)


def test_a_very_deep_value_is_judged() -> None:
    value: Any = {"value": "wrong"}
    for _ in range(200):
        value = {"value": 1, "children": [value]}
    assert not valid({"$ref": "#/components/schemas/Tree"}, value, Tree=TREE)


# Across files.


def compiled(folder: Path, version: str, api: str, **files: str) -> Any:
    """The validator of the schema `a` of a document with these files beside it."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "api.yaml").write_text(f"openapi: {version}\n{api}")
    findings = Findings()
    documents = load(folder / "api.yaml", "api.yaml", findings)
    assert findings.problems == []
    assert documents is not None
    return Schemas(documents).validator(documents.document.get("a"))


@BOTH
def test_a_schema_may_stand_in_another_file(tmp_path: Path, version: str) -> None:
    documents = compiled(
        tmp_path,
        version,
        "a: {properties: {x: {$ref: 'parts/one.yaml#/X'}}}\n",
        parts__one="X: {type: array, items: {$ref: '#/Y'}}\nY: {$ref: '../two.yaml'}\n",
        two="type: integer\nminimum: 3\n",
    )
    assert documents.is_valid({"x": [3]})
    assert not documents.is_valid({"x": [2]})
    assert not documents.is_valid({"x": ["3"]})


@BOTH
def test_openapi_keywords_apply_in_every_file(tmp_path: Path, version: str) -> None:
    nullable = "nullable: true" if version == V30 else "minLength: 0"
    documents = compiled(
        tmp_path,
        version,
        "a: {$ref: 'one.yaml#/A'}\n",
        one=f"A: {{required: [id, n], properties: {{id: {{$ref: 'two.yaml#/Id'}}, "
        f"n: {{type: string, {nullable}}}}}}}\n",
        two="Id: {type: string, readOnly: true}\n",
    )
    assert documents.is_valid({"n": "x"})
    assert documents.is_valid({"n": None}) is (version == V30)
    assert not documents.is_valid({})


@BOTH
def test_a_property_may_be_read_only_by_another_file(tmp_path: Path, version: str) -> None:
    documents = compiled(
        tmp_path,
        version,
        "a: {$ref: '#/components/schemas/A'}\n"
        "components: {schemas: {A: {required: [id], properties: {id: {$ref: 'one.yaml#/Id'}}}}}\n",
        one="Id: {type: string, readOnly: true}\n",
    )
    assert documents.is_valid({})


def test_a_folder_of_any_name_holds_schemas(tmp_path: Path) -> None:
    folder = tmp_path / "Ünder %20 #1 {x}"
    folder.mkdir()
    documents = compiled(
        folder, V31, "a: {$ref: 'one.yaml#/A'}\n", one="A: {$ref: '#/B'}\nB: {type: string}\n"
    )
    assert documents.is_valid("x")
    assert not documents.is_valid(5)


@each("key", ["a/b", "a~b", "{id}", "a b", "é", "%41", "200", "a#b", "a?b"])
def test_a_schema_may_stand_under_any_key(key: str) -> None:
    documents = library(document(components={"schemas": {key: {"type": "string"}}}))
    node = documents.document.get("components").get("schemas").step(key)
    compiled = Schemas(documents).validator(node)
    assert compiled.is_valid("x")
    assert not compiled.is_valid(5)


@BOTH
@each("schema", [{"type": "strin"}, {"minimum": "x"}, {"required": "a"}, {"pattern": "("}])
def test_a_keyword_that_cannot_be_compiled_is_left_out_for_a_reason_of_one_line(
    version: str, schema: Any
) -> None:
    described = {"items": {"maxLength": 2, **schema}}
    files = library(document(version=version, components={"schemas": {"A": described}}))
    schemas = Schemas(files)
    compiled = schemas.validator(files.document.get("components").get("schemas").step("A"))
    (left_out,) = schemas.left_out
    assert left_out.path == ("components", "schemas", "A", "items", next(iter(schema)))
    assert "\n" not in left_out.reason
    assert compiled.is_valid(["ab"])
    assert not compiled.is_valid(["abc"])


def test_a_boolean_schema_is_compiled() -> None:
    assert valid(True, 5)
    assert not valid(False, 5)


def test_the_reference_of_a_schema_is_followed() -> None:
    documents = library(
        document(
            components={"schemas": {"A": {"$ref": "#/components/schemas/B"}, "B": {"type": "x"}}}
        )
    )
    follow = documents.document.follow
    assert follow({"$ref": "#/components/schemas/A"}) == {"type": "x"}
    assert follow({"type": "y"}) == {"type": "y"}
    assert follow(True) is True


@each(
    "schema,copied",
    [
        ({"type": "string"}, False),
        ({"format": "uuid"}, True),
        ({"properties": {"a": {"readOnly": True}}}, True),
        ({"nullable": True}, True),
        ({"minimum": 10**30}, True),
    ],
)
def test_only_parts_with_keywords_of_openapi_are_copied(schema: Any, copied: bool) -> None:
    files = library(document(components={"schemas": {"A": {"items": schema}}}))
    (plain,) = json_schema_files(files, Purpose.REQUEST).values()
    part = plain.at(("components", "schemas", "A"))
    assert (part is not files.document.value["components"]["schemas"]["A"]) is copied
