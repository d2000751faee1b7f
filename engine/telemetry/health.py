"""The health of a worker: its readiness, and the pages `/healthz`, `/readyz` and metrics.

A worker is ready while it serves a plan, is not stopping, and reaches every store that requests
need. A store that requests do not need is reported in the details only: otherwise its failure would
take every machine out of service.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import orjson

from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.stage_services import ModelStates, WorkerHealth
from engine.values.client_address import Network, caller_address, within
from engine.values.errors import GatewayError

_INTERVAL = 2.0
_FORWARDED = ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED", "HTTP_X_REAL_IP")
_TEXT = [("content-type", "text/plain; charset=utf-8"), ("cache-control", "no-store")]
_JSON = [("content-type", "application/json"), ("cache-control", "no-store")]
_PROMETHEUS = [("content-type", "text/plain; version=0.0.4; charset=utf-8")]


class StoreCheck:
    """The state of a store, which is probed at most every two seconds.

    `probe` returns why the store cannot be reached, in a few words without secrets, or "".
    `is_needed` returns whether requests need the store, given whether it was ever reached.
    """

    def __init__(
        self,
        probe: Callable[[], str],
        is_needed: Callable[[bool], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._probe = probe
        self._is_needed = is_needed
        self._clock = clock
        self._next = -1e300
        self._reached = False
        self.error = ""

    def refresh(self) -> None:
        """Probe the store, unless that was done less than two seconds ago."""
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _INTERVAL
        self.error = self._probe()
        self._reached |= not self.error

    @property
    def fatal(self) -> bool:
        """Whether the worker is not ready because of it."""
        return bool(self.error) and self._is_needed(self._reached)


@dataclass(slots=True)
class ConfigStatus:
    """The config in use: its `hash`, and when it was `loaded` (Unix seconds). `error` is why the
    last reload was refused, "" if it was accepted or there was none.

    `source`, if there is one, returns the current hash, time and error, or None if it does not know
    them.
    """

    hash: str = ""
    loaded: float = 0.0
    error: str = ""
    source: Callable[[], tuple[str, float, str] | None] | None = None

    def refresh(self) -> None:
        """Read the status from the source, if there is one."""
        status = self.source() if self.source is not None else None
        if status is not None:
            self.hash, self.loaded, self.error = status


@dataclass(slots=True)
class Health:
    """The health of one worker. `checks` are its stores by name; `stopping` is true once the worker
    shuts down. `details_of` has functions that return other details for operators, by name;
    `model_states` returns what callers may know: `healthy` or `degraded` by entry of `models`."""

    config: ConfigStatus = field(default_factory=ConfigStatus)
    checks: dict[str, StoreCheck] = field(default_factory=dict)
    stopping: bool = False
    version: str = ""
    details_of: dict[str, Callable[[], object]] = field(default_factory=dict)
    model_states: ModelStates = dict

    def stop(self) -> None:
        """The worker shuts down."""
        self.stopping = True

    def ready(self) -> bool:
        """Probe the stores, and return whether the worker can serve."""
        self.config.refresh()
        for check in self.checks.values():
            check.refresh()
        return not self.stopping and not any(check.fatal for check in self.checks.values())

    def details(self, ready: bool, now: float) -> dict[str, object]:
        """The details for operators; `now` in Unix seconds, ages in seconds."""
        config = self.config
        return {
            "status": "ready" if ready else "stopping" if self.stopping else "not ready",
            "version": self.version,
            "worker": os.getpid(),
            "config": {
                "hash": config.hash,
                "loaded": config.loaded,
                "age": round(max(0.0, now - config.loaded), 3),
                "last_reload_error": config.error or None,
            },
            "stores": {name: check.error or "ok" for name, check in self.checks.items()},
            **{name: read() for name, read in self.details_of.items()},
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
    """The handlers of `/healthz`, `/readyz` and, with a `page`, of the path of the metrics.

    Callers with an address in `allowed` get the metrics and the details for operators; with
    `unix_socket`, so do callers without an address: those of the pages' own Unix socket.
    """

    is_trusted = trust(allowed, proxies, unix_socket=unix_socket)

    def liveness(exchange: Exchange) -> Response:
        return Response(200, list(_TEXT), b"ok\n")

    def readiness(exchange: Exchange) -> Response:
        ready = health.ready()
        status = 200 if ready else 503
        if not is_trusted(exchange):
            return Response(status, list(_TEXT), b"ready\n" if ready else b"not ready\n")
        details = health.details(ready, clock())
        body = orjson.dumps(details, option=orjson.OPT_APPEND_NEWLINE)
        return Response(status, list(_JSON), body)

    handlers: dict[str, Handler] = {"/healthz": liveness, "/readyz": readiness}
    if page is not None and metrics:
        handlers[metrics] = for_operators(_metrics_page(page), is_trusted, "the metrics")
    return handlers


def trust(
    allowed: tuple[Network, ...], proxies: tuple[Network, ...], *, unix_socket: bool
) -> Callable[[Exchange], bool]:
    """Whether a request is an operator's: its address is in `allowed` or, with `unix_socket`, it
    has none."""

    def is_trusted(exchange: Exchange) -> bool:
        # A proxied request is external unless its proxy is trusted.
        if not proxies and any(header in exchange.environ for header in _FORWARDED):
            return False
        address = caller_address(exchange.environ, proxies)
        return within(address, allowed) or (unix_socket and not address)

    return is_trusted


def for_operators(
    handler: Handler, is_trusted: Callable[[Exchange], bool], subject: str
) -> Handler:
    """A handler that answers operators only, and others with 403; `subject` is what it shows."""

    def handle(exchange: Exchange) -> Response:
        if not is_trusted(exchange):
            message = f"Only the addresses in telemetry.allow_ips may read {subject}."
            raise GatewayError(403, "address_not_allowed", message)
        return handler(exchange)

    return handle


def _metrics_page(page: Callable[[], bytes]) -> Handler:
    return lambda exchange: Response(200, list(_PROMETHEUS), page())
