"""Counts the objects that only the cyclic garbage collector frees after a request, for each way in
which a request can end.

    python -m tests.support.garbage

prints JSON {way: [outcome of the request, objects]}. A worker with all features, its callers and
its upstreams are in one process. Garbage in cycles stays in memory until the collector runs.
"""

from __future__ import annotations

import socket
from typing import Any

_REFUSES = 1
"""A port of this machine on which nobody listens."""
_lookup = socket.getaddrinfo


def _addresses(host: str, port: int, *options: Any, **more: Any) -> Any:
    """Two addresses for a name under .test: the first refuses, for nowhere.test both refuse."""
    if not host.endswith(".test"):
        return _lookup(host, port, *options, **more)
    kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
    ports = [_REFUSES, port] if host == "second.test" else [_REFUSES, _REFUSES + 1]
    return [(*kind, ("127.0.0.1", each)) for each in ports]


setattr(socket, "getaddrinfo", _addresses)  # noqa: B010

from gevent import monkey  # noqa: E402

monkey.patch_all()

import gc  # noqa: E402
import json  # noqa: E402
import logging  # noqa: E402
import os  # noqa: E402
import tempfile  # noqa: E402
from collections.abc import Mapping  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import NamedTuple  # noqa: E402

import gevent  # noqa: E402
import orjson  # noqa: E402

from benchmarks.counts.house import CONFIG, TOKEN, House  # noqa: E402
from engine.exchange.exchange import RequestRecord  # noqa: E402
from engine.upstream.client.dial_order import DialOrder  # noqa: E402
from tests.support.peer import CLOSE, RESET, Peer, Step, read_request, reset, serving  # noqa: E402
from tests.support.waiting import PATIENCE  # noqa: E402

_MORE = """\
  first-byte:
    url: http://127.0.0.1:{port}/v1
    dialect: openai
    timeouts: {{first_byte: 200ms}}
    breaker: {{failures: 1000000, cooldown: 30s}}
  idle:
    url: http://127.0.0.1:{port}/v1
    dialect: openai
    timeouts: {{idle: 200ms}}
    breaker: {{failures: 1000000, cooldown: 30s}}
  second: {{url: "http://second.test:{port}/v1", dialect: openai}}
  nowhere:
    url: http://nowhere.test:{port}/v1
    dialect: openai
    breaker: {{failures: 1000000, cooldown: 30s}}
  anthropic:
    url: http://127.0.0.1:{port}/v1
    dialect: anthropic
    breaker: {{failures: 1000000, cooldown: 30s}}
  gemini:
    url: http://127.0.0.1:{port}/v1beta
    dialect: gemini
    breaker: {{failures: 1000000, cooldown: 30s}}
models:
  claude: {{to: [{{upstream: anthropic}}]}}
  either: {{to: [{{upstream: anthropic}}, {{upstream: gemini}}]}}
  first-byte: {{to: [{{upstream: first-byte}}]}}
  idle: {{to: [{{upstream: idle}}]}}
  second: {{to: [{{upstream: second}}]}}
  nowhere: {{to: [{{upstream: nowhere}}]}}
"""
_CONFIG = (
    CONFIG.replace("failures: 5", "failures: 1000000")
    .replace("models: {{gpt-4o:", _MORE + "  gpt-4o:")
    .replace("{{to: [{{upstream: up}}]}}}}", "{{to: [{{upstream: up}}]}}")
)
_WAIT = "wait"
_STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)
_HI_EVENT = b'data: {"choices":[{"text":"hi"}]}\n\n'
_EVENT = b"%x\r\n%b\r\n" % (len(_HI_EVENT), _HI_EVENT)
_JSON = b'{"choices":[{"text":"hi"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}'
_MESSAGE = (
    b'{"id":"m","type":"message","role":"assistant","model":"c","stop_sequence":null,'
    b'"content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn",'
    b'"usage":{"input_tokens":1,"output_tokens":1}}'
)


def _head(body: bytes) -> bytes:
    length = b"Content-Length: %d" % len(body)
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%b\r\n\r\n" % length


def _chunks(*documents: str) -> list[Step]:
    """Events of a stream, named by their types."""
    events = []
    for document in documents:
        name = json.loads(document)["type"]
        events.append(f"event: {name}\ndata: {document}\n\n".encode())
    return [b"%x\r\n%b\r\n" % (len(event), event) for event in events]


_HEAD = _head(_JSON)
_MESSAGE_START = _chunks(
    '{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"c",'
    '"content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}',
    '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}',
)
_MESSAGE_END = _chunks(
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}',
    '{"type":"message_stop"}',
)


class Way(NamedTuple):
    """A way to end: the steps of the upstream, the model, and what the caller does. `members` of
    the body replace those of an ordinary one."""

    steps: list[Step]
    model: str = "gpt-4o"
    leaves: bool = False
    token: str = TOKEN
    request: bytes = b""
    members: Mapping[str, Any] = {}  # noqa: RUF012


WAYS = {
    "answered": Way([_HEAD + _JSON]),
    "streamed": Way([_STREAM, _EVENT, b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"]),
    "refused in half": Way([b"HTTP/1.1 500 Oh\r\nContent-Length: 9\r\n\r\n{}", CLOSE]),
    "refused by the upstream": Way([b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\n{}"]),
    "unanswered": Way([CLOSE]),  # first over the connection that the last one has left open
    "reset": Way([RESET]),
    "late": Way([_WAIT], model="first-byte"),
    "answered in no HTTP": Way([b"nonsense\r\n\r\n"]),
    "answered in half": Way([_HEAD + _JSON[:24], CLOSE]),
    "answered in no answer": Way([_HEAD + _JSON[:9], CLOSE]),
    "cut": Way([_STREAM, _EVENT, CLOSE]),
    "stalled": Way([_STREAM, _EVENT, _WAIT], model="idle"),
    "left before the answer": Way([_WAIT], leaves=True),
    "left in the answer": Way([_STREAM, _EVENT, _WAIT], leaves=True),
    "at the second address": Way([_HEAD + _JSON, CLOSE], model="second"),
    "at no address": Way([], model="nowhere"),
    "without a token": Way([], token="mw-wrong"),
    "asked in no HTTP": Way([], request=b"nonsense\r\n\r\n"),
    "asked for no model": Way([], model="nothing"),
    "asked against the document": Way([], members={"messages": 1}),
    "translated": Way([_head(_MESSAGE) + _MESSAGE], model="claude"),
    "translated as a stream": Way(
        [_STREAM, *_MESSAGE_START, *_MESSAGE_END, b"0\r\n\r\n"], model="claude"
    ),
    "translated and cut": Way([_STREAM, *_MESSAGE_START, CLOSE], model="claude"),
    "translated for the second target": Way([CLOSE], model="either", members={"n": 2}),
    "translated from no answer": Way([_head(b"[]") + b"[]"], model="claude"),
    "not to be translated": Way([], model="claude", members={"unknown": 1}),
    "not to be read": Way([], model="claude", members={"messages": [{"role": "x"}]}),
}
_TIMES = 3


class _Stage:
    """The worker, its upstream and its caller."""

    def __init__(self, folder: Path) -> None:
        self.way = WAYS["answered"]
        self.house: Any = None
        self.outcomes: list[str] = []
        self._folder = folder

    def open(self, port: int) -> None:
        self.house = House(self._folder, port, _CONFIG)
        close = RequestRecord.close

        def close_and_note(record: RequestRecord, now: float) -> None:
            close(record, now)
            self.outcomes.append(record.outcome)

        setattr(RequestRecord, "close", close_and_note)  # noqa: B010
        # An address that refused is tried again, in turn with the other one.
        setattr(DialOrder, "refused", lambda order, address: None)  # noqa: B010

    def answer(self, sock: Any, peer: Peer) -> None:
        """Answer as the upstream."""
        while read_request(sock):
            for step in self.way.steps:
                if step == CLOSE:
                    sock.close()
                    return
                if step == RESET:
                    reset(sock)
                    return
                if step == _WAIT:
                    sock.recv(1)  # until the gateway leaves
                    return
                sock.sendall(step)

    def play(self) -> str:
        """Send a request as the caller, and wait until it is over; its outcome."""
        way, caller, before = self.way, self.house.connect(), len(self.outcomes)
        message = {"role": "user", "content": "hi"}
        stream = _STREAM in way.steps
        members = {"model": way.model, "stream": stream, "messages": [message], **way.members}
        body = orjson.dumps(members)
        caller.sendall(
            way.request
            or b"POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n"
            b"Content-Type: application/json\r\nAuthorization: Bearer %b\r\n"
            b"Content-Length: %d\r\n\r\n%b"
            % (way.token.encode(), len(body), body)
        )
        if way.leaves:
            gevent.sleep(0.05)
            caller.close()
        with gevent.Timeout(PATIENCE):
            while len(self.outcomes) == before:
                gevent.sleep(0.005)
        caller.close()
        return self.outcomes[-1]

    def garbage(self, way: Way) -> tuple[str, int]:
        """The outcome of a way, and the number of objects that the collector frees after it."""
        self.way = way
        gc.collect()
        (outcome,) = {self.play() for _ in range(_TIMES)}
        gevent.sleep(0.05)  # callbacks that run after the end
        return outcome, gc.collect()


def main() -> None:
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        stage = _Stage(Path(folder))
        with serving(stage.answer) as peer:
            stage.open(peer.port)
            gc.disable()
            for way in WAYS.values():  # caches that the first request fills
                stage.garbage(way)
            print(json.dumps({name: stage.garbage(way) for name, way in WAYS.items()}), flush=True)
        stage.house.close()
    os._exit(0)


if __name__ == "__main__":
    main()
