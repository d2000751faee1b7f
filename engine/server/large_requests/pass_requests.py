"""The worker's side: which requests it passes to the heavy workers, and the wait for their end."""

from __future__ import annotations

import math
from contextlib import suppress

import gevent.socket

from engine.exchange.caller_connection import InvalidFraming
from engine.process.channel import Channel
from engine.server.http1.request_body import ChunkedBody
from engine.server.large_requests.large_sizes import LargeSizes
from engine.server.large_requests.passed_request import (
    PassedRequest,
    Report,
    await_heavy_worker,
    receive_report,
    send_request,
)
from engine.server.sockets.caller_socket import GeventSocket
from engine.values.errors import too_many_large_requests

START_SECONDS = 60.0
"""How long a request may wait for a heavy worker, which may have to start first."""
_ATTEMPTS = 2
"""A heavy worker that dies before it has read a request costs it nothing: another one gets it."""


class Passing:
    """Passes requests with large bodies to the heavy workers behind a channel. `sizes` say which
    are large: by default those of more than `above` bytes."""

    def __init__(self, channel: Channel, above: int) -> None:
        self._channel = channel
        self.sizes = LargeSizes(above)

    def pass_on(self, client: GeventSocket, request: PassedRequest) -> Report | None:
        """Pass a request with its caller's socket, and wait until it has ended.

        None if the worker is to serve it itself: a body in chunks has arrived with the head (any
        other may become large), or no descriptor is left."""
        if request.head.content_length is None and self._may_stay(request.buffered):
            return None
        for _ in range(_ATTEMPTS):
            with suppress(EOFError):
                return self._attempt(client, request)
        return Report(too_many_large_requests())

    def _may_stay(self, data: bytes) -> bool:
        """Whether a body in chunks has arrived, and is large for no operation."""
        return len(data) <= self.sizes.lowest and _has_arrived(data)

    def _attempt(self, client: GeventSocket, request: PassedRequest) -> Report | None:
        """As `pass_on`. Raises EOFError if no heavy worker has read the request."""
        try:
            near, far = gevent.socket.socketpair()
        except OSError:
            return None
        with near:
            try:
                with far:
                    if not self._channel.send([client.fileno(), far.fileno()]):
                        return Report(too_many_large_requests())
            except OSError:  # the gateway stops, and no heavy worker is left
                return None
            if not await_heavy_worker(near, START_SECONDS):
                return Report(too_many_large_requests())
            try:
                send_request(near, request)
            except OSError as error:
                raise EOFError from error
            report = receive_report(near)
            if report.lesson is not None:
                self.sizes.learn_from_heavy_worker(report.lesson)
            return report


def _has_arrived(data: bytes) -> bool:
    """Whether a body in chunks is complete, or not one: then it is refused when it is read."""
    body = ChunkedBody()
    try:
        body.feed(data)
    except InvalidFraming:
        return True
    return body.complete


class NothingPasses(Passing):
    """A worker without heavy workers serves all requests itself."""

    def __init__(self) -> None:
        self.sizes = LargeSizes(math.inf)

    def pass_on(self, client: GeventSocket, request: PassedRequest) -> Report | None:
        return None
