"""What a client of the Responses API over a WebSocket sends, and the errors that it gets."""

import orjson
import pytest

from engine.sockets.messages import (
    Create,
    InvalidMessage,
    Steer,
    error_message,
    own_error,
    read_message,
    steering_failed,
    with_stream_id,
)
from engine.values.errors import GatewayError
from tests.support.each import each


def read(**members):
    return read_message(orjson.dumps(members))


def test_a_request_is_what_is_left_without_the_members_of_the_socket():
    create = read(
        type="response.create",
        model="m",
        input="hi",
        store=False,
        stream_id="a.b-c_1",
        generate=True,
        previous_response_id="resp_1",
        client_metadata={"x": "y"},
    )
    request = {"model": "m", "input": "hi", "store": False, "stream": True}
    assert create == Create(request, "a.b-c_1", "resp_1", True)


def test_a_request_without_them_is_of_the_default_lane():
    assert read(type="response.create", previous_response_id=None, generate=None) == Create(
        {"stream": True}
    )


def test_a_warm_up_does_not_generate():
    assert not read(type="response.create", generate=False).generate


INVALID = [
    (b"{", "invalid_json", ""),
    (b"[]", "invalid_type", ""),
    (b'"text"', "invalid_type", ""),
    (b'{"model":"m"}', "unknown_event_type", "type"),
    (b'{"type":"response.cancel"}', "unknown_event_type", "type"),
    (b'{"type":"response.create","stream_id":""}', "invalid_stream_id", "stream_id"),
    (b'{"type":"response.create","stream_id":"a b"}', "invalid_stream_id", "stream_id"),
    (b'{"type":"response.create","stream_id":"a\\n"}', "invalid_stream_id", "stream_id"),
    (b'{"type":"response.create","stream_id":7}', "invalid_stream_id", "stream_id"),
    (b'{"type":"response.create","stream_id":null}', "invalid_stream_id", "stream_id"),
    (
        b'{"type":"response.create","stream_id":"' + b"a" * 257 + b'"}',
        "invalid_stream_id",
        "stream_id",
    ),
    (
        b'{"type":"response.create","previous_response_id":7}',
        "invalid_type",
        "previous_response_id",
    ),
    (b'{"type":"response.create","generate":"no"}', "invalid_type", "generate"),
    (b'{"type":"response.create","background":true}', "unsupported_value", "background"),
]


@each(("text", "code", "param"), INVALID)
def test_a_message_that_is_no_request_is_refused(text, code, param):
    with pytest.raises(InvalidMessage) as refused:
        read_message(text)
    error = refused.value.error
    assert (error.status, error.code, error.param) == (400, code, param)


def test_a_refusal_has_the_lane_of_its_message():
    with pytest.raises(InvalidMessage) as refused:
        read(type="other", stream_id="a")
    assert refused.value.stream_id == "a"


def test_an_error_is_nested_and_has_a_status():
    message = orjson.loads(own_error(GatewayError(429, "slow", "Wait.", param="x"), "lane"))
    assert message == {
        "type": "error",
        "status": 429,
        "error": {
            "type": "invalid_request_error",
            "code": "slow",
            "message": "Wait.",
            "param": "x",
        },
        "stream_id": "lane",
    }


def test_an_error_of_the_default_lane_names_none():
    assert orjson.loads(error_message(500, {})) == {"type": "error", "status": 500, "error": {}}


def test_the_headers_of_an_error_stand_in_it():
    assert orjson.loads(error_message(429, {}, "", {"retry-after": "1"}))["headers"] == {
        "retry-after": "1"
    }


def test_steering_fails_with_what_was_sent():
    steer = read(type="response.steer", previous_response_id="resp_1", input="x")
    assert isinstance(steer, Steer)
    answer = orjson.loads(steering_failed(steer))
    assert answer["type"] == "response.steer.failed"
    assert answer["steer"] == {"previous_response_id": "resp_1", "input": "x"}


@each(
    ("event", "marked"),
    [
        (b'{"type":"a"}', b'{"type":"a","stream_id":"x"}'),
        (b"{}", b'{"stream_id":"x"}'),
        (b'{"type":"a"} ', b'{"type":"a","stream_id":"x"}'),
    ],
)
def test_an_event_gets_the_id_of_its_lane(event, marked):
    assert with_stream_id(event, "x") == marked
    assert with_stream_id(event, "") is event
