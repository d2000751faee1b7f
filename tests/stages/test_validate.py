"""The check of a request against the document: its parameters, then its body."""

import pytest

from engine.spec.expression import parse
from engine.spec.model_places import ModelPlaces
from engine.stages.validate import checks_of, validate_body, validate_parameters
from tests.support import documents
from tests.support.checking import checked
from tests.support.item_requests import exchange, refusal, run


def test_a_valid_request_passes_with_its_body_parsed(operations):
    request = run(operations["make"], exchange(query="page=2", HTTP_X_N="5", HTTP_COOKIE="c=1"))
    assert (request.value, request.media_type) == ({"name": "a"}, "application/json")
    assert request.body.in_memory == b'{"name": "a"}'


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"path": "/items/x"}, "id"),
        ({"query": "page=x"}, "page"),
        ({"HTTP_X_N": "x"}, "x-n"),
        ({"HTTP_COOKIE": "c=x"}, "c"),
        ({"body": b'{"name": 7}'}, "name"),
        ({"body": b"{}"}, "name"),
    ],
)
def test_a_refusal_names_the_place_of_the_mistake(operations, more, param):
    error = refusal(operations["make"], exchange(**more))
    assert (error.status, error.param) == (400, param)


def test_parameters_are_checked_before_the_body_is_read(operations):
    request = exchange(path="/items/x")
    request.receive = lambda limit: pytest.fail("the body was read")
    assert refusal(operations["make"], request).param == "id"


@pytest.mark.parametrize(
    "more",
    [{"path": "/items/x"}, {"query": "page=x"}, {"body": b'{"name": 7}'}, {"body": b""}],
)
def test_without_validation_invalid_requests_pass(operations, more):
    run(operations["make"], exchange(**more), "off")


def test_there_is_a_stage_only_for_what_can_be_checked(operations):
    make, show = operations["make"], operations["show"]
    stages = [
        [len(validate_parameters(checks)), len(validate_body(checks))]
        for checks in (
            checks_of(make, "strict"),
            checks_of(make, "off"),
            checks_of(make, "off", needs_body=True),
            checks_of(make, "off", unknown="reject"),
            checks_of(show, "strict"),
        )
    ]
    assert stages == [[1, 1], [0, 0], [0, 0], [0, 1], [0, 0]]


def test_the_model_is_found_again_where_members_before_it_were_dropped(tmp_path):
    schema = {"type": "object", "properties": {"model": {"type": "string"}}}
    body = {"content": {"application/json": {"schema": schema}}}
    paths = {"/x": {"post": {"operationId": "x", "requestBody": body, "responses": {}}}}
    spec, _ = documents.read(tmp_path, documents.document(paths=paths))
    operation = spec.recompile(spec.operations["x"], lenient=False, with_names=True)
    places = ModelPlaces(parse("$request.body#/model"))
    request = exchange(b'{"z": 1, "model": "m"}')
    request.model_span = (18, 21)
    checked(checks_of(operation, "strict", unknown="drop", places=places), request)
    start, end = request.model_span
    assert request.body.in_memory == b'{"model": "m"}'
    assert request.body.in_memory[start:end] == b'"m"'
