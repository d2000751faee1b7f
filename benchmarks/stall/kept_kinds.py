"""The kinds of uploads, and of what the gateway itself keeps and answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.stall.kind import CHAT, FORM, SIZE, Kind, dumped

_PART = b'--b\r\ncontent-disposition: form-data; name="%b"%b\r\n\r\n%b\r\n'


def _form(**fields: bytes) -> bytes:
    parts = (_PART % (name.encode(), b"", value) for name, value in fields.items())
    return b"".join(parts)


def _file(name: bytes, data: bytes) -> bytes:
    return _PART % (name, b'; filename="a"\r\ncontent-type: image/png', data)


def _lines(count: int) -> bytes:
    """A file of requests, as many as its bytes allow."""
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "x"}]}
    line = {"custom_id": "N", "method": "POST", "url": CHAT, "body": body}
    text = dumped(line)
    file = b"\n".join(text.replace(b'"N"', b'"%d"' % number) for number in range(count))
    return _form(purpose=b"batch") + _file(b"file", file) + b"--b--\r\n"


def _images(count: int) -> Callable[[], bytes]:
    """An edit of so many images."""
    image = _file(b"image[]", b"\x89PNG" * (SIZE // count // 4))
    return lambda: _form(model=b"gpt-image-1", prompt=b"x") + image * count + b"--b--\r\n"


def _video() -> bytes:
    fields = _form(model=b"sora-2", prompt=b"x")
    return fields + _file(b"input_reference", b"\x89PNG" * (SIZE // 4)) + b"--b--\r\n"


def many_operations() -> dict[str, Any]:
    """A document of a thousand operations, each with a schema of its own."""
    operation = {"responses": {"200": {"description": "An answer."}}}
    paths = {}
    for number in range(1_000):
        schema = {"type": "object", "properties": {f"m{number}": {"type": "integer"}}}
        body = {"content": {"application/json": {"schema": schema}}}
        one = {**operation, "operationId": f"many{number}", "requestBody": body}
        paths[f"/many/{number}"] = {"post": one}
    return {"openapi": "3.1.0", "info": {"title": "Many", "version": "1"}, "paths": paths}


KEPT_KINDS = (
    Kind("a batch of 100,000 lines", "/v1/files", lambda: _lines(100_000), "wide", 200, FORM),
    Kind("images to edit", "/v1/images/edits", _images(16), "wide", 200, FORM),
    Kind("a video", "/v1/videos", _video, "wide", 200, FORM),
    Kind("the last requests", "/v1/usage/requests?limit=100", bytes, "wide", method="GET"),
    Kind("what is used", "/v1/usage", bytes, "wide", method="GET"),
)
