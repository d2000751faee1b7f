"""Failing upstreams and raw callers, for each chat language."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.support.recording import PATIENCE, Headers, ReceivedRequest, Speak, Wire, answer, request
from tests.support.running import ALL
from tests.support.scripted import CLOSE, RESET, script
from tests.support.translations import CASES, event_data

TEXT = "Hello there."
"""The text of the vendors' answers; its first event has `Hello`."""

OTHER = {
    "chat_completions": "messages",
    "messages": "chat_completions",
    "responses": "generate_content",
    "generate_content": "responses",
}
"""A language that an upstream of another answers in by mistake."""

_JSON = ("Content-Type: application/json",)
_EVENTS = ("Content-Type: text/event-stream",)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_END = b"0\r\n\r\n"


# Callers.


@dataclass(frozen=True)
class Reply:
    """The response that a caller got; `cut`: the connection ended inside the body."""

    status: int
    headers: Headers
    body: bytes
    cut: bool

    def value(self, name: str) -> str | None:
        return dict(self.headers).get(name)


_PATHS = {
    "chat_completions": "/v1/chat/completions",
    "responses": "/v1/responses",
    "messages": "/v1/messages",
}
_END_MARKS = {
    "chat_completions": b"data: [DONE]",
    "responses": b"event: response.completed",
    "messages": b"event: message_stop",
    "generate_content": b'"finishReason"',
}


@dataclass(frozen=True)
class RawCaller:
    """A caller of a language that sends and reads bytes."""

    language: str

    def pieces(self, port: int, model: str) -> Iterator[bytes]:
        """The pieces of a streamed reply as they arrive."""
        with Wire(port) as wire:
            wire.send(self._request(model, True, {}))
            status, _ = wire.head()
            assert status == 200
            yield from wire.pieces()

    def ask(self, port: int, model: str, *, stream: bool, **more: Any) -> Reply:
        """The reply to a question."""
        with Wire(port) as wire:
            wire.send(self._request(model, stream, more))
            status, headers = wire.head()
            fields = dict(headers)
            if fields.get("transfer-encoding") != "chunked":
                length = int(fields["content-length"])
                body = wire.body(length)
                return Reply(status, headers, body, len(body) < length)
            body, cut = _until_the_end(wire.pieces())
            return Reply(status, headers, body, cut)

    def _request(self, model: str, stream: bool, more: dict[str, Any]) -> bytes:
        body: dict[str, Any] = {"model": model, "stream": stream, **more}
        path = _PATHS.get(self.language, "")
        if self.language == "generate_content":
            verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
            path = f"/v1beta/models/{model}:{verb}"
            body = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], **more}
        elif self.language == "responses":
            body |= {"input": "Hi", "store": False}
        else:
            body["messages"] = [{"role": "user", "content": "Hi"}]
        if self.language == "messages":
            body["max_tokens"] = 99
        return request(path, json.dumps(body).encode(), token=ALL)

    def text(self, reply: Reply, *, stream: bool) -> str:
        """The text of an answer."""
        documents = _documents(reply.body) if stream else [json.loads(reply.body)]
        text_of = self._event_text if stream else self._answer_text
        return "".join(filter(None, map(text_of, documents)))

    def _event_text(self, event: dict[str, Any]) -> str | None:
        if self.language == "chat_completions":
            return "".join(c["delta"].get("content") or "" for c in event.get("choices", ()))
        if self.language == "responses":
            return event["delta"] if event.get("type") == "response.output_text.delta" else ""
        if self.language == "messages":
            delta = event.get("delta", {})
            return delta["text"] if delta.get("type") == "text_delta" else ""
        return self._answer_text(event)

    def _answer_text(self, answer: dict[str, Any]) -> str:
        if self.language == "chat_completions":
            return str(answer["choices"][0]["message"]["content"])
        if self.language == "responses":
            return "".join(p["text"] for item in answer["output"] for p in item["content"])
        if self.language == "messages":
            return "".join(block["text"] for block in answer["content"])
        parts = [p for c in answer.get("candidates", ()) for p in c["content"]["parts"]]
        return "".join(part.get("text", "") for part in parts)

    def ends(self, reply: Reply) -> int:
        """How many end marks a stream has."""
        return reply.body.count(_END_MARKS[self.language])

    def error(self, document: Any) -> tuple[str, str, int | None]:
        """Message, type and status of an error. AssertionError for another language's shape."""
        error = document["error"]
        if self.language == "messages":
            assert document["type"] == "error"
            assert document["request_id"].startswith("req_")
        if self.language == "generate_content":
            assert type(error["code"]) is int
            return error["message"], error["status"], error["code"]
        assert isinstance(error["code"], str)
        return error["message"], error["type"], None

    def errors(self, reply: Reply) -> list[tuple[str, str, int | None]]:
        """The errors in a stream, of which only the last event may be one."""
        documents = _documents(reply.body)
        errors = [document for document in documents if "error" in document]
        assert errors in ([], documents[-1:])
        return [self.error(document) for document in errors]


def _until_the_end(pieces: Iterable[bytes]) -> tuple[bytes, bool]:
    received: list[bytes] = []
    try:
        received.extend(pieces)  # keeps what came before the end
    except (EOFError, ConnectionResetError):
        return b"".join(received), True
    return b"".join(received), False


def _documents(stream: bytes) -> list[dict[str, Any]]:
    return [json.loads(data) for data in event_data(stream) if data != b"[DONE]"]


# Upstreams.


def body_of(language: str) -> bytes:
    """A vendor's answer in one piece."""
    return (CASES / language / "upstream" / "text.json").read_bytes()


def events(language: str) -> list[bytes]:
    """A vendor's events."""
    text = (CASES / language / "upstream" / "text.sse").read_bytes()
    return [event + b"\n\n" for event in text.split(b"\n\n") if event.strip()]


def beginning(language: str) -> list[bytes]:
    """A vendor's events up to the first text."""
    all_events = events(language)
    first = next(at for at, event in enumerate(all_events) if b'"Hello"' in event)
    return all_events[: first + 1]


def stream(*parts: bytes, end: bytes = _END, ending: str = "") -> Speak:
    """A streamed answer; without `end` its body is not complete."""
    return script(_HEAD + _chunks(parts) + end, *([ending] if ending else []))


def _chunks(parts: Iterable[bytes]) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)


class Paced:
    """A vendor's stream that pauses after its first text until `go_on` is set."""

    def __init__(self, language: str) -> None:
        self.go_on = threading.Event()
        self._language = language

    def __call__(self, received: ReceivedRequest, sock: socket.socket) -> None:
        before = beginning(self._language)
        rest = events(self._language)[len(before) :]
        sock.sendall(_HEAD + _chunks(before))
        self.go_on.wait(PATIENCE)
        sock.sendall(_chunks(rest) + _END)


def event(document: Any) -> bytes:
    """An event, named by its type where it has one."""
    kind = document.get("type")
    name = f"event: {kind}\n" if kind else ""
    return f"{name}data: {json.dumps(document)}\n\n".encode()


Fault = Callable[[str], Speak]
"""How an upstream of a language answers."""

NOT_ITS_FORMAT: dict[str, Fault] = {
    "HTML": lambda language: answer(b"<html>busy</html>", ("Content-Type: text/html",)),
    "HTML as JSON": lambda language: answer(b"<html>busy</html>", _JSON),
    "HTML as events": lambda language: answer(b"<html>busy</html>\n\n", _EVENTS),
    "JSON of another language": lambda language: answer(body_of(OTHER[language]), _JSON),
    "events of another language": lambda language: stream(*events(OTHER[language])),
    "JSON of no language": lambda language: answer(b'{"ok":true}', _JSON),
    "a number": lambda language: answer(b"7", _JSON),
    "half a JSON": lambda language: answer(body_of(language)[:100], _JSON),
    "deep JSON": lambda language: answer(b"[" * 100_000, _JSON),
    "nothing": lambda language: answer(b"", _JSON),
    "no events": lambda language: stream(),
    "an unknown coding": lambda language: answer(
        body_of(language), (*_JSON, "Content-Encoding: br")
    ),
    "a broken coding": lambda language: answer(
        body_of(language), (*_JSON, "Content-Encoding: gzip")
    ),
}
"""Invalid answers with status 200."""

_DISORDER: dict[str, Any] = {
    "chat_completions": {"choices": [{"index": 4_000, "delta": {"content": "x"}}]},
    "responses": {
        "type": "response.content_part.added",
        "part": {"type": "output_text", "text": ""},
    },
    "messages": {"type": "content_block_delta", "index": 7, "delta": {"type": "text_delta"}},
    "generate_content": {"candidates": [{"index": 4_000}]},
}

BREAKING_OFF: dict[str, Fault] = {
    "cut": lambda language: stream(*beginning(language), end=b"", ending=CLOSE),
    "reset": lambda language: stream(*beginning(language), end=b"", ending=RESET),
    "a clean end without the last event": lambda language: stream(*beginning(language)),
    "half an event": lambda language: stream(*beginning(language), b'data: {"x": [1, 2'),
    "events out of order": lambda language: stream(
        *beginning(language), event(_DISORDER[language]), *events(language)
    ),
    "a value of another type": lambda language: stream(
        *beginning(language), b'data: {"choices":7,"candidates":7,"type":7}\n\n'
    ),
    "no UTF-8": lambda language: stream(*beginning(language), b'data: {"id":"\xff"}\n\n'),
    "HTML": lambda language: stream(*beginning(language), b"<html>busy</html>\n\n"),
}
"""Streams that break off after `Hello`."""

_GZIP = "Content-Encoding: gzip"

COMPLETE: dict[str, Fault] = {
    "a finish reason twice": lambda language: stream(*_with_two_finishes(language)),
    "gzip as events": lambda language: answer(
        gzip.compress(b"".join(events(language))), (*_EVENTS, _GZIP)
    ),
    "gzip as JSON": lambda language: answer(gzip.compress(body_of(language)), (*_JSON, _GZIP)),
    "events": lambda language: stream(*events(language)),
    "in one piece": lambda language: answer(body_of(language), _JSON),
    "byte by byte": lambda language: stream(
        *(bytes([byte]) for byte in b"".join(events(language)))
    ),
    "CRLF": lambda language: stream(b"".join(events(language)).replace(b"\n", b"\r\n")),
    "comments": lambda language: stream(b": hi\n\n".join([b"", *events(language)])),
}
"""Unusual answers that are complete."""


def _with_two_finishes(language: str) -> list[bytes]:
    all_events = events(language)
    if language == "messages":
        return [*all_events[:-1], *all_events[-2:]]
    if language == "generate_content":
        late = {"candidates": [{"index": 0, "finishReason": "MAX_TOKENS"}]}
        return [*all_events, event(late)]
    if language == "chat_completions":
        return [*all_events[:-2], all_events[-3], *all_events[-2:]]
    return [*all_events, all_events[-1]]


_ERRORS: dict[str, Any] = {
    "chat_completions": {"error": {"message": "too fast", "type": "rate_limit_error"}},
    "responses": {
        "type": "error",
        "code": "rate_limit_exceeded",
        "message": "too fast",
        "param": None,
    },
    "messages": {"type": "error", "error": {"type": "rate_limit_error", "message": "too fast"}},
    "generate_content": {
        "error": {"code": 429, "message": "too fast", "status": "RESOURCE_EXHAUSTED"}
    },
}


_BUSY: dict[str, Any] = {
    "chat_completions": {"error": {"message": "busy", "type": "x", "code": 503}},
    "responses": {"type": "error", "code": "server_is_overloaded", "message": "busy"},
    "messages": {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
    "generate_content": {"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}},
}


def failing(language: str, *before: bytes) -> Speak:
    """A stream that reports a rate limit, 429, after these events."""
    return stream(*before, event(_ERRORS[language]))


def overloaded(language: str) -> Speak:
    """A stream that begins with an error whose status is 503."""
    return stream(event(_BUSY[language]))


def refusing(language: str, status: int, *headers: str) -> Speak:
    """An error response of a vendor."""
    errors: dict[str, Any] = {
        "messages": {"type": "error", "error": {"type": "x_error", "message": "not so"}},
        "generate_content": {"error": {"code": status, "message": "not so", "status": "X"}},
    }
    error = errors.get(language, {"error": {"message": "not so", "type": "x", "code": None}})
    return answer(json.dumps(error).encode(), (*_JSON, *headers), status)


def calling(language: str, arguments: str) -> Speak:
    """A stream with a call of `look` that has these arguments, of any text."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look"}
    response = {"id": "r", "model": "m", "status": "completed", "output": []}
    delta = "response.function_call_arguments.delta"
    call = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": arguments}}
    block = {"type": "tool_use", "id": "c1", "name": "look", "input": {}}
    piece = {"type": "input_json_delta", "partial_json": arguments}
    function_call = {"name": "look", "args": arguments}
    documents: dict[str, list[Any]] = {
        "chat_completions": [
            {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        ],
        "responses": [
            {"type": "response.created", "response": response},
            {"type": "response.output_item.added", "item": {**item, "arguments": ""}},
            {"type": delta, "item_id": "fc_1", "delta": arguments},
            {"type": "response.output_item.done", "item": {**item, "arguments": arguments}},
            {"type": "response.completed", "response": response},
        ],
        "messages": [
            {"type": "message_start", "message": {"id": "1", "model": "m"}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": piece},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        ],
        "generate_content": [
            {"candidates": [{"content": {"parts": [{"functionCall": function_call}]}}]},
            {"candidates": [{"finishReason": "STOP"}]},
        ],
    }
    return stream(*map(event, documents[language]))
