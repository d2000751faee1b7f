"""Receiving the body of a request: it is read and parsed."""

from contextlib import suppress
from tempfile import TemporaryFile

import pytest

from engine.exchange.exchange import MISSING
from engine.exchange.request_body import Body
from engine.exchange.spooled_body import SpooledBody
from engine.stages.validate import checks_of
from engine.values.errors import GatewayError
from tests.support.checking import checked
from tests.support.exchanges import BodySource
from tests.support.item_requests import exchange, refusal, run


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
def test_a_body_that_cannot_be_parsed_is_refused(operations, more, status):
    assert refusal(operations["make"], exchange(**more)).status == status


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-8", "APPLICATION/JSON", " application/json ;x=y"]
)
def test_the_media_type_is_read_without_its_parameters(operations, kind):
    assert run(operations["make"], exchange(CONTENT_TYPE=kind)).content.value == {"name": "a"}


def test_the_body_is_read_up_to_the_limit_of_the_exchange(operations):
    limits = []
    request = exchange()
    request.body_reader = BodySource(lambda limit: limits.append(limit) or Body(b'{"name": "a"}'))
    run(operations["make"], request)
    assert limits == [1000]


class Closing(SpooledBody):
    """A body on disk that counts how often it is closed."""

    closed = 0

    def close(self):
        super().close()
        self.closed += 1


@pytest.mark.parametrize("data", [b'{"name": "a"}', b'{"name": 7}', b"{", b""])
def test_the_body_is_closed_at_the_end_in_any_case(operations, data):
    file, request = TemporaryFile(), exchange()  # noqa: SIM115 - the Body closes it
    file.write(data)
    file.flush()
    body = Closing(file, len(data))
    request.body_reader = BodySource(lambda limit: body)
    with suppress(GatewayError):
        run(operations["make"], request)
    assert body.closed == 0
    request.end()
    request.end()
    assert body.closed == 1


def test_without_validation_a_body_that_names_the_model_is_parsed(operations):
    request = exchange(b'{"model": "m"}')
    assert checked(checks_of(operations["make"], "off", needs_body=True), request) is request
    assert request.content.value == {"model": "m"}


def test_without_validation_a_body_is_not_parsed(operations):
    request = run(operations["make"], exchange(b'{"model"'), "off")
    assert (request.content.value, request.body.in_memory) == (MISSING, b'{"model"')
    request = run(operations["make"], exchange(b"\x00\x01", CONTENT_TYPE="a/b"), "off")
    assert (request.content.value, request.body.in_memory) == (MISSING, b"\x00\x01")


def test_an_operation_without_a_body_refuses_one(operations):
    assert run(operations["show"], exchange(b"")).content.value is MISSING
    assert refusal(operations["show"], exchange(b"[]")).status == 400
