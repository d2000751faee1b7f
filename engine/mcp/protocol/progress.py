"""Progress of a call, for a client that asks for it with a token: the answer is a stream of events
(revision 2026-07-28 and those of 2025: basic/utilities/progress, transports/streamable-http), of
which the last one is the result.

Only an operation whose own answer is a stream has progress: the number of events so far.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from io import BytesIO

import orjson

from engine.mcp.protocol.json_rpc import Id
from engine.mcp.protocol.server import Reply, Request
from engine.values.errors import AbortConnection, AbortReason

INTERVAL = 0.25
"""Seconds between two notifications, at least."""

Steps = Generator[int, None, Reply]
"""A call under way: yields the number of events so far, and returns the reply."""


def progress_token(request: Request, accept: str) -> Id | None:
    """The token of a request whose client reads progress; None for any other."""
    token = request.message.meta.get("progressToken")
    if token is None:
        return None
    is_token = isinstance(token, str | int) and not isinstance(token, bool)
    return token if is_token and "text/event-stream" in accept.lower() else None


def finish(steps: Steps) -> Reply:
    """The reply of a call."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            reply: Reply = end.value
            return reply


def progress_events(
    steps: Steps, progress: int, token: Id, clock: Callable[[], float]
) -> Iterator[bytes]:
    """The events of a call that has begun, with so much `progress`; `clock` returns seconds."""
    try:
        last = clock()
        yield _event(_notification(token, progress))
        while True:
            events = next(steps)
            now = clock()
            if events > progress and now - last >= INTERVAL:
                last, progress = now, events
                yield _event(_notification(token, progress))
    except StopIteration as end:
        yield _event(end.value.body)
    finally:
        steps.close()


def receive(
    pieces: Iterable[bytes], most: int, *, is_stream: bool
) -> Generator[int, None, tuple[bytes, bool]]:
    """Receives the beginning of a body, a bit longer than `most` bytes if that is not all; returns
    it, and whether it broke off. Yields the number of events so far of a stream. Raises
    AbortConnection if the caller has left."""
    body, events, broke_off = BytesIO(), 0, False
    try:
        for piece in pieces:
            body.write(piece)
            if body.tell() > most:
                break
            if is_stream:
                events += piece.count(b"\n\n")
                yield events
    except AbortConnection as error:
        if error.reason is AbortReason.CALLER_LEFT:
            raise
        broke_off = True
    finally:
        close = getattr(pieces, "close", None)  # WSGI: an iterable may have one
        if close is not None:
            close()
    return body.getvalue(), broke_off  # unlike a bytearray's, its bytes are not copied


def _notification(token: Id, progress: int) -> bytes:
    params = {"progressToken": token, "progress": progress}
    method = "notifications/progress"
    return orjson.dumps({"jsonrpc": "2.0", "method": method, "params": params})


def _event(message: bytes) -> bytes:
    return b"event: message\ndata: %b\n\n" % message
