"""Request bodies: framing, size limit, deadlines."""

import io
import tempfile

import falcon.testing
import orjson
import pytest

from engine.edge.body_reader import RequestBodyReader
from engine.exchange.caller_connection import InvalidFraming, WSGIConnection
from engine.exchange.exchange import Response
from engine.exchange.request_record import RequestRecord
from engine.values.caller import Caller
from engine.values.errors import AbortConnection, GatewayError
from tests.support.endpoints import client, post
from tests.support.exchanges import new_exchange

ALICE = Caller("alice")


def read_body(exchange):
    body = exchange.body_reader.receive()
    return Response(200, [("content-type", "a/b")], bytes(body.buffer))


def test_a_body_is_read_when_the_handler_asks():
    assert post(read_body, body=b"hello").content == b"hello"
    assert post(read_body).content == b""


def send_body(stream, **environ):
    """Status and body of the response to a request whose body comes from a stream of the test."""
    request = falcon.testing.create_environ("/v1/x/m", method="POST")
    request.pop("CONTENT_LENGTH", None)
    request.update(environ)
    request["wsgi.input"] = stream
    lines = []
    body = client(read_body).app(request, lambda line, *_: lines.append(line))
    return lines[0][:3], b"".join(body)


class Failing:
    def __init__(self, error):
        self.error = error

    def read(self, size=-1):
        raise self.error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TimeoutError(), "408"),
        (InvalidFraming("zz"), "400"),
    ],
    ids=["paused", "framing"],
)
def test_a_body_that_stops_or_is_badly_framed_is_refused(error, expected):
    status, body = send_body(Failing(error), HTTP_TRANSFER_ENCODING="chunked")
    assert status == expected
    assert orjson.loads(body)["error"]["message"]


@pytest.mark.parametrize("error", [OSError("end"), ConnectionResetError()], ids=["end", "reset"])
def test_a_caller_who_leaves_while_sending_is_gone(error):
    with pytest.raises((AbortConnection, ConnectionResetError)):
        send_body(Failing(error), CONTENT_LENGTH="5")


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "+5", " 5", "²", "9" * 30])
def test_a_length_that_is_no_number_is_refused(length):
    assert send_body(io.BytesIO(b"hello"), CONTENT_LENGTH=length)[0] == "400"


def test_a_body_announced_too_large_is_refused_unread():
    status, body = send_body(Failing(AssertionError("read")), CONTENT_LENGTH="1001")
    assert (status, orjson.loads(body)["error"]["code"]) == ("413", "request_too_large")


def test_a_body_too_large_that_has_arrived_is_refused_and_not_left():
    connection = WSGIConnection(io.BytesIO())
    connection.buffered_body = lambda: b"x" * 11
    reader = RequestBodyReader({"CONTENT_LENGTH": "11"}, connection, 100, 1.0, RequestRecord())
    with pytest.raises(GatewayError) as excinfo:
        reader.receive(10)
    assert (excinfo.value.status, reader.is_left()) == (413, False)


@pytest.mark.parametrize(
    ("caller", "environ", "size"),
    [
        (ALICE, {"CONTENT_LENGTH": "2000000"}, 2_000_000),
        (ALICE, {"CONTENT_LENGTH": "3000001"}, 1_000_000),
        (ALICE, {"HTTP_TRANSFER_ENCODING": "chunked"}, 3_000_000),
        (None, {"CONTENT_LENGTH": "2000000"}, 1_000_000),
    ],
    ids=["within the limit", "too large", "of unknown length", "of a stranger"],
)
def test_the_rest_of_a_body_is_read_up_to_the_limit_of_its_policies(caller, environ, size):
    connection = WSGIConnection(io.BytesIO())
    reader = RequestBodyReader(environ, connection, 9_000_000, 1.0, RequestRecord())
    reader.max_size = 3_000_000
    assert reader.rest(new_exchange(caller=caller)) == size


LARGE = b"x" * 2_000_000


class Slow(io.BytesIO):
    """A body whose reader pauses after the first piece."""

    def read(self, size=-1):
        if self.tell():
            raise TimeoutError
        return super().read(size)


def stream_of(data, length=2_000_000, source=io.BytesIO, head=65_536):
    """A reader, and the stream of its body."""
    environ = {"CONTENT_LENGTH": str(length)}
    connection = WSGIConnection(source(data))
    reader = RequestBodyReader(environ, connection, 3_000_000, 1.0, RequestRecord())
    return reader, reader.stream(head)


def test_a_large_body_arrives_behind_its_head():
    reader, stream = stream_of(LARGE)
    assert (len(stream.head), stream.size, reader.is_left()) == (65_536, len(LARGE), True)
    assert stream.head + b"".join(stream.chunks()) == LARGE
    assert not reader.is_left()


def test_a_stream_may_be_received_as_a_whole():
    _, stream = stream_of(LARGE)
    body = stream.receive()
    assert (body.in_memory, body.size) == (None, len(LARGE))
    body.close()


@pytest.mark.parametrize("length", [1_000_000, 12])
def test_a_small_body_is_no_stream(length):
    assert stream_of(LARGE, length)[1] is None


def test_a_stream_too_large_is_refused_unread():
    with pytest.raises(GatewayError) as excinfo:
        stream_of(b"", 3_000_001)
    assert excinfo.value.status == 413


@pytest.mark.parametrize("streams", [True, False])
def test_the_rest_of_a_body_for_which_the_disk_has_no_room_can_be_read(monkeypatch, streams):
    """The caller, which sends it to its end before it reads, gets the refusal."""
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: open("/dev/full", "r+b"))  # noqa: SIM115
    connection = WSGIConnection(io.BytesIO(bytes(3_000_000)))
    environ = {"CONTENT_LENGTH": "3000000"}
    reader = RequestBodyReader(environ, connection, 4_000_000, 1.0, RequestRecord())
    receive = reader.stream(65_536).receive if streams else reader.receive
    with pytest.raises(GatewayError) as raised:
        receive()
    assert (raised.value.status, reader.is_left()) == (503, True)
    assert reader.rest(new_exchange(caller=ALICE)) == 3_000_000


@pytest.mark.parametrize(("source", "status"), [(io.BytesIO, 400), (Slow, 408)])
def test_a_stream_that_breaks_off_is_refused(source, status):
    reader, stream = stream_of(LARGE[:-1], source=source)
    with pytest.raises(GatewayError) as excinfo:
        [*stream.chunks()]
    assert (excinfo.value.status, reader.is_left()) == (status, True)


def test_a_chunked_body_too_large_is_refused():
    assert send_body(io.BytesIO(b"x" * 1001), HTTP_TRANSFER_ENCODING="chunked")[0] == "413"
    assert send_body(io.BytesIO(b"x" * 1000), HTTP_TRANSFER_ENCODING="chunked")[0] == "200"
