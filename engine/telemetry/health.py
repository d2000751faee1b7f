"""Whether a worker can serve: what is asked of it, and the pages that tell.

The law: a worker is ready while its plan is loaded, it is not stopping, and no store is away that
requests cannot do without. A store that is away while requests go on is told of in the details; to
take every machine out of service for it would turn a small failure into a large one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.services import WorkerHealth
from engine.telemetry.config_status import ConfigStatus
from engine.values.client_address import Network, caller_address, within
from engine.values.errors import GatewayError

_EVERY = 2.0
_FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP")
_TEXT = [("content-type", "text/plain; charset=utf-8"), ("cache-control", "no-store")]
_JSON = [("content-type", "application/json"), ("cache-control", "no-store")]
_PROMETHEUS = [("content-type", "text/plain; version=0.0.4; charset=utf-8")]

Ask = Callable[[], str]
"""Why a store cannot be reached, in a few words without secrets; "" when it can."""


class Check:
    """A store that is asked at most every two seconds, however many ask for it.

    `needed` tells whether requests cannot do without it, given whether it was ever reached.
    """

    def __init__(
        self,
        ask: Ask,
        needed: Callable[[bool], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._needed = needed
        self._clock = clock
        self._next = -1e300
        self._reached = False
        self.words = ""

    def look(self) -> None:
        """Ask the store, unless it was asked a moment ago."""
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _EVERY
        self.words = self._ask()
        self._reached |= not self.words

    @property
    def stops(self) -> bool:
        """Whether requests have to go elsewhere for it."""
        return bool(self.words) and self._needed(self._reached)


@dataclass(slots=True)
class Health:
    """What one worker knows of itself. `checks` are its stores by name; `stopping` turns true when
    it is told to end."""

    standing: ConfigStatus = field(default_factory=ConfigStatus)
    checks: dict[str, Check] = field(default_factory=dict)
    stopping: bool = False
    version: str = ""

    def leave(self) -> None:
        """The worker is told to end."""
        self.stopping = True

    def ready(self) -> bool:
        """Ask the stores, and say whether the worker can serve."""
        self.standing.refresh()
        for check in self.checks.values():
            check.look()
        return not self.stopping and not any(check.stops for check in self.checks.values())

    def details(self, ready: bool, now: float) -> dict[str, Any]:
        """What operators are told; `now` in Unix seconds, ages in seconds."""
        standing = self.standing
        return {
            "status": "ready" if ready else "stopping" if self.stopping else "not ready",
            "version": self.version,
            "worker": os.getpid(),
            "config": {
                "hash": standing.hash,
                "loaded": standing.loaded,
                "age": round(max(0.0, now - standing.loaded), 3),
                "last_reload_error": standing.error or None,
            },
            "stores": {name: check.words or "ok" for name, check in self.checks.items()},
        }


def pages(
    health: WorkerHealth,
    *,
    metrics: str,
    page: Callable[[], bytes] | None,
    allowed: tuple[Network, ...],
    proxies: tuple[Network, ...],
    clock: Callable[[], float],
    unix_socket: bool = False,
) -> Mapping[str, Handler]:
    """`/healthz`, `/readyz` and, with a `page` to show, the path of the metrics.

    `unix_socket`: they are served on a Unix socket of their own. Whoever may open that is trusted.
    """

    def may_read(exchange: Exchange) -> bool:
        return trusted(exchange, allowed, proxies, unix_socket=unix_socket)

    def alive(exchange: Exchange) -> Response:
        return Response(200, list(_TEXT), b"ok\n")

    def readiness(exchange: Exchange) -> Response:
        ready = health.ready()
        status = 200 if ready else 503
        if not may_read(exchange):
            return Response(status, list(_TEXT), b"ready\n" if ready else b"not ready\n")
        told = orjson.dumps(health.details(ready, clock()), option=orjson.OPT_APPEND_NEWLINE)
        return Response(status, list(_JSON), told)

    def counted(exchange: Exchange) -> Response:
        assert page is not None
        if not may_read(exchange):
            message = "The metrics are for the addresses in telemetry.allow_ips alone."
            raise GatewayError(403, "address_not_allowed", message)
        return Response(200, list(_PROMETHEUS), page())

    found: dict[str, Handler] = {"/healthz": alive, "/readyz": readiness}
    if page is not None and metrics:
        found[metrics] = counted
    return found


def trusted(
    exchange: Exchange,
    allowed: tuple[Network, ...],
    proxies: tuple[Network, ...],
    *,
    unix_socket: bool = False,
) -> bool:
    """Whether a caller may see what is for operators.

    What comes through a proxy that the config does not know could be from anywhere, though it
    seems to come from this machine. The peer of a Unix socket has no address.
    """
    environ = exchange.environ
    if not proxies and any(header in environ for header in _FORWARDED):
        return False
    address = caller_address(environ, proxies)
    return within(address, allowed) or (unix_socket and not address)
