"""Whether a request is what the document says; the body is read here."""

from contextlib import suppress

import pytest

from engine.exchange.body import Body
from engine.exchange.exchange import MISSING, Response
from engine.source.problem import Findings
from engine.spec.spec import read
from engine.stages.validate import validate
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange

DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /items/{id}:
    post:
      operationId: make
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer}}
        - {name: page, in: query, schema: {type: integer}}
        - {name: x-n, in: header, schema: {type: integer}}
        - {name: c, in: cookie, schema: {type: integer}}
      requestBody:
        required: true
        content:
          application/json:
            schema: {type: object, required: [name], properties: {name: {type: string}}}
      responses: {}
    get: {operationId: show, responses: {}}
"""


@pytest.fixture(scope="module")
def operations(tmp_path_factory):
    file = tmp_path_factory.mktemp("spec") / "shop.yaml"
    file.write_text(DOCUMENT)
    findings = Findings()
    made = read("shop", file, "shop.yaml", (), findings)
    assert findings.problems == []
    return made.operations


def exchange(body=b'{"name": "a"}', path="/items/7", query="", **environ):
    return new_exchange(
        path=path,
        query=query,
        environ={"CONTENT_TYPE": "application/json", **environ},
        variables={"id": (7, len(path))},
        max_body=1000,
        receive=lambda limit: Body(body),
    )


def run(operation, given, mode="strict"):
    validate(operation, mode)(given, lambda seen: Response(200, []))
    return given


def refused(operation, given, mode="strict"):
    with pytest.raises(GatewayError) as raised:
        run(operation, given, mode)
    return raised.value


def test_a_right_request_passes_with_its_body_parsed(operations):
    given = run(operations["make"], exchange(query="page=2", HTTP_X_N="5", HTTP_COOKIE="c=1"))
    assert (given.value, given.media_type) == ({"name": "a"}, "application/json")
    assert given.body.whole == b'{"name": "a"}'


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
def test_what_is_wrong_is_refused_by_its_place(operations, more, param):
    error = refused(operations["make"], exchange(**more))
    assert (error.status, error.param) == (400, param)


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"body": b""}, 400),
        ({"body": b"{"}, 400),
        ({"body": b"\xff"}, 400),
        ({"body": b'{"name": NaN}'}, 400),
        ({"body": b"[" * 10_000 + b"]" * 10_000}, 400),
        ({"CONTENT_TYPE": "text/plain"}, 415),
        ({"CONTENT_TYPE": ""}, 415),
        ({"CONTENT_TYPE": "application/json, application/json"}, 415),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(operations, more, status):
    assert refused(operations["make"], exchange(**more)).status == status


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "APPLICATION/JSON", " application/json ;x=y"]
)
def test_the_media_type_is_read_without_its_parameters(operations, kind):
    assert run(operations["make"], exchange(CONTENT_TYPE=kind)).value == {"name": "a"}


def test_parameters_are_looked_at_before_the_body_is_read(operations):
    given = exchange(path="/items/x")
    given.receive = lambda limit: pytest.fail("the body was read")
    assert refused(operations["make"], given).param == "id"


def test_the_body_is_read_up_to_the_limit_of_the_exchange(operations):
    limits = []
    given = exchange()
    given.receive = lambda limit: limits.append(limit) or Body(b'{"name": "a"}')
    run(operations["make"], given)
    assert limits == [1000]


class Closing(Body):
    """A body that counts how often it is given back."""

    closed = 0

    def close(self):
        self.closed += 1


@pytest.mark.parametrize("data", [b'{"name": "a"}', b'{"name": 7}', b"{", b""])
def test_the_body_is_given_back_at_the_end_whatever_happens(operations, data):
    body, given = Closing(data), exchange()
    given.receive = lambda limit: body
    with suppress(GatewayError):
        run(operations["make"], given)
    assert body.closed == 0
    given.end()
    given.end()
    assert body.closed == 1


@pytest.mark.parametrize(
    "more",
    [{"path": "/items/x"}, {"query": "page=x"}, {"body": b'{"name": 7}'}, {"body": b""}],
)
def test_without_validation_anything_well_formed_passes(operations, more):
    run(operations["make"], exchange(**more), "off")


def test_without_validation_a_body_that_names_the_model_is_parsed_all_the_same(operations):
    seen = []
    stage = validate(operations["make"], "off", names_model=True)
    stage(exchange(b'{"model": "m"}'), lambda given: seen.append(given))
    assert seen[0].value == {"model": "m"}


def test_without_validation_a_body_is_relayed_whatever_it_is(operations):
    given = run(operations["make"], exchange(b'{"model"'), "off")
    assert (given.value, given.body.whole) == (MISSING, b'{"model"')
    given = run(operations["make"], exchange(b"\x00\x01", CONTENT_TYPE="a/b"), "off")
    assert (given.value, given.body.whole) == (MISSING, b"\x00\x01")


def test_an_operation_without_a_body_takes_none(operations):
    assert run(operations["show"], exchange(b"")).value is MISSING
    assert refused(operations["show"], exchange(b"{}")).status == 400
