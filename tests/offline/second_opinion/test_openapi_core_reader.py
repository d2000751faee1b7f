"""openapi-core's verdicts on bodies, parameters and responses, and the keywords they rest on."""

import json

import pytest

from engine.offline.second_opinion.openapi_core_reader import OpenapiCoreReader
from engine.offline.second_opinion.time_budget import TimeBudget
from engine.offline.second_opinion.verdict import NotComparable, Verdict
from tests.support.schema_reading import JSON, ReadOperation

LETTERS = {"type": "string", "pattern": r"^\p{L}+$"}
"""A pattern of ECMA 262 that Python cannot compile."""


def reader_of(read):
    return OpenapiCoreReader(read.specification.library, TimeBudget(60))


def body_verdict(read, value):
    return reader_of(read).body(read.operation, JSON, json.dumps(value).encode())


def parameter_verdicts(read, *query):
    return reader_of(read).parameters(read.operation, path={}, query=query, headers=[], cookies=[])


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_a_body_that_fits_is_accepted(tmp_path, version):
    assert body_verdict(ReadOperation(tmp_path, version=version), {"id": 1}) == Verdict()


def test_a_refusal_of_a_body_has_its_place_and_keyword(tmp_path):
    verdict = body_verdict(ReadOperation(tmp_path), {"id": "x"})
    assert verdict == Verdict("id: 'x' is not of type 'integer'", frozenset({"type"}))


def test_keywords_are_those_of_alternatives_too(tmp_path):
    schema = {"anyOf": [{"type": "string"}, {"minimum": 3}]}
    assert body_verdict(ReadOperation(tmp_path, schema), 1).keywords == {"anyOf", "type", "minimum"}


def test_a_union_with_a_discriminator_is_named(tmp_path):
    schema = {
        "oneOf": [{"$ref": "#/components/schemas/Cat"}],
        "discriminator": {"propertyName": "k"},
    }
    cat = {"type": "object", "properties": {"k": {"const": "cat"}}, "required": ["k"]}
    assert "discriminator" in body_verdict(ReadOperation(tmp_path, schema, Cat=cat), {}).keywords


def test_a_missing_property_that_is_read_only_is_named(tmp_path):
    schema = {"properties": {"id": {"readOnly": True}}, "required": ["id"], "type": "object"}
    assert body_verdict(ReadOperation(tmp_path, schema), {}).keywords == {"required", "readOnly"}


def test_only_parameters_that_are_refused_have_a_verdict(tmp_path):
    read = ReadOperation(tmp_path, parameter={"type": "integer", "maximum": 5})
    assert parameter_verdicts(read, ("n", "1")) == {}
    assert parameter_verdicts(read, ("n", "9"))["query", "n"].keywords == {"maximum"}


def test_an_empty_query_value_is_not_compared(tmp_path):
    read = ReadOperation(tmp_path, parameter={"type": "string"})
    assert parameter_verdicts(read, ("n", "")) == {("query", "n"): None}


@pytest.mark.parametrize(("value", "keywords"), [({"id": 1}, None), ({}, {"required"})])
def test_a_response_is_accepted_or_refused_with_its_keyword(tmp_path, value, keywords):
    read = ReadOperation(tmp_path)
    verdict = reader_of(read).response(read.operation, 200, JSON, json.dumps(value).encode())
    assert (verdict.keywords or None) == keywords


def test_a_failure_of_openapi_core_is_not_a_verdict(tmp_path):
    with pytest.raises(NotComparable):
        body_verdict(ReadOperation(tmp_path, LETTERS), "a")
