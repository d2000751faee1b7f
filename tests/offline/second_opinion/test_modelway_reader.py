"""Modelway's verdicts on bodies, parameters and responses, and the keywords they rest on."""

import json

import pytest

from engine.offline.second_opinion.modelway_reader import read_body, read_parameter, read_response
from engine.offline.second_opinion.verdict import Verdict
from engine.spec.parameters.query_string import Query
from tests.support.schema_reading import JSON, ReadOperation


def body_verdict(read, value):
    return read_body(read.operation, read.body_schema, JSON, json.dumps(value).encode())


def test_a_body_that_fits_is_accepted(tmp_path):
    assert body_verdict(ReadOperation(tmp_path), {"id": 1}) == Verdict()


def test_no_body_is_accepted_where_none_is_required(tmp_path):
    read = ReadOperation(tmp_path)
    assert read_body(read.operation, read.body_schema, JSON, b"") == Verdict()


def test_a_refusal_of_a_body_has_its_keyword(tmp_path):
    verdict = body_verdict(ReadOperation(tmp_path), {})
    assert "id" in verdict.refusal
    assert verdict.keywords == {"required"}


def test_a_body_that_cannot_be_parsed_is_refused_without_a_keyword(tmp_path):
    read = ReadOperation(tmp_path)
    verdict = read_body(read.operation, read.body_schema, JSON, b"{")
    assert (verdict.refusal != "", verdict.keywords) == (True, frozenset())


@pytest.mark.parametrize(
    ("schema", "value", "keywords"),
    [
        ({"anyOf": [{"type": "string"}, {"minimum": 3}]}, 1, {"anyOf", "type", "minimum"}),
        ({"type": "integer", "format": "int32"}, 2**31, {"maximum", "format"}),
        ({"type": "integer", "maximum": 5}, 6, {"maximum"}),
    ],
)
def test_keywords_are_those_of_alternatives_and_formats_too(tmp_path, schema, value, keywords):
    assert body_verdict(ReadOperation(tmp_path, schema), value).keywords == keywords


def test_a_union_with_a_discriminator_is_named(tmp_path):
    schema = {
        "oneOf": [{"$ref": "#/components/schemas/Cat"}],
        "discriminator": {"propertyName": "k"},
    }
    cat = {"type": "object", "properties": {"k": {"const": "cat"}}, "required": ["k"]}
    verdict = body_verdict(ReadOperation(tmp_path, schema, Cat=cat), {"k": "dog"})
    assert "discriminator" in verdict.keywords


@pytest.mark.parametrize(
    ("query", "keywords"), [("n=1", None), ("n=9", {"maximum"}), ("n=x", {"type"})]
)
def test_a_parameter_is_accepted_or_refused_with_its_keyword(tmp_path, query, keywords):
    read = ReadOperation(tmp_path, parameter={"type": "integer", "maximum": 5})
    (parameter,) = read.operation.parameters
    verdict = read_parameter(parameter, read.parameter_schema, Query.parse(query))
    assert (verdict.keywords or None) == keywords


@pytest.mark.parametrize(("value", "keywords"), [({"id": 1}, None), ({"id": "x"}, {"type"})])
def test_a_response_is_accepted_or_refused_with_its_keyword(tmp_path, value, keywords):
    read = ReadOperation(tmp_path)
    answers = read.specification.response_validators(read.operation)
    verdict = read_response(answers, read.body_schema, 200, value)
    assert (verdict.keywords or None) == keywords
