"""The kinds of large requests and answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.stall.bound_kinds import BOUND_KINDS
from benchmarks.stall.crowd_kinds import CROWD_KINDS
from benchmarks.stall.gateways import OBJECT_KEY
from benchmarks.stall.kept_kinds import KEPT_KINDS
from benchmarks.stall.kind import CHAT, FORM, NOT_LARGE, SIZE, Kind, chat, dumped, small
from benchmarks.stall.odd_kinds import ODD
from benchmarks.stall.shape_kinds import SHAPE_KINDS
from benchmarks.stall.socket_kinds import SOCKET_KINDS
from benchmarks.stall.wire_kinds import WIRE_KINDS
from engine.exchange.opened_ids import Holder
from engine.objects.sealed_ids import EVERYBODY, Identity, Sealer
from engine.relay.websocket.open_sessions import SessionLimits

_MAX_MESSAGE = SessionLimits().max_message
_WORDS = "Some words of a conversation that has gone on for days. "


def _messages(model: str = "gpt-4o", last: Any = "The end.", size: int = SIZE) -> bytes:
    """Many messages; `last` is the content of the last one."""
    turns = [{"role": role, "content": _WORDS * 3} for role in ("user", "assistant")]
    messages = turns * (size // 420)
    return dumped({"model": model, "messages": [*messages, {"role": "user", "content": last}]})


def _text(model: str = "gpt-4o") -> bytes:
    return chat(model, _WORDS * (SIZE // len(_WORDS)))


def _image(model: str = "gpt-4o", size: int = SIZE) -> bytes:
    url = "data:image/png;base64," + "QUJD" * (size // 4)
    return chat(model, [{"type": "image_url", "image_url": {"url": url}}])


def _parts(model: str = "gpt-4o") -> bytes:
    return chat(model, [{"type": "text", "text": _WORDS}] * (SIZE // 95))


def _tools(model: str = "gpt-4o", size: int = SIZE) -> bytes:
    member = {"type": "object", "properties": {"city": {"type": "string", "description": _WORDS}}}
    properties = {f"member_{number}": member for number in range(100)}
    parameters = {"type": "object", "properties": properties}
    function = {"name": "weather", "description": _WORDS, "parameters": parameters}
    tools = [
        {"type": "function", "function": {**function, "name": f"weather_{number}"}}
        for number in range(min(120, size // 13_000))
    ]
    return chat(model, "And in Oslo?", tools=tools)


def _input(value: Any, model: str = "text-embedding-3-small") -> Callable[[], bytes]:
    return lambda: dumped({"model": model, "input": value})


def _form() -> bytes:
    part = b'--b\r\ncontent-disposition: form-data; name="%s"\r\n\r\n%s\r\n'
    file = b'--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n%s\r\n'
    return part % (b"model", b"whisper-1") + file % (b"RIFF" * (SIZE // 4)) + b"--b--\r\n"


def _turn() -> bytes:
    """A message of the Responses API as large as it may be by default."""
    item = {"role": "user", "content": _WORDS * 3}
    items = [item] * (_MAX_MESSAGE * 19 // 20 // len(dumped(item)))
    return dumped({"type": "response.create", "model": "gpt-turn", "input": items, "store": False})


def _broken() -> bytes:
    return _messages()[:-1]


def _file(purpose: str, data: bytes) -> bytes:
    """The form that uploads a file."""
    field = b'--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\n%s\r\n'
    file = b'--b\r\ncontent-disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n%s\r\n'
    return field % purpose.encode() + file % data + b"--b--\r\n"


def _batch() -> bytes:
    """A file of requests."""
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": _WORDS * 10}]}
    request = {"custom_id": "", "method": "POST", "url": CHAT, "body": body}
    count = SIZE // 800
    lines = (dumped({**request, "custom_id": f"request {number}"}) for number in range(count))
    return _file("batch", b"\n".join(lines))


def _ids(count: int) -> Callable[[], bytes]:
    """A vector store of files, by their sealed ids."""

    def make() -> bytes:
        sealer, holder = Sealer([OBJECT_KEY], ["openai"]), Holder("openai", 0)
        ids = [
            sealer.seal(Identity(f"file-{number:022}", holder, EVERYBODY), "file")
            for number in range(count)
        ]
        return dumped({"name": "store", "file_ids": ids})

    return make


def _message(method: str, **params: Any) -> Callable[[], bytes]:
    """A message to an MCP server."""
    return lambda: dumped({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def _call(tool: str, **arguments: Any) -> Callable[[], bytes]:
    return _message("tools/call", name=tool, arguments=arguments)


def _session() -> bytes:
    """A message of a session as large as it may be."""
    event = {"type": "input_audio_buffer.append", "audio": ""}
    return dumped({**event, "audio": "QUJD" * ((_MAX_MESSAGE - 100) // 4)})


KINDS = (
    Kind("messages", CHAT, _messages),
    Kind("one text", CHAT, _text),
    Kind("an image", CHAT, _image),
    Kind("parts of a message", CHAT, _parts),
    Kind("schemas of tools", CHAT, _tools),
    Kind("texts to embed", "/v1/embeddings", _input([_WORDS] * (SIZE // 60))),
    Kind("tokens to embed", "/v1/embeddings", _input([[*range(10_000, 11_000)]] * 2_000)),
    Kind("a file", "/v1/audio/transcriptions", _form, media_type=FORM),
    Kind("a mistake at the end", CHAT, lambda: _messages(last=17), status=400),
    Kind(
        "a mistake at the end, not large",
        CHAT,
        lambda: _messages(last=17, size=NOT_LARGE),
        status=400,
    ),
    Kind("JSON that breaks off", CHAT, _broken, status=400),
    Kind("messages, judged", CHAT, _messages, gateway="judged"),
    Kind("one text, judged", CHAT, _text, gateway="judged"),
    Kind("messages, translated", CHAT, lambda: _messages("claude-small")),
    Kind("an image, translated", CHAT, lambda: _image("claude-small")),
    Kind("schemas, translated", CHAT, lambda: _tools("claude-small")),
    Kind("messages, not large", CHAT, lambda: _messages(size=NOT_LARGE)),
    Kind("messages, not large, judged", CHAT, lambda: _messages(size=NOT_LARGE), gateway="judged"),
    Kind(
        "messages, not large, translated",
        CHAT,
        lambda: _messages("claude-small", size=NOT_LARGE),
    ),
    Kind("schemas, not large, translated", CHAT, lambda: _tools("claude-small", size=NOT_LARGE)),
    Kind("answer: text", CHAT, small("gpt-text")),
    Kind("answer: log probabilities", CHAT, small("gpt-logprobs")),
    Kind("answer: embeddings", "/v1/embeddings", _input("x", "text-embedding-floats")),
    Kind(
        "answer: image",
        "/v1/images/generations",
        lambda: dumped({"model": "gpt-image-png", "prompt": "x"}),
    ),
    Kind("answer: text, edited", CHAT, small("gpt-text"), gateway="judged"),
    Kind("answer: text, translated", CHAT, small("claude-text")),
    Kind("answer: tool call, translated", CHAT, small("claude-tool")),
    Kind("answer: blocks, translated", CHAT, small("claude-blocks")),
    Kind("answer: many events", CHAT, small("gpt-flood", stream=True)),
    Kind("answer: one event", CHAT, small("gpt-one-event", stream=True)),
    Kind("a conversation over a WebSocket", "/v1/responses", _turn, status=101),
    Kind("messages, guarded", CHAT, lambda: _messages(size=SIZE // 5), "guarded"),
    Kind("messages, not large, guarded", CHAT, lambda: _messages(size=NOT_LARGE), "guarded"),
    Kind("answer: text, guarded", CHAT, small("gpt-text"), "guarded"),
    Kind(
        "answer: embeddings, guarded",
        "/v1/embeddings",
        _input("x", "text-embedding-floats"),
        "guarded",
    ),
    Kind("answer: many events, guarded", CHAT, small("gpt-drops", stream=True), "guarded"),
    Kind("answer: one event, guarded", CHAT, small("gpt-one-event", stream=True), "guarded"),
    Kind("messages, by size", CHAT, lambda: _messages("gpt-by-size"), "wide"),
    Kind(
        "messages, not large, by size",
        CHAT,
        lambda: _messages("gpt-by-size", size=NOT_LARGE),
        "wide",
    ),
    Kind("an image, not large, by size", CHAT, lambda: _image("gpt-by-size", NOT_LARGE), "wide"),
    Kind(
        "messages, not large, mirrored",
        CHAT,
        lambda: _messages("gpt-mirrored", size=NOT_LARGE),
        "wide",
    ),
    Kind(
        "a file that passes",
        "/v1/files",
        lambda: _file("user_data", b"a" * SIZE),
        "wide",
        200,
        FORM,
    ),
    Kind("a batch", "/v1/files", _batch, "wide", 200, FORM),
    Kind("10,000 ids", "/v1/vector_stores", _ids(10_000), "wide"),
    Kind("ids, not large", "/v1/vector_stores", _ids(1_200), "wide"),
    Kind("answer: list of files", "/v1/files", bytes, "wide", method="GET"),
    Kind("answer: tools", "/mcp/far", _message("tools/list"), "wide"),
    Kind("answer: call of a tool", "/mcp/far", _call("far_text"), "wide"),
    Kind("answer: longest call of a tool", "/mcp/far", _call("far_longest"), "wide"),
    Kind("answer: call of an operation", "/mcp/files", _call("listFiles"), "wide"),
    Kind(
        "answer: call of a model",
        "/mcp/models",
        _call("chat", prompt="x", model="gpt-text"),
        "wide",
    ),
    Kind(
        "answer: image by a call",
        "/mcp/models",
        _call("generate_image", prompt="x", model="gpt-image-small"),
        "wide",
    ),
    Kind("a message of a session", "/v1/realtime?model=gpt-realtime", _session, status=101),
    *ODD,
    *WIRE_KINDS,
    *KEPT_KINDS,
    *SOCKET_KINDS,
    *CROWD_KINDS,
    *SHAPE_KINDS,
    *BOUND_KINDS,
)

MANY = Kind("an image of 10 MB", CHAT, lambda: _image(size=10_000_000))
"""What is sent many times."""
