"""The application, as the server knows it: `edge.router.Application` is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from engine.exchange.caller_connection import CallerConnection
from engine.exchange.exchange import Response
from engine.values.errors import GatewayError

Serve = Callable[[dict[str, Any], Callable[..., Any], CallerConnection], Iterable[bytes]]
"""WSGI's call of an application (PEP 3333), with the connection under the request."""


class Application(Protocol):
    """What a worker serves."""

    def is_telemetry(self, address: Any, /) -> bool:
        """Whether a listener, by its socket's address, is that of metrics and health."""
        ...

    def on_listener(self, address: Any, /) -> Serve:
        """What serves the requests of a listener, by its socket's address."""
        ...

    def refuse(self, error: GatewayError, address: str, /) -> Response:
        """The response to what never becomes a request of the application, recorded. `address` is
        the caller's IP address."""
        ...

    def fail(self) -> Response:
        """The 500 in place of a response whose head cannot be sent; its exchange is recorded."""
        ...

    @property
    def leaving(self) -> Callable[[], None]:
        """Called once, when the worker is to stop."""
        ...

    @property
    def interrupt(self) -> Callable[[], None]:
        """Ends the requests that are still open. The second call cuts them."""
        ...

    @property
    def close(self) -> Callable[[], None]:
        """Called when the worker ends and no request is open."""
        ...
