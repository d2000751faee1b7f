"""The time to wait that an upstream's error names in its body, as the header `retry-after`."""

from __future__ import annotations

import math

from engine.dialects.interface.error_forms import wait_in
from engine.upstream.client.response import (
    MAX_ERROR,
    IncomingResponse,
    UnreadableResponse,
    read_body,
)
from engine.values.content_coding import decode_body
from engine.values.event_json import json_or_none


def note_wait(received: UnreadableResponse, response: IncomingResponse) -> None:
    """Add the time that the body of an error names to the headers of `response`, which may wrap it,
    if the upstream has sent none. The body is read again."""
    if received.header("retry-after") or received.header("retry-after-ms"):
        return
    body, _ = read_body(received, MAX_ERROR)
    received.unread(body)
    text = decode_body(received.header("content-encoding") or "", body)
    set_wait(response, wait_in(json_or_none(text or b"")))


def set_wait(response: IncomingResponse, seconds: float | None) -> None:
    """Add the header, rounded up to seconds, unless a response has it."""
    if seconds is not None and not response.header("retry-after"):
        response.headers = [*response.headers, ("retry-after", str(math.ceil(seconds)))]
