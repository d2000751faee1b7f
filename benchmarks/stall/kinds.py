"""The kinds of large requests and answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from engine.config.keys import default
from engine.relay.websocket.session import SessionLimits

SIZE = 20_000_000
"""Bytes of a request's body."""

_NOT_LARGE = default("server.heavy.above") * 19 // 20
"""Bytes of a request that is just not passed to a heavy worker."""

_MAX_MESSAGE = SessionLimits().max_message
_WORDS = "Some words of a conversation that has gone on for days. "
CHAT = "/v1/chat/completions"


class Kind(NamedTuple):
    """A request by its name: where it goes, its body, the media type of that, and the status of its
    answer. `judged` requests go to the gateway with `deny` and transforms. Of a `socket` the body
    is a message over a WebSocket, which a small one continues."""

    name: str
    path: str
    body: Callable[[], bytes]
    judged: bool = False
    status: int = 200
    media_type: str = "application/json"
    socket: bool = False


def _dumped(document: Any) -> bytes:
    return json.dumps(document).encode()


def _chat(model: str, content: Any, **more: Any) -> bytes:
    return _dumped({"model": model, "messages": [{"role": "user", "content": content}], **more})


def _messages(model: str = "gpt-4o", last: Any = "The end.", size: int = SIZE) -> bytes:
    """Many messages; `last` is the content of the last one."""
    turns = [{"role": role, "content": _WORDS * 3} for role in ("user", "assistant")]
    messages = turns * (size // 420)
    return _dumped({"model": model, "messages": [*messages, {"role": "user", "content": last}]})


def _text(model: str = "gpt-4o") -> bytes:
    return _chat(model, _WORDS * (SIZE // len(_WORDS)))


def _image(model: str = "gpt-4o", size: int = SIZE) -> bytes:
    url = "data:image/png;base64," + "QUJD" * (size // 4)
    return _chat(model, [{"type": "image_url", "image_url": {"url": url}}])


def _parts(model: str = "gpt-4o") -> bytes:
    return _chat(model, [{"type": "text", "text": _WORDS}] * (SIZE // 95))


def _tools(model: str = "gpt-4o", size: int = SIZE) -> bytes:
    member = {"type": "object", "properties": {"city": {"type": "string", "description": _WORDS}}}
    properties = {f"member_{number}": member for number in range(100)}
    parameters = {"type": "object", "properties": properties}
    function = {"name": "weather", "description": _WORDS, "parameters": parameters}
    tools = [
        {"type": "function", "function": {**function, "name": f"weather_{number}"}}
        for number in range(min(120, size // 13_000))
    ]
    return _chat(model, "And in Oslo?", tools=tools)


def _input(value: Any, model: str = "text-embedding-3-small") -> Callable[[], bytes]:
    return lambda: _dumped({"model": model, "input": value})


def _form() -> bytes:
    part = b'--b\r\ncontent-disposition: form-data; name="%s"\r\n\r\n%s\r\n'
    file = b'--b\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\n\r\n%s\r\n'
    return part % (b"model", b"whisper-1") + file % (b"RIFF" * (SIZE // 4)) + b"--b--\r\n"


def _turn() -> bytes:
    """A message of the Responses API as large as it may be by default."""
    item = {"role": "user", "content": _WORDS * 3}
    items = [item] * (_MAX_MESSAGE * 19 // 20 // len(_dumped(item)))
    return _dumped({"type": "response.create", "model": "gpt-turn", "input": items, "store": False})


def _broken() -> bytes:
    return _messages()[:-1]


def _small(model: str, **more: Any) -> Callable[[], bytes]:
    return lambda: _chat(model, "Hello!", **more)


KINDS = (
    Kind("messages", CHAT, _messages),
    Kind("one text", CHAT, _text),
    Kind("an image", CHAT, _image),
    Kind("parts of a message", CHAT, _parts),
    Kind("schemas of tools", CHAT, _tools),
    Kind("texts to embed", "/v1/embeddings", _input([_WORDS] * (SIZE // 60))),
    Kind("tokens to embed", "/v1/embeddings", _input([[*range(10_000, 11_000)]] * 2_000)),
    Kind("a file", "/v1/audio/transcriptions", _form, media_type="multipart/form-data; boundary=b"),
    Kind("a mistake at the end", CHAT, lambda: _messages(last=17), status=400),
    Kind("JSON that breaks off", CHAT, _broken, status=400),
    Kind("messages, judged", CHAT, _messages, judged=True),
    Kind("one text, judged", CHAT, _text, judged=True),
    Kind("messages, translated", CHAT, lambda: _messages("claude-small")),
    Kind("an image, translated", CHAT, lambda: _image("claude-small")),
    Kind("schemas, translated", CHAT, lambda: _tools("claude-small")),
    Kind("messages, not large", CHAT, lambda: _messages(size=_NOT_LARGE)),
    Kind("messages, not large, judged", CHAT, lambda: _messages(size=_NOT_LARGE), judged=True),
    Kind(
        "messages, not large, translated",
        CHAT,
        lambda: _messages("claude-small", size=_NOT_LARGE),
    ),
    Kind("schemas, not large, translated", CHAT, lambda: _tools("claude-small", size=_NOT_LARGE)),
    Kind("answer: text", CHAT, _small("gpt-text")),
    Kind("answer: log probabilities", CHAT, _small("gpt-logprobs")),
    Kind("answer: embeddings", "/v1/embeddings", _input("x", "text-embedding-floats")),
    Kind(
        "answer: image",
        "/v1/images/generations",
        lambda: _dumped({"model": "gpt-image-png", "prompt": "x"}),
    ),
    Kind("answer: text, edited", CHAT, _small("gpt-text"), judged=True),
    Kind("answer: text, translated", CHAT, _small("claude-text")),
    Kind("answer: tool call, translated", CHAT, _small("claude-tool")),
    Kind("answer: blocks, translated", CHAT, _small("claude-blocks")),
    Kind("answer: many events", CHAT, _small("gpt-flood", stream=True)),
    Kind("answer: one event", CHAT, _small("gpt-one-event", stream=True)),
    Kind("a conversation over a WebSocket", "/v1/responses", _turn, status=101, socket=True),
)

MANY = Kind("an image of 10 MB", CHAT, lambda: _image(size=10_000_000))
"""What is sent many times."""
