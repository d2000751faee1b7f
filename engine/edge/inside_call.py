"""Calls an application from inside of its process, without a socket: `respond`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any

from engine.edge.falcon_application import Application
from engine.exchange.caller_connection import (
    CallerConnection,
    InternalCaller,
    InternalConnection,
    TrySend,
)


class InternalResponse:
    """A response: `status`, `headers`, and the body as it arrives, by iteration. `close` ends the
    exchange, and with it the request to the upstream.

    Iteration raises AbortConnection where the connection of a caller would be cut.
    """

    def __init__(self, status: int, headers: list[tuple[str, str]], body: Iterable[bytes]) -> None:
        self.status, self.headers = status, headers
        self._body, self._pieces = body, iter(body)

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def read(self) -> bytes:
        """The rest of the body; closes the response."""
        with closing(self):
            return b"".join(self._pieces)

    def close(self) -> None:
        close = getattr(self._body, "close", None)  # WSGI: an iterable may have one
        if close is not None:
            close()


def respond(
    app: Application, environ: dict[str, Any], connection: CallerConnection
) -> InternalResponse:
    """The response of an application to a request with this environ."""
    status, headers = 0, list[tuple[str, str]]()

    def start_response(
        line: str, pairs: list[tuple[str, str]], error: object = None
    ) -> Callable[[bytes], object]:
        nonlocal status, headers
        status, headers = int(line.split(" ", 1)[0]), pairs
        return lambda data: None

    pieces = app.serve(environ, start_response, connection)
    return InternalResponse(status, headers, pieces)


class InsideCalls:
    """Calls an application, also from its own routes: `app` may be set after they are made."""

    def __init__(self, app: Application | None = None) -> None:
        self.app = app

    def __call__(
        self,
        environ: dict[str, Any],
        body: bytes,
        caller: InternalCaller,
        try_send: TrySend,
    ) -> InternalResponse:
        """The response to a request, of which `try_send` gets pieces, see PushStream."""
        assert self.app is not None
        return respond(self.app, environ, InternalConnection(body, caller, try_send))
