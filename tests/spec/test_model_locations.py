"""Where a request names its model, and repeats the name."""

import orjson
import pytest

from engine.exchange.request_body import Body
from engine.spec.expression import parse
from engine.spec.model_locations import ModelLocations
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange

COPY = parse("$request.body#/model")
BY_HEADER = ModelLocations(parse("$request.header.x-model"), (COPY,), "models/")


def exchange(body):
    return new_exchange(
        environ={"HTTP_X_MODEL": "m"},
        body=Body(body),
        value=orjson.loads(body),
        media_type="application/json",
        model="m",
    )


def test_the_place_in_the_body_is_found():
    request = exchange(b'{"n": 1, "model": "m"}')
    ModelLocations(COPY).find(request)
    start, end = request.model.span
    assert request.body.in_memory[start:end] == b'"m"'
    assert request.model.copies == ()


@pytest.mark.parametrize(("name", "prefix"), [("m", ""), ("models/m", "models/")])
def test_a_copy_may_have_the_prefix(name, prefix):
    request = exchange(b'{"model": "%s"}' % name.encode())
    BY_HEADER.find(request)
    assert request.model.span is None
    assert [copy[2] for copy in request.model.copies] == [prefix]


@pytest.mark.parametrize(
    ("copy", "body"),
    [
        ("/model", b'{"model": "other", "model": "m"}'),
        ("/a/model", b'{"a": {"model": "other"}, "a": {}}'),
        ("/a/model", b'{"a": {"model": "other"}, "a": 1}'),
        ("/a/*/model", b'{"a": [{"model": "other"}], "a": []}'),
    ],
)
def test_a_copy_that_may_be_in_a_repeated_member_is_refused(copy, body):
    locations = ModelLocations(BY_HEADER.model, (parse(f"$request.body#{copy}"),))
    with pytest.raises(GatewayError) as excinfo:
        locations.find(exchange(body))
    assert (excinfo.value.status, excinfo.value.code) == (400, "invalid_value")


def test_another_name_in_a_copy_is_refused():
    with pytest.raises(GatewayError) as excinfo:
        BY_HEADER.find(exchange(b'{"model": "other"}'))
    assert (excinfo.value.status, excinfo.value.param) == (400, "model")
