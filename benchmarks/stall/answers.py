"""The large answers of the upstream, by the name of the model that a request asks for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

SIZE = 30_000_000
"""Bytes of an answer."""

_USAGE = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
TEXT = "The quick brown fox jumps over the lazy dog, again and again. "
_EVENT = (
    'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]}\n\n'
)


def small() -> bytes:
    return chat({"role": "assistant", "content": "Hello there, caller!"})


def chat(message: dict[str, Any]) -> bytes:
    """A completion with one message."""
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**head, "choices": [choice], "usage": _USAGE}).encode()


def anthropic(content: list[dict[str, Any]], stop_reason: str = "end_turn") -> bytes:
    """A message of Anthropic's."""
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
    usage = {"input_tokens": 5, "output_tokens": 5}
    tail = {"stop_reason": stop_reason, "stop_sequence": None, "usage": usage}
    return json.dumps({**head, "content": content, **tail}).encode()


def _text() -> str:
    return TEXT * (SIZE // len(TEXT))


def _images(size: int = SIZE) -> bytes:
    return json.dumps({"created": 1, "data": [{"b64_json": "QUJD" * (size // 4)}]}).encode()


def _embeddings() -> bytes:
    vector = [round(0.001 * number - 0.7681234, 9) for number in range(1536)]
    count = SIZE // 19_000
    data = [{"object": "embedding", "index": n, "embedding": vector} for n in range(count)]
    usage = {"prompt_tokens": 5, "total_tokens": 5}
    document = {"object": "list", "model": "m", "data": data, "usage": usage}
    return json.dumps(document).encode()


def _log_probabilities() -> bytes:
    token = {"token": "word", "logprob": -0.25, "bytes": [119, 111, 114, 100], "top_logprobs": []}
    message = json.loads(small())
    message["choices"][0]["logprobs"] = {"content": [token] * (SIZE // 90), "refusal": None}
    return json.dumps(message).encode()


def _tool_call() -> bytes:
    text = TEXT * (3_900_000 // len(TEXT))  # no more is translated
    block = {"type": "tool_use", "id": "toolu_1", "name": "write", "input": {"text": text}}
    return anthropic([block], "tool_use")


def _blocks() -> bytes:
    return anthropic([{"type": "text", "text": TEXT * 50}] * (SIZE // (len(TEXT) * 50 + 30)))


@cache
def _files() -> bytes:
    """The longest page of a list of files, 20 MB."""
    row = {"object": "file", "bytes": 120, "created_at": 1, "purpose": "user_data", "status": "ok"}
    more = {"filename": "a.txt", "status_details": TEXT * 28}
    rows = [{"id": f"file-{number:022}", **row, **more} for number in range(10_000)]
    first, last = rows[0]["id"], rows[-1]["id"]
    page = {"object": "list", "data": rows, "first_id": first, "last_id": last, "has_more": False}
    return json.dumps(page).encode()


@cache
def _tools(page: int) -> bytes:
    """A page of as many tools as a list has, and more: 300 of 1,200."""
    member = {"type": "string", "description": TEXT}
    schema = {"type": "object", "properties": {f"member_{each}": member for each in range(25)}}
    names = ("text", "longest", *(f"tool_{number}" for number in range(1_198)))
    tools = [
        {"name": name, "description": TEXT * 4, "inputSchema": schema}
        for name in names[page * 300 : page * 300 + 300]
    ]
    following = {"nextCursor": str(page + 1)} if page < 3 else {}
    return json.dumps({"tools": tools, **following, "ttlMs": 5_000}).encode()


def mcp_answer(body: bytes, tools: Callable[[], bytes] | None = None) -> bytes:
    """The answer of an MCP server to a message; `tools` makes its only page of tools."""
    message = json.loads(body)
    if tools is not None and message["method"] == "tools/list":
        return b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (message["id"], tools())
    return b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (message["id"], _mcp_result(message))


def _mcp_result(message: dict[str, Any]) -> bytes:
    method, name = message["method"], message["params"].get("name")
    if method == "server/discover":
        return b'{"supportedVersions":["2026-07-28"]}'
    if method == "tools/list":
        return _tools(int(message["params"].get("cursor", 0)))
    size = 50_000_000 if name == "text" else 950_000
    part = {"type": "text", "text": TEXT}
    return json.dumps({"content": [part] * (size // len(json.dumps(part)))}).encode()


def _object(kind: str, prefix: str) -> Callable[[], bytes]:
    document = {"id": f"{prefix}-0000000000000000000001", "object": kind, "created_at": 1}
    more = {"bytes": 5, "filename": "a.jsonl", "purpose": "batch", "name": "store"}
    return lambda: json.dumps({**document, **more}).encode()


BY_PATH: dict[str, Callable[[], bytes]] = {
    "/guard-large": lambda: b'{"action":"pass","reason":"%b"}' % (b"a" * 50_000_000),
    "/guard": lambda: b'{"action":"pass"}',
    "/v1/files": _files,
    "/v1/vector_stores": _object("vector_store", "vs"),
}
"""The body of the answer of each path that has one."""


ANSWERS: dict[str, Callable[[], bytes]] = {
    "gpt-text": lambda: chat({"role": "assistant", "content": _text()}),
    "gpt-logprobs": _log_probabilities,
    "claude-small": lambda: anthropic([{"type": "text", "text": "Hello there, caller!"}]),
    "claude-text": lambda: anthropic([{"type": "text", "text": _text()}]),
    "claude-tool": _tool_call,
    "claude-blocks": _blocks,
    "text-embedding-floats": _embeddings,
    "gpt-image-png": _images,
    "gpt-image-small": lambda: _images(7_900_000),
}
"""The body of each answer in one piece."""


def _stream(delta: str) -> bytes:
    return (_EVENT % f'{{"index":0,"delta":{delta},"finish_reason":null}}').encode()


def flood() -> Iterator[bytes]:
    """A stream of many events, as fast as the caller reads."""
    piece = _stream('{"content":"word "}') * 500
    for _ in range(SIZE // len(piece)):
        yield piece
    yield b"data: [DONE]\n\n"


def drops() -> Iterator[bytes]:
    """A stream of many events of some words."""
    piece = _stream(json.dumps({"content": TEXT * 5}))
    for _ in range(3_000_000 // len(piece)):
        yield piece
    yield b"data: [DONE]\n\n"


def one_event() -> Iterator[bytes]:
    """A stream whose only event is large."""
    yield _stream(json.dumps({"content": TEXT * (15_000_000 // len(TEXT))}))
    yield b"data: [DONE]\n\n"


def turn() -> Iterator[bytes]:
    """A small response of the Responses API."""
    output = [{"type": "message", "role": "assistant", "content": []}]
    response = {"id": "resp_1", "object": "response", "model": "m", "output": output}
    for kind in ("response.created", "response.completed"):
        event = json.dumps({"type": kind, "response": response})
        yield f"event: {kind}\ndata: {event}\n\n".encode()


STREAMS: dict[str, Callable[[], Iterator[bytes]]] = {
    "gpt-flood": flood,
    "gpt-drops": drops,
    "gpt-one-event": one_event,
    "gpt-turn": turn,
}
"""The events of each stream."""
