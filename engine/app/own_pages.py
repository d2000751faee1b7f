"""The gateway's own pages: their stages, and the pages of metrics and health, which the listener of
the API or the telemetry listener serves.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine import dialects
from engine.config.telemetry import Telemetry
from engine.edge.endpoint import Endpoints, Responder, answer_errors, discard_body
from engine.edge.request_body import check_head
from engine.edge.router import Application, application
from engine.exchange.exchange import Handler, compose
from engine.exchange.services import Services
from engine.telemetry.health import Health
from engine.telemetry.health import pages as health_pages
from engine.values.listen_address import ListenAddress


class OwnPages:
    """The gateway's own pages in one worker."""

    def __init__(self, telemetry: Telemetry, services: Services, endpoints: Endpoints) -> None:
        self._telemetry = telemetry
        self._services = services
        self._endpoints = endpoints

    def responder(self, handler: Handler) -> Responder:
        """The responder of a page. No observer is called: its requests are not in logs, metrics or
        ledger."""
        stages = [answer_errors, check_head, discard_body]
        return self._endpoints.responder(compose(stages, handler), [dialects.default()])

    def public(self) -> Mapping[str, Responder]:
        """The pages of metrics and health that the listener of the API serves, by path."""
        handlers = self._operator_pages()
        public = self._telemetry.public_pages
        return {path: self.responder(handlers[path]) for path in public if path in handlers}

    def add_listener(self, app: Application) -> None:
        """Set the application of the telemetry listener, if the config has one."""
        if not self._telemetry.address:
            return
        address = app.telemetry_address = ListenAddress.parse(self._telemetry.address)
        handlers = self._operator_pages(unix_socket=bool(address.path))
        app.telemetry = application(
            self._endpoints,
            [answer_errors, check_head],
            pages={path: self.responder(handler) for path, handler in handlers.items()},
            hint=f" This is telemetry.listen, which serves only {' and '.join(handlers)}.",
        )

    def _operator_pages(self, *, unix_socket: bool = False) -> Mapping[str, Handler]:
        telemetry, services = self._telemetry, self._services
        return health_pages(
            services.health or Health(),
            metrics=telemetry.metrics,
            page=services.page,
            allowed=telemetry.allow_ips,
            proxies=services.proxies,
            clock=services.clock,
            unix_socket=unix_socket,
        )
