"""The time to wait that an upstream's error names in its body, as the header `retry-after`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from engine.dialects.interface.error_forms import wait_in
from engine.upstream.client.failures import Silence, UpstreamFailure
from engine.upstream.client.response import MAX_ERROR, IncomingResponse
from engine.values.content_coding import decode_body
from engine.values.event_json import json_or_none

_MAX_SECONDS = 1.0
"""How long a body is waited for: another target may answer meanwhile."""


def note_wait(
    received: IncomingResponse,
    response: IncomingResponse,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Add the time that the body of an error names to the headers of `response`, which may wrap it,
    if the upstream has sent none, and the body arrives soon. The body is read again."""
    if received.header("retry-after") or received.header("retry-after-ms"):
        return
    body = _start_of(received, clock)
    received.unread(body)
    text = decode_body(received.header("content-encoding") or "", body)
    set_wait(response, wait_in(json_or_none(text or b"")))


def _start_of(received: IncomingResponse, clock: Callable[[], float]) -> bytes:
    """What arrives of a body in _MAX_SECONDS, MAX_ERROR bytes or some more."""
    body, end = b"", clock() + _MAX_SECONDS
    try:
        while len(body) <= MAX_ERROR and (seconds := end - clock()) > 0:
            data = received.read(beat=seconds)
            if not data:
                break
            body += data
    except Silence:
        pass  # the rest is still to come
    except UpstreamFailure as failure:
        failure.without_traceback()  # whoever reads the body gets it
    return body


def set_wait(response: IncomingResponse, seconds: float | None) -> None:
    """Add the header, rounded up to seconds, unless a response has it."""
    if seconds is not None and not response.header("retry-after"):
        response.headers = [*response.headers, ("retry-after", str(math.ceil(seconds)))]
