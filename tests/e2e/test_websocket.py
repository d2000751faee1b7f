"""WebSockets through the real gateway: any API's, and the vendor's; both ends played bit by bit."""

from __future__ import annotations

import http.client
import json
import queue
import re
import signal
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.frames import (
    BINARY,
    CLOSE,
    CONT,
    KEY,
    MASK,
    PING,
    PONG,
    TEXT,
    Peer,
    RawFrame,
    accept,
    frame,
)
from tests.support.recorded import RecordedGateway, recorded_gateway
from tests.support.recording import (
    PATIENCE,
    ReceivedRequest,
    Recorder,
    answer,
    ask,
    assert_error,
    assert_refused,
    request,
)
from tests.support.running import (
    ALL,
    CREDENTIAL,
    EXPIRED,
    LIMITED,
    TOKENS,
    listens,
    shipped,
)
from tests.support.scripted import STALL, script
from tests.support.thorough import examples
from tests.support.waiting import under_load

DOCUMENT = """
openapi: 3.1.0
info: {title: Live, version: "1"}
servers: [{url: /api}]
paths:
  /live/{room}:
    get:
      operationId: enter
      parameters:
        - {name: room, in: path, required: true, schema: {type: string, maxLength: 20}}
        - {name: pace, in: query, schema: {type: integer}}
      responses: {"101": {description: it goes on as a WebSocket}}
  /brief/{room}:
    get:
      operationId: brief
      parameters: [{name: room, in: path, required: true, schema: {type: string}}]
      responses: {"101": {description: likewise}}
"""
CONFIG = """
version: 1
server: {listen: "{listen}", workers: 1, grace: 4s, debug_headers: true}
objects: {key: 0123456789abcdef0123456789abcdef}
specs:
  live: {document: live.yaml}
  openai: {document: openapi/openai.yaml, dialect: openai}
  media: {document: openapi/openai-media.yaml, dialect: openai}
upstreams:
  nowhere: {url: "http://127.0.0.1:9", breaker: {failures: 1000000}, proxy: ""}
  live:
    url: "${UPSTREAM}/base"
    credential: {bearer: "upstream-credential"}
    breaker: {failures: 1000000}
    forward_headers: [origin]
    proxy: ""
  openai:
    url: "${UPSTREAM}/v1"
    dialect: openai
    credential: {bearer: "upstream-credential"}
    breaker: {failures: 1000000}
    retry: {attempts: 1}
    proxy: ""
  first-byte:
    url: "${UPSTREAM}/v1"
    dialect: openai
    credential: {bearer: "upstream-credential"}
    timeouts: {first_byte: 500ms}
    breaker: {failures: 1000000}
    retry: {attempts: 1}
    proxy: ""
models:
  gpt-realtime: {to: [{upstream: openai, model: the-real-name}]}
  first-byte: {to: [{upstream: first-byte}]}
  "gpt-4o*": {to: [{upstream: openai}]}
routes:
  - {operation: live.enter, to: [{upstream: live}], websocket: {compression: true}}
  - operation: live.brief
    to: [{upstream: nowhere}, {upstream: live}]
    websocket: {max_message: 1KB, idle: 1s, session: 20s}
  - operation: openai.connectRealtime
    model: {from: $request.query.model, default: gpt-realtime}
  - {operations: [media.createRealtimeCall, media.attachToLiveSession], to: [{upstream: openai}]}
"""


class Live:
    """The upstream: switches protocols, and hands the test its end of each session."""

    def __init__(self, *lines: str, first: bytes = b"", key: str = "") -> None:
        self._lines, self._first, self._key = lines, first, key
        self._peers: queue.Queue[Peer] = queue.Queue()
        self._leave = threading.Event()

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        key = self._key or received.values("sec-websocket-key")[0]
        lines = ["HTTP/1.1 101 Go", "Upgrade: websocket", "Connection: upgrade"]
        lines += [f"Sec-WebSocket-Accept: {accept(key)}", *self._lines, "", ""]
        sock.sendall("\r\n".join(lines).encode() + self._first)
        sock.settimeout(PATIENCE)
        self._peers.put(Peer(sock, client=False))
        self._leave.wait(PATIENCE)
        raise ConnectionError("the test is over")  # the Recorder closes the socket

    def peer(self) -> Peer:
        return self._peers.get(timeout=PATIENCE)

    def end(self) -> None:
        self._leave.set()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedGateway]:
    with any_live_api(tmp_path_factory.mktemp("websocket") / "p") as running:
        yield running


@contextmanager
def any_live_api(folder: Path) -> Iterator[RecordedGateway]:
    """A gateway with the document of any API beside the shipped ones."""
    shipped(folder)
    (folder / "live.yaml").write_text(DOCUMENT)
    with recorded_gateway(folder, CONFIG + TOKENS) as running:
        yield running


@pytest.fixture
def live(upstream: Recorder) -> Iterator[Live]:
    upstream.speak = handler = Live()
    yield handler
    handler.end()


HANDSHAKE = (
    *("Connection: Upgrade", "Upgrade: websocket"),
    *("Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {KEY}"),
)
ROOM = "/api/live/blue"
REALTIME = "/v1/realtime?model=gpt-realtime"


@contextmanager
def opened(
    port: int, target: str = ROOM, *more: str, token: str = ALL, behind: bytes = b""
) -> Iterator[tuple[Peer, dict[str, str]]]:
    """A caller's end of a session, and the headers of its 101."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.sendall(request(target, token=token, headers=[*HANDSHAKE, *more]) + behind)
        data = b""
        while b"\r\n\r\n" not in data:
            piece = sock.recv(65_536)
            assert piece, data
            data += piece
        head, _, rest = data.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        assert first == "HTTP/1.1 101 Switching Protocols", first
        pairs = [line.partition(": ")[::2] for line in lines]
        headers = {name.lower(): value for name, value in pairs}
        assert len(headers) == len(pairs)
        assert headers["sec-websocket-accept"] == accept(KEY)
        yield Peer(sock, client=True, first=rest), headers


# Any API.


def test_any_api_passes_frames_both_ways(port: int, upstream: Recorder, live: Live) -> None:
    with opened(port, f"{ROOM}?pace=3", "Origin: https://x") as (caller, headers):
        peer = live.peer()
        for here, there in ((caller, peer), (peer, caller)):
            here.text("grüße")
            assert there.next() == RawFrame(TEXT, True, "grüße".encode())
            here.send(BINARY, b"\x00\xff" * 50_000)
            assert there.next() == RawFrame(BINARY, True, b"\x00\xff" * 50_000)
            here.send(TEXT, b"\xc3", fin=False)
            here.send(PING, b"p")
            here.send(CONT, b"\xa9")
            assert [there.next().opcode for _ in range(3)] == [TEXT, PING, CONT]
            assert here.next() == RawFrame(PONG, True, b"p")
        caller.close(4321, b"bye")
        assert peer.closed() == (4321, "bye")
        peer.close(4321, b"bye")
        assert caller.closed() == (4321, "bye")
        assert caller.ended() == peer.ended() == b""
    assert upstream.last.line == "GET /base/live/blue?pace=3 HTTP/1.1"
    assert upstream.last.values("authorization") == [f"Bearer {CREDENTIAL}"]
    assert upstream.last.values("origin") == ["https://x"]
    assert upstream.last.values("sec-websocket-key") != [KEY]
    assert upstream.last.values("sec-websocket-version") == ["13"]
    assert upstream.last.values("connection") == ["Upgrade"]
    assert ALL not in str(upstream.last)
    assert re.fullmatch(r"req_[0-9a-f]{32}", headers["x-request-id"])
    assert headers["x-modelway-target"] == "live"
    assert "sec-websocket-protocol" not in headers


def test_what_comes_right_behind_the_heads_is_not_lost(port: int, upstream: Recorder) -> None:
    upstream.speak = live = Live(
        "X-Hint: yes", "Set-Cookie: a=b", "X-Accel-Redirect: /secret", first=frame(TEXT, b"first")
    )
    try:
        early = frame(TEXT, b"early", mask=MASK)
        with opened(port, behind=early) as (caller, headers):
            assert live.peer().next().data == b"early"
            assert caller.next().data == b"first"
            assert headers["x-hint"] == "yes"
            assert not {"set-cookie", "x-accel-redirect"} & set(headers)
    finally:
        live.end()


@pytest.mark.parametrize(
    ("offered", "chosen", "answered"),
    [
        ("a, b", "b", "b"),
        ("a, b", "", "a"),
        ("", "", None),
    ],
)
def test_one_subprotocol_is_answered(
    port: int, upstream: Recorder, offered: str, chosen: str, answered: str | None
) -> None:
    upstream.speak = live = Live(*([f"Sec-WebSocket-Protocol: {chosen}"] if chosen else []))
    try:
        more = [f"Sec-WebSocket-Protocol: {offered}"] if offered else []
        with opened(port, ROOM, *more) as (_, headers):
            assert headers.get("sec-websocket-protocol") == answered
    finally:
        live.end()
    assert upstream.last.values("sec-websocket-protocol") == ([offered] if offered else [])


def test_compression_is_agreed_on_with_each_side_alone(port: int, live: Live) -> None:
    offer = "Sec-WebSocket-Extensions: permessage-deflate"
    with opened(port, ROOM, offer) as (caller, headers):
        assert headers["sec-websocket-extensions"].startswith("permessage-deflate")
        peer = live.peer()
        packed = bytes.fromhex("f248cdc9c90700")  # "Hello" (RFC 7692 7.2.3.1)
        caller.sock.sendall(frame(TEXT, packed, mask=MASK, reserved=4))
        assert peer.next() == RawFrame(TEXT, True, b"Hello")


def test_compression_is_off_where_it_is_not_asked_for(port: int, live: Live) -> None:
    with opened(port, REALTIME, "Sec-WebSocket-Extensions: permessage-deflate") as (_, headers):
        assert "sec-websocket-extensions" not in headers


def test_another_target_is_asked_when_one_cannot_be_reached(port: int, live: Live) -> None:
    with opened(port, "/api/brief/x") as (caller, headers):
        assert headers["x-modelway-target"] == "live"
        live.peer().text("here")
        assert caller.next().data == b"here"


# The vendor's.


def test_a_token_in_a_subprotocol_goes_no_further(
    port: int, recorded: RecordedGateway, upstream: Recorder
) -> None:
    upstream.speak = live = Live("Sec-WebSocket-Protocol: realtime")
    offered = f"realtime, openai-insecure-api-key.{ALL}, openai-organization.org-1"
    try:
        with opened(
            port, REALTIME, f"Sec-WebSocket-Protocol: {offered}, openai-beta.realtime-v1", token=""
        ) as (caller, headers):
            assert headers["sec-websocket-protocol"] == "realtime"
            assert ALL not in str(headers)
            caller.text("{}")
            assert live.peer().next().data == b"{}"
    finally:
        live.end()
    assert upstream.last.line == "GET /v1/realtime?model=the-real-name HTTP/1.1"
    assert upstream.last.values("sec-websocket-protocol") == ["realtime, openai-beta.realtime-v1"]
    assert upstream.last.values("authorization") == [f"Bearer {CREDENTIAL}"]
    assert ALL not in str(upstream.last)
    assert ALL not in recorded.gateway.output()


def test_a_call_is_joined_by_its_sealed_id(port: int, upstream: Recorder, live: Live) -> None:
    def call(received: ReceivedRequest, sock: socket.socket) -> None:
        head = "HTTP/1.1 201 Created\r\nLocation: /v1/realtime/calls/rtc_1\r\n"
        sock.sendall(f"{head}Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
        raise ConnectionError("one answer")

    upstream.speak = call
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {ALL}", "Content-Type": "application/sdp"}
    connection.request("POST", "/v1/realtime/calls", b"v=0", headers)
    location = str(connection.getresponse().headers["location"])
    connection.close()
    sealed = location.removeprefix("/v1/realtime/calls/")
    assert "rtc_1" not in sealed
    upstream.speak = live
    with opened(port, f"/v1/realtime?call_id={sealed}") as (caller, _):
        caller.text("{}")
        assert live.peer().next().data == b"{}"
    assert "call_id=rtc_1" in upstream.last.line
    for path in ("/v1/realtime?call_id=rtc_1", f"/v1/live/sessions/{sealed}/attach"):
        with pytest.raises(AssertionError, match="404 Not Found"), opened(port, path):
            pass


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_realtime_is_answered_also_when_the_upstream_chooses_nothing(
    port: int, live: Live, order: tuple[int, int]
) -> None:
    names = ["realtime", f"openai-insecure-api-key.{ALL}"]
    offered = ",".join(names[at] for at in order)
    with opened(port, REALTIME, f"Sec-WebSocket-Protocol: {offered}", token="") as (_, headers):
        assert headers["sec-websocket-protocol"] == "realtime"


def test_the_default_model_and_the_beta_header_reach_the_upstream(
    port: int, upstream: Recorder, live: Live
) -> None:
    with opened(port, "/v1/realtime", "OpenAI-Beta: realtime=v1"):
        live.peer()
    assert upstream.last.line == "GET /v1/realtime?model=the-real-name HTTP/1.1"
    assert upstream.last.values("openai-beta") == ["realtime=v1"]


# Refusals, all of them plain HTTP.


def with_line(instead: str) -> list[str]:
    name = instead.partition(":")[0]
    return [line for line in HANDSHAKE if not line.startswith(f"{name}:")] + [instead]


KEYED = "Sec-WebSocket-Protocol: realtime, openai-insecure-api-key."
REFUSALS = {
    "no token": (REALTIME, "", HANDSHAKE, 401, "invalid_api_key"),
    "a wrong token": (REALTIME, "mw-no", HANDSHAKE, 401, "invalid_api_key"),
    "a token that is over": (REALTIME, EXPIRED, HANDSHAKE, 401, "invalid_api_key"),
    "a wrong token by subprotocol": (
        REALTIME, "", [*HANDSHAKE, f"{KEYED}mw-wrong"], 401, "invalid_api_key"
    ),
    "an empty token by subprotocol": (REALTIME, "", [*HANDSHAKE, KEYED], 401, "invalid_api_key"),
    "a model it may not use": (REALTIME, LIMITED, HANDSHAKE, 403, "model_not_allowed"),
    "a model that is not there": (
        "/v1/realtime?model=none", ALL, HANDSHAKE, 404, "model_not_found"
    ),
    "a model said twice": (
        "/v1/realtime?model=gpt-4o&model=gpt-realtime", ALL, HANDSHAKE, 400, "invalid_type"
    ),
    "a path that is not there": ("/v1/realtimes", ALL, HANDSHAKE, 404, "not_found"),
    "a parameter of the wrong type": (f"{ROOM}?pace=x", ALL, HANDSHAKE, 400, "invalid_type"),
    "a path that is too long": (
        f"/api/live/{'x' * 21}", ALL, HANDSHAKE, 400, "string_above_max_length"
    ),
    "no upgrade": (REALTIME, ALL, [], 426, "upgrade_required"),
    "another upgrade": (REALTIME, ALL, with_line("Upgrade: x"), 426, "upgrade_required"),
    "another version": (
        REALTIME, ALL, with_line("Sec-WebSocket-Version: 12"), 426, "upgrade_required"
    ),
    "a short key": (REALTIME, ALL, with_line("Sec-WebSocket-Key: x"), 400, "invalid_handshake"),
    "no Connection": (
        REALTIME, ALL, with_line("Connection: keep-alive"), 400, "invalid_handshake"
    ),
    "a list that is none": (
        REALTIME, ALL, [*HANDSHAKE, "Sec-WebSocket-Protocol: a b"], 400, "invalid_handshake"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_is_plain_http(port: int, upstream: Recorder, case: str) -> None:
    target, token, headers, status, code = REFUSALS[case]
    answered = ask(port, request(target, token=token, headers=headers))
    assert_error(answered, status, code)
    assert upstream.requests == []
    if status == 426:
        assert answered.value("upgrade") == "websocket"
    if case == "another version":
        assert answered.value("sec-websocket-version") == "13"


def test_a_body_is_refused(port: int) -> None:
    sent = request(REALTIME, b"{}", method="GET", token=ALL, headers=HANDSHAKE)
    assert_error(ask(port, sent), 400)


def raw(head: str) -> Callable[[ReceivedRequest, socket.socket], None]:
    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        key = received.values("sec-websocket-key")[0]
        sock.sendall(head.replace("{accept}", accept(key)).replace("\n", "\r\n").encode())
        raise ConnectionError("that was all")

    return speak


SWITCH = "HTTP/1.1 101 Go\nUpgrade: {0}\nConnection: upgrade\n{1}\n"
ACCEPT = "Sec-WebSocket-Accept: {accept}"
FAILURES = {
    "an answer without a switch": (answer(), 502, "upstream_error"),
    "a wrong Accept": (
        raw(SWITCH.format("websocket", "Sec-WebSocket-Accept: no\n")), 502, "upstream_error"
    ),
    "no Accept": (raw(SWITCH.format("websocket", "")), 502, "upstream_error"),
    "another protocol": (
        raw(SWITCH.format("x", f"{ACCEPT}\n")), 502, "upstream_error"
    ),
    "a subprotocol nobody offered": (
        raw(SWITCH.format("websocket", f"{ACCEPT}\nSec-WebSocket-Protocol: x\n")),
        502, "upstream_error",
    ),
    "an extension nobody offered": (
        raw(SWITCH.format("websocket", f"{ACCEPT}\nSec-WebSocket-Extensions: x\n")),
        502, "upstream_error",
    ),
    "a refused credential": (
        answer(b'{"error":{"message":"no"}}', status=401), 502, "upstream_credentials"
    ),
    "a redirect": (answer(b"", ("Location: /x",), 302), 502, "upstream_error"),
    "no answer": (raw(""), 502, "upstream_unreachable"),
    "no HTTP": (raw("hello\n\n"), 502, "upstream_error"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILURES)
def test_an_upstream_that_fails_is_told_as_on_http(
    port: int, upstream: Recorder, case: str
) -> None:
    upstream.speak, status, code = FAILURES[case]
    answered = ask(port, request(REALTIME, token=ALL, headers=HANDSHAKE))
    assert_error(answered, status, code)


def test_an_upstreams_own_refusal_passes(port: int, upstream: Recorder) -> None:
    error = b'{"error": {"message": "no such model", "type": "x", "param": null, "code": "y"}}'
    upstream.speak = answer(error, status=404)
    answered = ask(port, request(REALTIME, token=ALL, headers=HANDSHAKE))
    assert_refused(answered, 404, "y")


def test_an_upstream_that_is_silent_is_too_late(port: int, upstream: Recorder) -> None:
    upstream.speak = script(STALL)
    answered = ask(port, request("/v1/realtime?model=first-byte", token=ALL, headers=HANDSHAKE))
    assert_error(answered, 504, "upstream_timeout")


# Ends.


def test_a_caller_is_told_in_the_dialects_words_that_the_upstream_left(
    port: int, live: Live
) -> None:
    with opened(port, REALTIME) as (caller, headers):
        peer = live.peer()
        peer.text("{}")
        assert caller.next().data == b"{}"
        live.end()
        event = json.loads(caller.next().data)
        assert (event["type"], event["error"]["type"]) == ("error", "server_error")
        assert event["error"]["code"] == "upstream_error"
        assert headers["x-request-id"] in event["event_id"]
        assert caller.closed() == (1011, "the upstream left")
        caller.close(1011)
        assert caller.ended() == b""


def test_an_upstream_is_closed_when_its_caller_leaves(port: int, live: Live) -> None:
    with opened(port) as (caller, _):
        caller.text("x")
        peer = live.peer()
        assert peer.next().data == b"x"
    assert peer.closed() == (1011, "the caller left")
    assert peer.ended() == b""


def test_a_caller_who_leaves_during_the_handshake_ends_it(port: int, upstream: Recorder) -> None:
    left = threading.Event()

    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        sock.settimeout(PATIENCE)
        while sock.recv(100):
            pass
        left.set()

    upstream.speak = speak
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.sendall(request(REALTIME, token=ALL, headers=HANDSHAKE))
        while not upstream.requests:
            time.sleep(0.01)
    assert left.wait(PATIENCE)


def test_limits_are_those_of_the_route(port: int, live: Live) -> None:
    with opened(port, "/api/brief/x") as (caller, _):
        peer = live.peer()
        caller.send(BINARY, b"x" * 1001)
        assert caller.closed()[0] == peer.closed()[0] == 1009
    with opened(port, "/api/brief/x") as (caller, _):
        assert caller.closed() == (1001, "no message for 1 s")
        assert live.peer().closed()[0] == 1001


def test_the_worker_serves_on_after_all_that(port: int, recorded: RecordedGateway) -> None:
    assert ask(port, request("/v1/realtime", token=ALL)).status == 426
    output = recorded.gateway.output()
    assert "Traceback" not in output
    assert "failed in its session" not in output


def test_sessions_go_on_for_the_grace_and_then_are_closed_with_1012(tmp_path: Path) -> None:
    with any_live_api(tmp_path / "p") as recorded:
        running = recorded.gateway
        recorded.upstream.speak = live = Live()
        with opened(running.port) as (caller, _):
            peer = live.peer()
            running.process.send_signal(signal.SIGTERM)
            while listens(running.port):
                time.sleep(0.01)
            caller.text("still here")
            assert peer.next().data == b"still here"
            for end in (caller, peer):
                assert end.closed() == (1012, "the gateway restarts; connect again")
                end.close(1012)
            assert running.process.wait(under_load()) == 0
        live.end()
        lines = [line for line in running.output().splitlines() if '"live.enter"' in line]
        (entry,) = [json.loads(line) for line in lines if line.startswith('{"time":"')]
        assert (entry["status"], entry["outcome"]) == (101, "shutdown")
        assert entry["websocket"]["code"] == 1012


# Whatever comes.


@settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(noise=st.binary(min_size=1, max_size=500), from_upstream=st.booleans())
def test_random_bytes_end_in_a_close(
    port: int, upstream: Recorder, noise: bytes, from_upstream: bool
) -> None:
    upstream.speak = live = Live()
    try:
        with opened(port) as (caller, _):
            peer = live.peer()
            here = peer if from_upstream else caller
            here.sock.sendall(noise)
            here.sock.shutdown(socket.SHUT_WR)
            for end in (caller, peer):
                while (last := end.next()).opcode != CLOSE:
                    assert last.opcode in (TEXT, BINARY, CONT, PING, PONG)
                assert not last.data or 1000 <= struct.unpack("!H", last.data[:2])[0] < 5000
    finally:
        live.end()
