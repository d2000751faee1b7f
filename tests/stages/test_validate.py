"""The check of a request against the document: its parameters, then its body."""

from contextlib import suppress

import gevent
import pytest

from engine.exchange.caller_connection import MIN_COSTLY, WSGIConnection
from engine.process.loop_turn import FEW_BYTES
from engine.process.preemption import Preemption
from engine.spec.bodies.body_parsers import parse_json
from engine.spec.bodies.request_bodies import Bodies, BodyRule
from engine.spec.expression import parse
from engine.spec.model_locations import ModelLocations
from engine.spec.schemas.refusal_messages import explain
from engine.spec.schemas.schema_validator import validator_of
from engine.stages.validate import Checks, checks_of, validate_body, validate_parameters
from engine.values.errors import GatewayError
from tests.support import documents
from tests.support.checking import checked
from tests.support.exchanges import BodySource
from tests.support.item_requests import exchange, refusal, run
from tests.support.preempting import interrupting, until_set


def test_a_valid_request_passes_with_its_body_parsed(operations):
    request = run(operations["make"], exchange(query="page=2", HTTP_X_N="5", HTTP_COOKIE="c=1"))
    assert (request.content.value, request.content.media_type) == (
        {"name": "a"},
        "application/json",
    )
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
    request.body_reader = BodySource(lambda limit: pytest.fail("the body was read"))
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
    locations = ModelLocations(parse("$request.body#/model"))
    request = exchange(b'{"z": 1, "model": "m"}')
    request.model.span = (18, 21)
    checked(checks_of(operation, "strict", unknown="drop", locations=locations), request)
    start, end = request.model.span
    assert request.body.in_memory == b'{"model": "m"}'
    assert request.body.in_memory[start:end] == b'"m"'


READ_ONLY = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "id": {"type": "string", "readOnly": True},
        "list": {"type": "array", "items": {"$ref": "#/components/schemas/Item"}},
    },
}
ITEM = {"allOf": [{"properties": {"id": {"type": "string", "readOnly": True}}}]}
SENT = b'{"id": "x", "list": [{"id": "y", "n": 1}], "m": 2}'


def read_only_operation(folder, version):
    body = {"content": {"application/json": {"schema": READ_ONLY}}}
    value = documents.document(
        version=version,
        paths={"/x": {"post": documents.get(requestBody=body)}},
        components={"schemas": {"Item": ITEM}},
    )
    spec, problems = documents.read(folder, value)
    assert problems == []
    operation = spec.operations["x"]
    return spec.recompile(operation, lenient=False, with_names=False, with_read_only=True)


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0"])
def test_read_only_members_are_accepted_stripped_or_refused(tmp_path, version):
    operation = read_only_operation(tmp_path, version)
    request = exchange(SENT)
    checked(checks_of(operation, "strict"), request)
    assert request.body.in_memory == SENT
    request = exchange(SENT)
    checked(checks_of(operation, "strict", readonly="strip"), request)
    assert request.body.in_memory == b'{"list": [{"n": 1}], "m": 2}'
    assert request.content.value == {"list": [{"n": 1}], "m": 2}
    with pytest.raises(GatewayError) as raised:
        checked(checks_of(operation, "strict", readonly="refuse"), exchange(SENT))
    assert (raised.value.status, raised.value.param) == (400, "id")
    assert "read-only" in raised.value.message
    nested = exchange(b'{"list": [{}, {"id": "y"}]}')
    with pytest.raises(GatewayError) as raised:
        checked(checks_of(operation, "strict", readonly="refuse"), nested)
    assert raised.value.param == "list[1].id"


def test_read_only_members_are_stripped_without_validation(tmp_path):
    request = exchange(SENT)
    checked(checks_of(read_only_operation(tmp_path, "3.1.0"), "off", readonly="strip"), request)
    assert request.body.in_memory == b'{"list": [{"n": 1}], "m": 2}'


class Costs(WSGIConnection):
    """The connection of a worker that learns what bodies cost."""

    def __init__(self):
        super().__init__(None)
        self.noted = []
        self.heavy_calls = self

    def note_cost(self, operation, size, seconds):
        self.noted.append((operation, size, seconds > 0))


@pytest.mark.parametrize("mode", ["strict", "report"])
def test_a_worker_learns_what_it_costs_to_check_a_body(operations, mode):
    size = MIN_COSTLY + 1
    valid, invalid = (b'{"name": %s}'.replace(b"%s", v).ljust(size) for v in (b'"a"', b"7"))
    connection = Costs()
    for body in (valid[:MIN_COSTLY], valid, invalid):
        request = exchange(body)
        request.connection, request.operation = connection, "make"
        with suppress(GatewayError):
            run(operations["make"], request, mode)
    assert connection.noted == [("make", size, True)] * 2


def test_others_go_on_while_a_refusal_is_found_which_is_no_lesson(operations, monkeypatch):
    preemption, others, seconds = Preemption(), gevent.event.Event(), []
    monkeypatch.setattr("engine.stages.validate.PREEMPTION", preemption)

    def explain_slowly(validator, value):
        gevent.spawn(others.set)
        assert until_set(others)
        return explain(validator, value)

    monkeypatch.setattr("engine.stages.validate.explain", explain_slowly)
    request = exchange(b'{"name": 7}'.ljust(FEW_BYTES + 1))
    request.connection = connection = Costs()
    monkeypatch.setattr(connection, "note_cost", lambda *cost: seconds.append(others.is_set()))

    def refuse():
        with pytest.raises(GatewayError, match="name"):
            run(operations["make"], request, "strict")

    with interrupting(preemption):
        gevent.spawn(refuse).get()
    assert (seconds, others.is_set()) == ([False], True)


def test_what_compiling_its_schema_costs_is_no_cost_of_a_body():
    validator = validator_of(False, "", '{"title": "compiled by nothing yet"}', ())
    rule = BodyRule(parse_json, validator)
    checks = Checks((), Bodies(rules={"application/json": rule}), "strict", "pass")
    counts = []
    for _ in range(2):
        request = exchange(b"{}".ljust(MIN_COSTLY + 1))
        request.connection = connection = Costs()
        checked(checks, request)
        counts.append(len(connection.noted))
    assert counts == [0, 1]


def test_a_body_whose_check_would_take_too_long_is_a_lesson():
    item = {"$ref": "#/components/schemas/S0"}
    expensive = documents.validator(
        {"type": "array", "items": item}, **documents.doubling({"type": "string"}, S=12)
    )
    rule = BodyRule(parse_json, expensive)
    checks = Checks((), Bodies(rules={"application/json": rule}), "strict", "pass")
    request = exchange(b"[%b0]" % (b"0," * MIN_COSTLY))
    request.connection = connection = Costs()
    with pytest.raises(GatewayError) as raised:
        checked(checks, request)
    assert (raised.value.code, len(connection.noted)) == ("validation_too_expensive", 1)
