"""Validators that are compiled when they are used, and shared by equal schemas."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import jsonschema_rs
import pytest

from engine.spec.schemas import schema_validator
from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.schemas.refusal_messages import explain
from engine.spec.schemas.schema_cost import TOO_EXPENSIVE, SchemaCost
from engine.spec.schemas.schema_validator import (
    EXPENSIVE,
    SchemaPart,
    SchemaValidator,
    compile_on_use,
    validator_of,
)
from engine.values.errors import GatewayError
from tests.support.documents import document, library, shipped, validator
from tests.support.each import each

URI = "file:///a.json"


def validators(*schemas: Any, **components: Any) -> list[SchemaValidator]:
    """The validators of schemas of one document, with others beside them under components."""
    named = {f"Root{number}": schema for number, schema in enumerate(schemas)}
    files = library(document(components={"schemas": named | components}))
    compiled, holder = Schemas(files), files.document.get("components").get("schemas")
    return [compiled.validator(holder.step(name)) for name in named]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[SchemaValidator]:
    """The validators that are compiled from now on; only the last two stay compiled."""
    calls: list[SchemaValidator] = []
    compile_ = SchemaValidator.compile

    def compile_and_note(self: SchemaValidator) -> Any:
        calls.append(self)
        return compile_(self)

    monkeypatch.setattr(SchemaValidator, "compile", compile_and_note)
    monkeypatch.setattr(schema_validator, "MAX_COMPILED", 2)
    return calls


def test_equal_schemas_share_a_validator() -> None:
    a, b, c = validators({"minimum": 1}, {"minimum": 1}, {"minimum": 2})
    assert a is b
    assert a is not c
    assert validators({"minimum": 1})[0] is a  # of another document


def test_equal_schemas_that_refer_to_equal_parts_share_a_validator() -> None:
    reference = {"items": {"$ref": "#/components/schemas/A"}}
    a, b = validators(reference, reference, A={"type": "string"})
    assert a is b
    assert a.is_valid(["x"])
    assert not a.is_valid([1])


def test_equal_references_to_other_schemas_share_no_validator() -> None:
    reference = {"$ref": "#/components/schemas/A", "minLength": 2}
    (strings,), (integers,) = (validators(reference, A={"type": t}) for t in ("string", "integer"))
    assert strings.is_valid("xx")
    assert not strings.is_valid(1)
    assert integers.is_valid(1)
    assert not integers.is_valid("xx")


@each("key", ["x-modelway-root", "x-modelway-root-"])
def test_the_place_of_a_schema_is_no_key_of_its_file(key: str) -> None:
    own = {"x-modelway-root": {"type": "string"}, "x-modelway-root-": {"type": "string"}}
    root = {"properties": {"a": {"$ref": f"#/{key}"}, "b": {"$ref": "#"}}}
    files = library(document(components={"schemas": {"Root": root}}, **own))
    holder = files.document.get("components").get("schemas")
    validator = Schemas(files).validator(holder.step("Root"))
    assert validator.is_valid({"a": "x"})
    assert not validator.is_valid({"a": {}})


def test_versions_share_no_validator() -> None:
    assert validator_of(True, URI, "{}", ()) is not validator_of(False, URI, "{}", ())


def test_a_schema_is_proven_once(compiled: list[SchemaValidator]) -> None:
    first, second = validators({"multipleOf": 5}, {"multipleOf": 5})
    first.prove()
    second.prove()
    assert compiled == [first]


@each(
    "text, is_sound",
    [
        ('{"items":{"$ref":"#/A"},"pattern":"a"}', True),
        ('{"items":{"$ref":"#/A"},"pattern":"("}', False),
        ('{"items":{"$ref":"#/A/properties/b"}}', False),
        ('{"items":{"$ref":"#/B"}}', False),
        ('{"properties":{"$ref":{"type":"string"}},"not":{"$ref":"#/A"}}', True),
    ],
)
def test_a_schema_is_sound_if_it_and_its_parts_are(text: str, is_sound: bool) -> None:
    part = SchemaPart(URI, ("A",), '{"type":"string"}')
    validator = validator_of(False, URI, text, (part,))
    assert validator.is_sound_beside({part}) is is_sound
    assert not validator.is_sound_beside({part._replace(text="{}")})


def test_a_validator_is_used_without_compiling_it_again(compiled: list[SchemaValidator]) -> None:
    (validator,) = validators({"multipleOf": 7})
    assert validator.is_valid(14)
    assert [*validator.iter_errors(15)]
    assert compiled == [validator]


def test_of_many_validators_the_last_ones_stay_compiled(compiled: list[SchemaValidator]) -> None:
    first, second, third = validators(*({"multipleOf": n} for n in (11, 13, 17)))
    assert second.is_valid(26)
    assert third.is_valid(34)
    assert compiled == [first, second, third]


def test_a_validator_that_did_not_stay_compiled_is_compiled_again(
    compiled: list[SchemaValidator],
) -> None:
    first, second, third = validators(*({"multipleOf": n} for n in (19, 23, 29)))
    assert first.is_valid(38)
    assert not first.is_valid(39)
    assert [error.kind.name for error in first.iter_errors(39)] == ["multipleOf"]
    assert compiled == [first, second, third, first]


def test_large_validators_free_others_by_their_size(
    compiled: list[SchemaValidator], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_validator, "MAX_COMPILED", 1_000)
    monkeypatch.setattr(schema_validator, "MAX_COMPILED_SIZE", 300)
    first, second, third = validators(*({"enum": [f"{n}" * 120]} for n in (1, 2, 3)))
    assert compiled == [first, second, third]
    assert all(validator.is_valid("x") is False for validator in (second, third, first))
    assert compiled == [first, second, third, first]
    huge = validators({"enum": ["x" * 400]})[0]
    assert huge.is_valid("x" * 400)
    assert compiled[-1] is huge  # one that is larger than all is kept alone


@pytest.mark.parametrize(("most", "number"), [(2, 2), (1_000_000, 3)])
def test_a_schema_known_to_be_valid_is_compiled_while_there_is_room(
    compiled: list[SchemaValidator], monkeypatch: pytest.MonkeyPatch, most: int, number: int
) -> None:
    others = validators({"multipleOf": 31, "minimum": most}, {"multipleOf": 37, "minimum": most})
    assert compiled == others
    monkeypatch.setattr(schema_validator, "MAX_COMPILED", most)
    validator = validator_of(False, URI, f'{{"multipleOf":41,"minimum":{most}}}', ())
    validator.prove(known=True)
    assert len(compiled) == number
    assert not validator.is_valid(1)
    assert compiled == [*others, validator]


def levels(number: int) -> dict[str, Any]:
    """Schemas of which each refers to the next one twice."""
    above = {
        f"S{n}": {"anyOf": [{"$ref": f"#/components/schemas/S{n + 1}"}] * 2} for n in range(number)
    }
    return {**above, f"S{number}": {"type": "object", "required": ["a"]}}


@each("version", ["3.0.3", "3.1.0"])
def test_a_value_whose_validation_would_take_too_long_is_refused(version: str) -> None:
    root = {"$ref": "#/components/schemas/S0"}
    expensive = validator(root, version=version, **levels(60))
    with pytest.raises(GatewayError) as refused:
        expensive.is_valid({})
    assert (refused.value.status, refused.value.code) == (400, TOO_EXPENSIVE)
    assert "'#/components/schemas/S" in refused.value.message


def test_an_expensive_schema_serves_values_that_do_not_reach_it() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/components/schemas/S0"}}}
    expensive = validator(schema, **levels(60))
    assert expensive.is_valid({})
    assert not expensive.is_valid([])
    assert explain(expensive, []).code == "invalid_type"


def test_errors_that_double_with_every_level_of_a_value_are_not_listed() -> None:
    node = {
        "oneOf": [{"type": "object", "required": ["a", x], "properties": {"a": NODE}} for x in "xy"]
    }
    recursive = validator(NODE, Node={"oneOf": [{"type": "string"}, *node["oneOf"]]})
    value: Any = 1
    for _ in range(40):
        value = {"a": value, "x": 1}
    assert not recursive.is_valid(value)
    refusal = explain(recursive, value)
    assert refusal.code == "invalid_value"
    assert "too many alternatives" in refusal.message
    shallow = explain(recursive, {"a": {"a": 1, "x": 1}, "x": 1})
    assert "alternatives" not in shallow.message


NODE = {"$ref": "#/components/schemas/Node"}


@each("depth", [250, 260, 600, 1000])
def test_a_refusal_of_a_deep_value_is_explained(depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    assert explain(validator({"type": "string"}), value).message


@each("name", ["anthropic", "gemini", "openai", "rerank"])
def test_no_schema_of_the_shipped_documents_is_expensive(name: str) -> None:
    specification, problems = shipped(name)
    assert "MW216" not in {problem.code for problem in problems}
    for operation in specification.operations.values():
        for rule in operation.bodies.rules.values():
            if rule.validator is not None:
                assert rule.validator.cost.most < EXPENSIVE / 5
                assert isinstance(rule.validator.compile(), jsonschema_rs.Validator)


def test_what_is_known_to_be_sound_can_be_compiled_when_it_is_used(
    compiled: list[SchemaValidator], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_validator, "MAX_COMPILED", 1_000)
    of_use, at_once = (validator_of(False, URI, f'{{"minimum": {n}}}', ()) for n in (71, 72))
    unknown = validator_of(False, URI, '{"minimum": 73}', ())
    with compile_on_use():
        of_use.prove(known=True)
        unknown.prove()
    at_once.prove(known=True)
    assert compiled == [unknown, at_once]
    assert of_use.is_valid(71)
    assert not of_use.is_valid(70)
    assert compiled == [unknown, at_once, of_use]


def test_a_cost_that_is_freed_while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another greenlet compiles schemas, between any two lines of this one."""
    monkeypatch.setattr(schema_validator, "MAX_COMPILED", 1)
    of_string, other = validators({"type": "string"}, {"type": "integer"})

    def free(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_name != "cost":
            return None
        of_string.compile()
        other.compile()
        return free

    before = sys.gettrace()
    sys.settrace(free)
    try:
        cost = of_string.cost
    finally:
        sys.settrace(before)
    assert isinstance(cost, SchemaCost)
