"""The application, as the server knows it: `edge.router.Application` is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from engine.exchange.caller_connection import CallerConnection

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

    @property
    def malformed(self) -> Callable[[str, int, str], None]:
        """Records a request that the server refused itself: its id, status and caller's address."""
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
