"""The exact response to a caller when an upstream fails, over real sockets.

One worker serves everything, so that its breakers, budgets and pools are the only ones; upstreams
are bytes written by a script.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.peer import Authority
from tests.support.ports import free_port
from tests.support.recording import (
    ANSWER,
    PATIENCE,
    Headers,
    HttpAnswer,
    ReceivedRequest,
    Recorder,
    Speak,
    Wire,
    answer,
    ask,
    recorder,
    request,
)
from tests.support.running import ALL, TOKENS, Running, gateway, modelway
from tests.support.scripted import (
    CLOSE,
    RESET,
    STALL,
    Leaving,
    Step,
    accepting,
    hang_up,
    in_turn,
    read_head,
    script,
    unreachable,
)
from tests.support.waiting import until

CONFIG = """
version: 1
server: {listen: "{listen}", workers: 1, debug_headers: true}
specs:
  openai:    {document: openapi/openai.yaml,    dialect: openai}
  anthropic: {document: openapi/anthropic.yaml, dialect: anthropic}
  gemini:    {document: openapi/gemini.yaml,    dialect: gemini, mount: /v1beta}
upstreams:
  one: {url: "${ONE}/v1", credential: {bearer: key-1}, EASY}
  two: {url: "${TWO}/v1", credential: {bearer: key-2}, EASY}
  again: {url: "${ONE}/v1", AGAIN}
  first-byte: {url: "${ONE}/v1", EASY, timeouts: {first_byte: 400ms}}
  idle: {url: "${ONE}/v1", EASY, timeouts: {idle: 400ms}}
  idle-1s: {url: "${ONE}/v1", EASY, timeouts: {idle: 1s}}
  total: {url: "${ONE}/v1", EASY, timeouts: {total: 1s}}
  calm: {url: "${ONE}/v1", EASY, heartbeat: 100ms}
  calm-idle: {url: "${ONE}/v1", EASY, heartbeat: 100ms, timeouts: {idle: 800ms}}
  patient: {url: "${ONE}/v1", EASY}
  pooled: {url: "${ONE}/v1"}
  refused: {url: "http://127.0.0.1:${CLOSED}", EASY}
  nameless: {url: "http://nothing.invalid", EASY, proxy: "", timeouts: {connect: 50s}}
  untrusted: {url: "https://127.0.0.1:${TLS}", EASY}
  plaintext: {url: "https://127.0.0.1:${PLAIN}", EASY}
  unreachable: {url: "http://127.0.0.1:${FULL}", EASY, timeouts: {connect: 400ms}}
  closing: {url: "http://127.0.0.1:${CLOSING}", EASY}
  resetting: {url: "http://127.0.0.1:${RESETTING}", EASY}
  deaf: {url: "http://127.0.0.1:${DEAF}", EASY}
  stormy: {url: "${ONE}/v1", retry: {attempts: 1}, breaker: {failures: 3, cooldown: 1s}}
  stormy-too: {url: "${TWO}/v1", retry: {attempts: 1}, breaker: {failures: 2, cooldown: 60s}}
  down: {url: "${ONE}/v1", retry: {attempts: 1}, breaker: {failures: 1, cooldown: 20s}}
  turning: {url: "${ONE}/v1", credentials: [{bearer: k-1}, {bearer: k-2}], EASY}
  half: {url: "${ONE}/v1", credentials: [{bearer: k-1}, {bearer: k-2}], AGAIN}
  limited: {url: "${ONE}/v1", credentials: [{bearer: k-1}, {bearer: k-2}], AGAIN}
models:
  one: {to: [{upstream: one}]}
  again: {to: [{upstream: again}]}
  first-byte: {to: [{upstream: first-byte}]}
  idle: {to: [{upstream: idle}]}
  idle-1s: {to: [{upstream: idle-1s}]}
  total: {to: [{upstream: total}]}
  calm: {to: [{upstream: calm}]}
  calm-idle: {to: [{upstream: calm-idle}]}
  patient: {to: [{upstream: patient}]}
  pooled: {to: [{upstream: pooled}]}
  refused: {to: [{upstream: refused}]}
  nameless: {to: [{upstream: nameless}]}
  untrusted: {to: [{upstream: untrusted}]}
  plaintext: {to: [{upstream: plaintext}]}
  unreachable: {to: [{upstream: unreachable}]}
  closing: {to: [{upstream: closing}]}
  resetting: {to: [{upstream: resetting}]}
  deaf: {to: [{upstream: deaf}]}
  stormy: {to: [{upstream: stormy}]}
  down: {to: [{upstream: down}], fallback: [down-too]}
  down-too: {to: [{upstream: stormy-too}]}
  turning: {to: [{upstream: turning}]}
  half: {to: [{upstream: half}]}
  limited: {to: [{upstream: limited}]}
  pair:
    to:
      - {upstream: one, model: first, weight: 1000000000}
      - {upstream: two, model: second, weight: 0.001}
  pair-429:
    to:
      - {upstream: one, model: first, weight: 1000000000}
      - {upstream: two, model: second, weight: 0.001}
  pair-limited:
    to:
      - {upstream: one, model: first, weight: 1000000000}
      - {upstream: two, model: second, weight: 0.001}
  spare: {to: [{upstream: one}], fallback: [plan-b]}
  spare-first-byte: {to: [{upstream: first-byte}], fallback: [plan-b]}
  spare-idle: {to: [{upstream: idle}], fallback: [plan-b]}
  plan-b: {to: [{upstream: two, model: model-b}]}
  from-refused: {to: [{upstream: refused}], fallback: [plan-b]}
  from-unreachable: {to: [{upstream: unreachable}], fallback: [plan-b]}
routes:
  - operations: [openai.createChatCompletion, openai.createResponse, openai.createSpeech]
    model: $request.body#/model
  - operations: [openai.createTranscription, anthropic.createMessage]
    model: $request.body#/model
  - operations: [gemini.generateContent, gemini.streamGenerateContent]
    model: $request.path.model
"""
SHORT = {
    "EASY": "pool: 0, retry: {attempts: 1}, breaker: {failures: 1000000}, ejection: {max_out: 0}",
    "AGAIN": "pool: 0, retry: {attempts: 2, budget: 1}, breaker: {failures: 1000000}",
}


@dataclass
class World:
    """The gateway and its two upstreams."""

    gateway: Running
    one: Recorder
    two: Recorder

    @property
    def port(self) -> int:
        return self.gateway.port


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("faults")
    project = folder / "project"
    result = modelway("init", project)
    assert result.returncode == 0, result.stdout
    config = CONFIG
    for word, text in SHORT.items():
        config = config.replace(word, text)
    certificate = Authority(folder).issue("127.0.0.1")
    with contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(recorder()) for _ in range(2))
        ports = {
            "CLOSED": free_port(),
            "TLS": stack.enter_context(accepting(tls_of(certificate))),
            "FULL": stack.enter_context(unreachable()),
            "CLOSING": stack.enter_context(accepting(lambda sock: None)),
            "RESETTING": stack.enter_context(accepting(reset_unread)),
            "DEAF": stack.enter_context(accepting(DEAF)),
            "PLAIN": stack.enter_context(accepting(no_tls)),
        }
        environ = {name: str(port) for name, port in ports.items()}
        environ |= {"ONE": one.url, "TWO": two.url, "NO_PROXY": "*"}
        running = stack.enter_context(gateway(project, config + TOKENS, environ))
        yield World(running, one, two)


@pytest.fixture
def world(everything: World) -> Iterator[World]:
    everything.one.reset()
    everything.two.reset()
    workers = everything.gateway.workers()
    yield everything
    assert everything.gateway.workers() == workers
    assert "Traceback" not in everything.gateway.output()


class Deaf:
    """Reads the head of a request, and the body only after `go_on`."""

    def __init__(self) -> None:
        self.arrived = threading.Event()
        self.go_on = threading.Event()
        self.head_sizes: queue.Queue[int] = queue.Queue()

    def __call__(self, sock: socket.socket) -> None:
        head_size = len(read_head(sock))
        self.arrived.set()
        self.go_on.wait(PATIENCE)
        sock.settimeout(PATIENCE)
        with contextlib.suppress(ConnectionError):
            while data := sock.recv(65536):
                head_size += len(data)
        self.head_sizes.put(head_size)


DEAF = Deaf()


def reset_unread(sock: socket.socket) -> None:
    """Reset the connection after the first bytes have come."""
    sock.recv(1, socket.MSG_PEEK)
    hang_up(sock, reset=True)


def no_tls(sock: socket.socket) -> None:
    """Answer a TLS handshake with an HTTP error."""
    sock.recv(65536)
    sock.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def tls_of(certificate: Any) -> Any:
    """A TLS server with an untrusted certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    def handle(sock: socket.socket) -> None:
        with context.wrap_socket(sock, server_side=True) as secure:
            secure.recv(1)

    return handle


# Requests, events and errors of each dialect


def event(document: Any, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(document, separators=(',', ':'))}\n\n".encode()


@dataclass(frozen=True)
class Way:
    """A dialect: its requests, a start-up event, one with content that may be the last, an error,
    and a heartbeat."""

    name: str
    beginning: bytes
    content: bytes
    failing: bytes
    heartbeat: bytes

    def ask(self, model: str, *, stream: bool = False, more: str = "hi") -> bytes:
        headers = [f"Authorization: Bearer {ALL}"]
        turns = [{"role": "user", "content": more}]
        body: dict[str, Any] = {"model": model, "messages": turns, "stream": stream}
        target = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}.get(self.name, "")
        if self.name == "anthropic":
            body["max_tokens"] = 9
        if self.name == "gemini":
            headers = [f"x-goog-api-key: {ALL}"]
            body = {"contents": [{"parts": [{"text": more}]}]}
            verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
            target = f"/v1beta/models/{model}:{verb}"
        return request(target, json.dumps(body).encode(), headers=headers)


OPENAI = Way(
    "openai",
    event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}),
    event({"choices": [{"index": 0, "delta": {"content": "word"}, "finish_reason": "stop"}]}),
    event({"error": {"message": "bad data: boom", "type": "x", "param": None, "code": None}}),
    b": keep-alive\n\n",
)
ANTHROPIC = Way(
    "anthropic",
    event({"type": "message_start", "message": {"usage": {}}}, "message_start"),
    event(
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        "message_delta",
    ),
    event({"type": "error", "error": {"type": "x", "message": "bad data: boom"}}, "error"),
    b'event: ping\ndata: {"type":"ping"}\n\n',
)
GEMINI = Way(
    "gemini",
    event({"usageMetadata": {"promptTokenCount": 1}}),
    event({"candidates": [{"content": {"parts": [{"text": "word"}]}, "finishReason": "STOP"}]}),
    event({"error": {"code": 500, "message": "bad data: boom", "status": "INTERNAL"}}),
    b"",
)
WAYS = [OPENAI, ANTHROPIC, GEMINI]
every_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)

TYPES = {
    ("anthropic", 502): "api_error",
    ("anthropic", 503): "api_error",
    ("anthropic", 504): "timeout_error",
    ("gemini", 502): "unavailable",
    ("gemini", 503): "unavailable",
    ("gemini", 504): "deadline_exceeded",
}


def assert_error_object(way: Way, document: Any, status: int, code: str, words: str) -> None:
    """Assert that a document is the dialect's complete error object with these values."""
    error = document["error"]
    message = error["message"]
    assert words in message
    assert "127.0.0.1" not in message
    kind = TYPES.get((way.name, status), "server_error")
    common = {"message": message, "type": kind, "param": None}
    if way.name == "gemini":
        reason = {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": code,
            "domain": "modelway",
        }
        common |= {"code": status, "status": kind.upper(), "details": [reason]}
        assert document == {"error": common}
    elif way.name == "anthropic":
        identity = document["request_id"]
        assert identity.startswith("req_")
        expected = {"type": "error", "error": {**common, "code": code}, "request_id": identity}
        assert document == expected
    else:
        assert document == {"error": {**common, "code": code}}


def assert_answered(
    way: Way, response: HttpAnswer, status: int, code: str, words: str, again: str = ""
) -> None:
    """Assert that a response is this error of the gateway; `again` is its x-should-retry."""
    assert response.status == status, response
    assert response.value("content-type") == "application/json"
    assert response.value("x-request-id").startswith("req_")
    assert response.values("x-should-retry") == ([again] if again else [])
    assert response.values("x-modelway-target") == []
    assert (status == 503) == bool(response.values("retry-after"))
    assert_error_object(way, response.json(), status, code, words)


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
BINARY = b"HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
SPEECH = b'{"model":"%s","input":"x","voice":"v"}'


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def streaming(*events: bytes) -> Speak:
    return script(SSE, *map(chunk, events), END)


# No connection


@every_way
@pytest.mark.parametrize(
    ("model", "status", "code", "words"),
    [
        ("refused", 502, "upstream_unreachable", "No connection to the upstream"),
        ("nameless", 502, "upstream_unreachable", "No connection to the upstream"),
        ("untrusted", 502, "upstream_unreachable", "No connection to the upstream"),
        ("plaintext", 502, "upstream_unreachable", "No connection to the upstream"),
        ("unreachable", 504, "upstream_timeout", "No connection to the upstream in time"),
        ("closing", 502, "upstream_unreachable", "closed the connection before it answered"),
        ("resetting", 502, "upstream_unreachable", "closed the connection before it answered"),
    ],
)
def test_no_connection(
    world: World, way: Way, model: str, status: int, code: str, words: str
) -> None:
    assert_answered(way, ask(world.port, way.ask(model)), status, code, words)


# Before the first content: a response of the gateway

PAGE = b"<html>Please log in</html>"
EARLY: dict[str, tuple[Speak, int, str, str]] = {
    "closed": (script(CLOSE), 502, "upstream_unreachable", "before it answered"),
    "reset before headers": (script(RESET), 502, "upstream_unreachable", "before it answered"),
    "reset in the status line": (
        script(b"HTTP/1.", RESET),
        502,
        "upstream_error",
        "in the middle of its answer",
    ),
    "reset in headers": (
        script(b"HTTP/1.1 200 OK\r\nContent-Ty", RESET),
        502,
        "upstream_error",
        "in the middle of its answer",
    ),
    "closed in headers": (
        script(b"HTTP/1.1 200 OK\r\nContent-Ty", CLOSE),
        502,
        "upstream_error",
        "in the middle of its answer",
    ),
    "reset after headers": (
        script(HEAD + b"Content-Length: 9\r\n\r\n", RESET),
        502,
        "upstream_error",
        "in the middle of its answer",
    ),
    "garbage": (script(b"\x00\x01\xff\r\n\r\n"), 502, "upstream_error", "not valid HTTP/1.1"),
    "garbage status": (
        script(b"HTTP/1.1 TWO OK\r\n\r\n"),
        502,
        "upstream_error",
        "not valid HTTP/1.1",
    ),
    "two lengths": (
        script(HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
        502,
        "upstream_error",
        "not valid HTTP/1.1",
    ),
    "no number of a length": (
        script(HEAD + b"Content-Length: two\r\n\r\n{}"),
        502,
        "upstream_error",
        "not valid HTTP/1.1",
    ),
    "garbage chunk": (
        script(HEAD + b"Transfer-Encoding: chunked\r\n\r\nXYZ\r\n"),
        502,
        "upstream_error",
        "not valid HTTP/1.1",
    ),
    "silence": (script(STALL), 504, "upstream_timeout", "did not begin to answer in time"),
    "slow headers": (
        script(b"HTTP/1.1 200 OK\r\nContent", STALL),
        504,
        "upstream_timeout",
        "fell silent",
    ),
    "stall after headers": (
        script(HEAD + b"Content-Length: 9\r\n\r\n", STALL),
        504,
        "upstream_timeout",
        "fell silent",
    ),
    "HTML page": (answer(PAGE, ("Content-Type: text/html; x=y",)), 502, "upstream_error", "HTML"),
    "redirect": (
        answer(b"", ("Location: https://elsewhere.invalid",), 307),
        502,
        "upstream_error",
        "redirect (307)",
    ),
    "stream without events": (streaming(), 502, "upstream_error", "ended before any content"),
    "stream cut before events": (script(SSE, CLOSE), 502, "upstream_error", "in the middle of"),
    "stream silent before events": (script(SSE, STALL), 504, "upstream_timeout", "fell silent"),
    "credential": (
        answer(b'{"error":{"message":"key-1 is wrong"}}', status=401),
        502,
        "upstream_credentials",
        "your token is not at fault",
    ),
}

TIMEOUTS = {
    "silence": "first-byte",
    **dict.fromkeys(
        ("slow headers", "stall after headers", "stream silent before events", "stall"), "idle"
    ),
}
"""Faults that only a timeout ends, and the upstream that has it. All others are patient: on a busy
machine an answer may take as long as it likes."""


@every_way
@pytest.mark.parametrize("fault", EARLY)
def test_failure_before_content(world: World, way: Way, fault: str) -> None:
    world.one.speak, status, code, words = EARLY[fault]
    stream = fault.startswith("stream")
    response = ask(world.port, way.ask(TIMEOUTS.get(fault, "one"), stream=stream))
    again = "false" if fault in ("credential", "redirect") else ""
    assert_answered(way, response, status, code, words, again)
    assert "key-1" not in response.body.decode()
    assert len(world.one.requests) == 1


@every_way
@pytest.mark.parametrize("comment", [b"", b": PROCESSING\n\n"])
def test_error_of_an_unknown_kind_first_in_a_stream(world: World, way: Way, comment: bytes) -> None:
    failing = b'data: {"error":{"message":"bad data: boom"}}\n\n'
    world.one.speak = streaming(comment + way.beginning, failing)
    response = ask(world.port, way.ask("one", stream=True))
    assert_answered(way, response, 502, "upstream_error", "The upstream failed: bad data: boom.")


@every_way
@pytest.mark.parametrize("fault", ["closed", "reset before headers"])
def test_failure_after_a_retry_is_not_to_be_retried(world: World, way: Way, fault: str) -> None:
    world.one.speak, status, code, words = EARLY[fault]
    response = ask(world.port, way.ask("again"))
    assert_answered(way, response, status, code, words, "false")
    assert len(world.one.requests) == 2


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_status_that_is_retried(world: World, status: int) -> None:
    world.one.speak = in_turn(answer(status=status), answer(b'{"choices":[1]}'))
    response = ask(world.port, OPENAI.ask("again"))
    assert (response.status, response.body) == (200, b'{"choices":[1]}')
    assert len(world.one.requests) == 2


@every_way
@pytest.mark.parametrize("status", [400, 404, 409, 413, 422])
def test_error_of_the_caller_is_relayed_and_not_retried(
    world: World, way: Way, status: int
) -> None:
    error = way.failing.partition(b"data: ")[2].strip()
    world.one.speak = answer(error, ("Content-Type: application/json", "ETag: 1"), status)
    response = ask(world.port, way.ask("spare"))
    assert (response.status, response.body) == (status, error)
    assert response.value("etag") == "1"
    assert response.values("x-should-retry") == []
    assert (len(world.one.requests), len(world.two.requests)) == (1, 0)


# Slow and unusual responses that are complete


def test_slow_body_arrives_whole(world: World) -> None:
    pieces = [b'{"cho', b'ices":', b" [1]", b"}"]
    paused = [step for piece in pieces for step in (chunk(piece), 0.3)]
    world.one.speak = script(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *paused, END)
    response = ask(world.port, OPENAI.ask("idle-1s"))
    assert (response.status, response.body) == (200, b'{"choices": [1]}')


def test_slow_headers_arrive_whole(world: World) -> None:
    lines = b"Content-Length: %d\r\n\r\n%b" % (len(ANSWER), ANSWER)
    world.one.speak = script(b"HTTP/1.1 200 ", 0.5, HEAD[13:], 0.6, lines)
    assert ask(world.port, OPENAI.ask("idle-1s")).body == ANSWER


def test_answer_longer_than_announced_is_cut_there(world: World) -> None:
    length = b"Content-Length: %d\r\n\r\n" % len(ANSWER)
    world.one.speak = script(HEAD + length + ANSWER + b"HTTP/1.1 200 smuggled\r\n\r\n")
    for _ in range(2):
        response = ask(world.port, OPENAI.ask("pooled"))
        assert (response.status, response.body) == (200, ANSWER)
    assert world.one.connections == 2


def test_packed_answer_passes_packed(world: World) -> None:
    packed = gzip.compress(b'{"a": 1}')
    world.one.speak = answer(packed, ("Content-Type: application/json", "Content-Encoding: gzip"))
    response = ask(world.port, OPENAI.ask("one"))
    assert (response.status, response.body) == (200, packed)
    assert response.value("content-encoding") == "gzip"
    assert world.one.last.values("accept-encoding") == ["identity"]


def test_packed_stream_is_unpacked(world: World) -> None:
    stream = OPENAI.content + b"data: [DONE]\n\n"
    packed = gzip.compress(stream)
    head = SSE.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    world.one.speak = script(head, chunk(packed), END)
    response = ask(world.port, OPENAI.ask("one", stream=True))
    assert (response.body, response.values("content-encoding")) == (stream, [])


def test_packed_error_is_unpacked(world: World) -> None:
    packed = gzip.compress(b'{"error":{"message":"x"}}')
    headers = ("Content-Type: application/json", "Content-Encoding: gzip")
    world.one.speak = answer(packed, headers, 500)
    response = ask(world.port, OPENAI.ask("one"))
    assert response.status == 500
    assert response.values("content-encoding") == []
    assert response.json() == {"error": {"message": "x"}}


# A truncated body that is no event stream never looks complete


def truncated(world: World, data: bytes) -> tuple[int, Headers, bytes, bool]:
    """Status, headers, the received body, and whether it was complete."""
    with Wire(world.port) as wire:
        wire.send(data)
        status, headers = wire.head()
        values = dict(headers)
        raw = wire.rest()
    if "content-length" in values:
        return status, headers, raw, len(raw) == int(values["content-length"])
    return status, headers, raw, raw.endswith(END)


@pytest.mark.parametrize("end", [RESET, CLOSE, STALL])
def test_body_that_breaks_off_is_cut(world: World, end: str) -> None:
    world.one.speak = script(HEAD + b'Content-Length: 99\r\n\r\n{"choices"', 0.05, end)
    model = "idle" if end == STALL else "one"
    status, headers, raw, is_complete = truncated(world, OPENAI.ask(model))
    length = dict(headers)["content-length"]
    assert (status, length, raw, is_complete) == (200, "99", b'{"choices"', False)


@pytest.mark.parametrize("end", [RESET, CLOSE, STALL])
def test_truncated_chunk_is_cut(world: World, end: str) -> None:
    start = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    world.one.speak = script(start + b'99\r\n{"choices"', 0.05, end)
    model = "idle" if end == STALL else "one"
    status, _, raw, is_complete = truncated(world, OPENAI.ask(model))
    assert (status, raw, is_complete) == (200, chunk(b'{"choices"'), False)


# In mid-stream: the dialect's error event, then the connection is closed

LATE: dict[str, tuple[tuple[bytes | str, ...], int, str, str]] = {
    "reset": ((0.05, RESET), 502, "upstream_error", "in the middle of its answer"),  # type: ignore[dict-item]
    "closed": ((CLOSE,), 502, "upstream_error", "in the middle of its answer"),
    "truncated chunk": ((b"ff\r\ndata: ", CLOSE), 502, "upstream_error", "in the middle of"),
    "garbage chunk": ((b"XYZ\r\n",), 502, "upstream_error", "not valid HTTP/1.1"),
    "stall": ((STALL,), 504, "upstream_timeout", "fell silent"),
}


@every_way
@pytest.mark.parametrize("fault", LATE)
def test_stream_that_breaks_ends_with_an_error_and_a_cut(
    world: World, way: Way, fault: str
) -> None:
    steps, status, code, words = LATE[fault]
    events = chunk(way.beginning + way.content) + chunk(way.content)
    world.one.speak = script(SSE + events, *steps)
    model = f"spare-{TIMEOUTS[fault]}" if fault in TIMEOUTS else "spare"
    body, is_complete = stream_body(world, way.ask(model, stream=True))
    assert not is_complete
    assert body.startswith(way.beginning + way.content * 2)
    assert b"[DONE]" not in body
    last = body.removeprefix(way.beginning + way.content * 2)
    name = b"event: error\n" if way is ANTHROPIC else b""
    assert last.startswith(name + b"data: {")
    assert last.endswith(b"}\n\n")
    assert last.count(b"\n\n") == 1
    document = json.loads(last.partition(b"data: ")[2])
    assert_error_object(way, document, status, code, words)
    assert world.two.requests == []


@every_way
def test_stream_beyond_its_total_time_is_cut(world: World, way: Way) -> None:
    steps = [step for _ in range(200) for step in (chunk(way.content), 0.05)]
    world.one.speak = script(SSE, *steps, END)
    body, is_complete = stream_body(world, way.ask("total", stream=True))
    assert not is_complete
    assert 0 < body.count(way.content) < 200
    document = json.loads(body.rpartition(b"data: ")[2])
    assert_error_object(way, document, 504, "upstream_timeout", "the time one request may take")


@every_way
def test_error_event_in_mid_stream_is_relayed(world: World, way: Way) -> None:
    """The upstream's error event is the last, and the stream has no clean end."""
    world.one.speak = streaming(way.content, way.failing)
    body, is_complete = stream_body(world, way.ask("spare", stream=True))
    assert body == way.content + way.failing
    assert not is_complete
    assert world.two.requests == []


def stream_body(world: World, data: bytes) -> tuple[bytes, bool]:
    """The body of a chunked response 200, and whether it was complete."""
    body = b""
    with Wire(world.port) as wire:
        wire.send(data)
        status, headers = wire.head()
        assert status == 200
        assert dict(headers)["content-type"] == "text/event-stream"
        try:
            for piece in wire.pieces():
                body += piece
        except (EOFError, ConnectionResetError):
            return body, False
    return body, True


# Too many requests


@every_way
def test_429_is_relayed_as_it_is(world: World, way: Way) -> None:
    error = way.failing.partition(b"data: ")[2].strip()
    world.one.speak = answer(error, ("Content-Type: application/json", "X-RateLimit-Left: 0"), 429)
    for _ in range(2):
        response = ask(world.port, way.ask("one"))
        assert (response.status, response.body) == (429, error)
        assert response.value("x-ratelimit-left") == "0"
        assert response.values("retry-after") == response.values("x-should-retry") == []


def test_429_has_retry_after(world: World) -> None:
    headers = ("Content-Type: application/json", "Retry-After: 7", "Retry-After-Ms: 7000")
    world.one.speak = answer(b'{"error":{"message":"slow down"}}', headers, 429)
    response = ask(world.port, OPENAI.ask("again"))
    assert response.status == 429
    assert response.value("retry-after") == "7"
    assert response.value("retry-after-ms") == "7000"
    assert response.values("x-should-retry") == []
    assert len(world.one.requests) == 1


def test_429_is_waited_for_when_that_is_short(world: World) -> None:
    moments: list[float] = []

    def with_moments(speak: Speak) -> Speak:
        def speak_at_moment(received: ReceivedRequest, sock: socket.socket) -> None:
            moments.append(time.monotonic())
            speak(received, sock)

        return speak_at_moment

    headers = ("Content-Type: application/json", "Retry-After-Ms: 400")
    world.one.speak = in_turn(with_moments(answer(b"{}", headers, 429)), with_moments(answer()))
    assert ask(world.port, OPENAI.ask("again")).status == 200
    assert moments[1] - moments[0] > 0.38


def test_429_after_the_last_attempt_is_relayed(world: World) -> None:
    headers = ("Content-Type: application/json", "Retry-After: 0")
    world.one.speak = answer(b'{"error":{"message":"slow down"}}', headers, 429)
    response = ask(world.port, OPENAI.ask("again"))
    assert response.status == 429
    assert response.value("x-should-retry") == "false"
    assert len(world.one.requests) == 2


def test_429_goes_to_the_other_target_at_once(world: World) -> None:
    world.one.speak = answer(b"{}", ("Retry-After: 1",), 429)
    for _ in range(30):
        response = ask(world.port, OPENAI.ask("pair-limited"))
        assert response.value("x-modelway-target") == "two/second"


# Failing over


FAILOVER = {
    **{name: speak for name, (speak, *_) in EARLY.items() if name in ("closed", "HTML page")},
    "reset": script(RESET),
    "credential": EARLY["credential"][0],
    "stream without events": EARLY["stream without events"][0],
    **{str(status): answer(status=status) for status in (403, 408, 429, 500, 502, 503, 504, 529)},
}


@pytest.mark.parametrize("fault", FAILOVER)
def test_second_target_takes_over(world: World, fault: str) -> None:
    world.one.speak = FAILOVER[fault]
    world.two.speak = answer(b'{"choices":["two"]}')
    model = "pair-429" if fault == "429" else "pair"  # which is asked last for a while
    response = ask(world.port, OPENAI.ask(model))
    assert (response.status, response.body) == (200, b'{"choices":["two"]}')
    assert response.value("x-modelway-target") == "two/second"
    assert [json.loads(r.body)["model"] for r in world.one.requests] == ["first"]
    assert [json.loads(r.body)["model"] for r in world.two.requests] == ["second"]
    assert world.two.last.values("authorization") == ["Bearer key-2"]


@every_way
def test_fallback_model_takes_over_a_stream(world: World, way: Way) -> None:
    world.one.speak = streaming(way.beginning * 3, way.failing)
    world.two.speak = streaming(way.beginning, way.content)
    response = ask(world.port, way.ask("spare", stream=True))
    assert (response.status, response.body) == (200, way.beginning + way.content)
    assert response.value("x-modelway-target") == "two/model-b"
    received = world.two.last
    assert "model-b" in (received.target if way is GEMINI else received.body.decode())
    assert world.one.connections == 1


@pytest.mark.parametrize("model", ["from-refused", "from-unreachable"])
def test_fallback_model_takes_over_without_a_connection(world: World, model: str) -> None:
    response = ask(world.port, OPENAI.ask(model))
    assert response.status == 200
    assert response.value("x-modelway-target") == "two/model-b"


@pytest.mark.parametrize("fault", ["silence", "slow headers", "reset in headers", "redirect"])
def test_request_that_reached_an_upstream_is_not_sent_to_another(world: World, fault: str) -> None:
    world.one.speak, status, *_ = EARLY[fault]
    model = f"spare-{TIMEOUTS[fault]}" if fault in TIMEOUTS else "spare"
    assert ask(world.port, OPENAI.ask(model)).status == status
    assert (len(world.one.requests), len(world.two.requests)) == (1, 0)


def test_last_failure_is_the_response_when_all_fail(world: World) -> None:
    world.one.speak = script(CLOSE)
    world.two.speak = answer(b'{"error":{"message":"out of order"}}', status=503)
    response = ask(world.port, OPENAI.ask("pair"))
    assert (response.status, response.json()["error"]["message"]) == (503, "out of order")
    assert response.value("x-should-retry") == "false"


# Storms


def test_breaker_opens_probes_and_closes(world: World) -> None:
    world.one.speak = answer(b'{"error":{"message":"storm"}}', status=503)
    data = OPENAI.ask("stormy")
    for _ in range(3):
        assert ask(world.port, data).json()["error"]["message"] == "storm"
    for count in (4, 5):  # each ends with a probe, after the cooldown
        refusals = 0
        while (response := ask(world.port, data)).json()["error"]["message"] != "storm":
            assert_answered(OPENAI, response, 503, "upstream_unavailable", "Try again in 1 s")
            assert response.value("retry-after") == "1"
            refusals += 1
            time.sleep(0.02)
        assert refusals > 0
        assert len(world.one.requests) == count
    world.one.speak = answer()
    until(lambda: ask(world.port, data).status == 200, "a probe that succeeds")
    for _ in range(5):
        assert ask(world.port, data).status == 200
    assert len(world.one.requests) == 11


@every_way
def test_all_targets_down(world: World, way: Way) -> None:
    world.one.speak = world.two.speak = answer(status=500)
    for _ in range(5):
        response = ask(world.port, way.ask("down"))
    assert_answered(
        way, response, 503, "upstream_unavailable", "No upstream is available right now"
    )
    assert 1 <= int(response.value("retry-after")) <= 20
    before = (len(world.one.requests), len(world.two.requests))
    ask(world.port, way.ask("down"))
    assert (len(world.one.requests), len(world.two.requests)) == before


# Credentials


def credentials(upstream: Recorder) -> list[str]:
    """The credentials that an upstream received, in order."""
    return [value[-3:] for r in upstream.requests for value in r.values("authorization")]


def test_credentials_are_used_in_turn(world: World) -> None:
    for _ in range(6):
        assert ask(world.port, OPENAI.ask("turning")).status == 200
    assert sorted(credentials(world.one)[:2]) == ["k-1", "k-2"]
    assert credentials(world.one) == credentials(world.one)[:2] * 3


def only(good: str, status: int) -> Speak:
    """Accept a single credential."""

    def speak(received: ReceivedRequest, sock: socket.socket) -> None:
        fine = received.values("authorization") == [f"Bearer {good}"]
        answer(status=200 if fine else status)(received, sock)

    return speak


@pytest.mark.parametrize(("model", "status"), [("half", 401), ("limited", 429)])
def test_credential_that_fails_rests(world: World, model: str, status: int) -> None:
    world.one.speak = only("k-2", status)
    for _ in range(4):
        assert ask(world.port, OPENAI.ask(model)).status == 200
    assert credentials(world.one).count("k-1") == 1
    assert credentials(world.one).count("k-2") == 4


@every_way
def test_refused_credential_is_never_the_callers_fault(world: World, way: Way) -> None:
    for status in (401, 402, 403):
        world.one.speak = answer(b'{"error":{"message":"key-1 is wrong"}}', status=status)
        response = ask(world.port, way.ask("one"))
        words = f"refused this gateway's own credential ({status})"
        assert_answered(way, response, 502, "upstream_credentials", words, "false")
    assert len(world.one.requests) == 3


# The caller leaves


@every_way
def test_caller_leaves_before_the_first_byte(world: World, way: Way) -> None:
    world.one.speak = leaving = Leaving()
    wire = Wire(world.port)
    wire.send(way.ask("patient", stream=True))
    assert leaving.arrived.wait(PATIENCE)
    wire.close()
    assert leaving.is_left()


@every_way
def test_caller_leaves_before_the_first_content(world: World, way: Way) -> None:
    world.one.speak = leaving = Leaving(SSE, chunk(way.beginning))
    wire = Wire(world.port)
    wire.send(way.ask("patient", stream=True))
    assert leaving.arrived.wait(PATIENCE)
    time.sleep(0.1)
    wire.close()
    assert leaving.is_left()


@every_way
@pytest.mark.parametrize("model", ["patient", "calm"])
def test_caller_leaves_in_mid_stream(world: World, way: Way, model: str) -> None:
    world.one.speak = leaving = Leaving(SSE, chunk(way.content))
    wire = Wire(world.port)
    wire.send(way.ask(model, stream=True))
    assert wire.head()[0] == 200
    assert next(wire.pieces()) == way.content
    wire.close()
    assert leaving.is_left()


def test_caller_leaves_in_the_middle_of_a_binary_answer(world: World) -> None:
    world.one.speak = leaving = Leaving(BINARY, chunk(b"\x00"))
    wire = Wire(world.port)
    wire.send(request("/v1/audio/speech", SPEECH % b"patient", token=ALL))
    assert wire.head()[0] == 200
    assert next(wire.pieces()) == b"\x00"
    wire.close()
    assert leaving.is_left()


def test_caller_leaves_in_the_middle_of_an_error(world: World) -> None:
    world.one.speak = leaving = Leaving(b"HTTP/1.1 400 No\r\nContent-Length: 9\r\n\r\n{")
    wire = Wire(world.port)
    wire.send(OPENAI.ask("patient"))
    assert leaving.arrived.wait(PATIENCE)
    time.sleep(0.1)
    wire.close()
    assert leaving.is_left()


def test_caller_leaves_while_uploading(world: World) -> None:
    """No upstream is asked before the request is complete."""
    data = OPENAI.ask("one", more="x" * 3_000_000)
    for size in (len(data) // 2, len(data) - 1):
        with Wire(world.port) as wire:
            wire.send(data[:size])
    assert ask(world.port, OPENAI.ask("one")).status == 200
    assert (world.one.connections, len(world.one.requests)) == (1, 1)


def test_caller_leaves_while_the_upstream_takes_the_request(world: World) -> None:
    wire = Wire(world.port)
    wire.send(OPENAI.ask("deaf", more="x" * 20_000_000))
    assert DEAF.arrived.wait(PATIENCE)
    before = world.gateway.output().count("caller_left")
    wire.close()
    until(lambda: world.gateway.output().count("caller_left") > before, "the end of the request")
    DEAF.go_on.set()  # a gateway that had not closed the connection would send the rest
    assert DEAF.head_sizes.get(timeout=PATIENCE) < 20_000_000


def test_caller_leaves_during_the_backoff(world: World) -> None:
    world.one.speak = answer(b"{}", ("Retry-After: 1",), 429)
    with Wire(world.port) as wire:
        wire.send(OPENAI.ask("again"))
        until(lambda: world.one.requests, "the first attempt")
    time.sleep(1.2)
    assert len(world.one.requests) == 1


# The caller reads slowly


def resident(running: Running) -> int:
    """Resident memory of the worker, in bytes."""
    (pid,) = running.workers()
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    memory = next(line for line in lines if line.startswith("RssAnon:"))
    return int(memory.split()[1]) * 1024


class Pushing:
    """Sends a body as fast as the other side reads, and counts its bytes."""

    def __init__(self, head: bytes, piece: bytes, pieces: int) -> None:
        self._head, self._piece, self._count = head, chunk(piece), pieces
        self.pushed = 0

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        sock.sendall(self._head)
        for _ in range(self._count):
            sock.sendall(self._piece)
            self.pushed += len(self._piece)
        sock.sendall(END)


EVENT = event(
    {"choices": [{"index": 0, "delta": {"content": "x" * 60_000}, "finish_reason": "stop"}]}
)


@pytest.mark.parametrize(
    ("data", "head", "piece"),
    [
        (OPENAI.ask("patient", stream=True), SSE, EVENT),
        (request("/v1/audio/speech", SPEECH % b"patient", token=ALL), BINARY, bytes(60_000)),
    ],
    ids=["events", "binary"],
)
def test_slow_caller_slows_the_upstream(
    world: World, data: bytes, head: bytes, piece: bytes
) -> None:
    world.one.speak = Pushing(head, piece, 1000)
    with Wire(world.port) as wire:  # what a worker keeps of its first large answer is no growth
        wire.send(data)
        wire.head()
        assert sum(map(len, wire.pieces())) == 1000 * len(piece)
    world.one.speak = pushing = Pushing(head, piece, 1000)
    before = resident(world.gateway)
    with Wire(world.port) as wire:
        wire.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        wire.send(data)
        wire.head()
        until(lambda: pushing.pushed, "the beginning of the body")
        stopped_at, since = -1, time.monotonic()
        while time.monotonic() - since < 0.5:
            if pushing.pushed != stopped_at:
                stopped_at, since = pushing.pushed, time.monotonic()
            time.sleep(0.02)
        assert 0 < stopped_at < 750 * len(piece)  # the buffers of two sockets hold the rest
        assert resident(world.gateway) - before < 3_000_000
        size = 0
        for part in wire.pieces():
            size += len(part)
        assert size == 1000 * len(piece)
    assert resident(world.gateway) - before < 3_000_000


# Long and silent streams


@every_way
def test_silent_stream_has_a_heartbeat(world: World, way: Way) -> None:
    go_on = threading.Event()
    pause: Step = go_on if way.heartbeat else 0.25
    world.one.speak = script(SSE, chunk(way.content), pause, chunk(way.content), END)
    body = b""
    with Wire(world.port) as wire:
        wire.send(way.ask("calm", stream=True))
        assert wire.head()[0] == 200
        for piece in wire.pieces():
            body += piece
            if body.endswith(way.heartbeat * 2):
                go_on.set()
    assert body.startswith(way.content)
    assert body.endswith(way.content)
    between = body.removeprefix(way.content).removesuffix(way.content)
    assert between.replace(way.heartbeat or b" ", b"") == b""


@every_way
def test_heartbeat_does_not_keep_a_dead_stream_alive(world: World, way: Way) -> None:
    world.one.speak = script(SSE, chunk(way.content), STALL)
    started = time.monotonic()
    body, is_complete = stream_body(world, way.ask("calm-idle", stream=True))
    assert not is_complete
    assert time.monotonic() - started > 0.7
    document = json.loads(body.rpartition(b"data: ")[2])
    assert_error_object(way, document, 504, "upstream_timeout", "fell silent")


def test_no_heartbeat_falls_inside_an_event(world: World) -> None:
    half = len(OPENAI.content) // 2
    first, second = OPENAI.content[:half], OPENAI.content[half:]
    world.one.speak = script(SSE, chunk(OPENAI.content), chunk(first), 0.25, chunk(second), END)
    body, _ = stream_body(world, OPENAI.ask("calm", stream=True))
    assert body.replace(OPENAI.heartbeat, b"") == OPENAI.content * 2
    assert body.endswith(OPENAI.content)


@every_way
def test_long_stream_is_unbroken(world: World, way: Way) -> None:
    """200 events, each relayed at once: the upstream sends the next one after the caller has it."""
    turns = [threading.Event() for _ in range(200)]
    steps = [step for turn in turns for step in (chunk(way.content), turn)]
    world.one.speak = script(SSE, *steps, END)
    pieces: list[bytes] = []
    with Wire(world.port) as wire:
        wire.send(way.ask("patient", stream=True))
        assert wire.head()[0] == 200
        for piece, turn in zip(wire.pieces(), [*turns, turns[-1]], strict=False):
            pieces.append(piece)
            turn.set()
    assert pieces == [way.content] * 200
