"""The gateway's own pages: their stages, and the pages of metrics and health, which the listener of
the API or the telemetry listener serves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from engine import dialects
from engine.config.listen_address import ListenAddress
from engine.config.telemetry import OPERATIONS
from engine.console.operations.report import operations_pages
from engine.edge.body_reader import check_head
from engine.edge.falcon_application import Application, application
from engine.edge.falcon_responder import Responder, Responders, answer_errors, discard_body
from engine.exchange.exchange import Handler, compose
from engine.exchange.stage_services import Services
from engine.plan.plan import Plan
from engine.telemetry.health import Health, for_operators, trust
from engine.telemetry.health import pages as health_pages


class OwnPages:
    """The gateway's own pages in one worker."""

    def __init__(self, plan: Plan, services: Services, responders: Responders) -> None:
        self._plan = plan
        self._telemetry = plan.config.telemetry
        self._services = services
        self._responders = responders

    def responder(self, handler: Handler) -> Responder:
        """The responder of a page. No observer is called: its requests are not in logs, metrics or
        ledger."""
        stages = [answer_errors, check_head, discard_body]
        return self._responders.responder(compose(stages, handler), [dialects.default()])

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
        handlers = dict(self._operator_pages(unix_socket=bool(address.path)))
        listed = [*handlers]
        if self._telemetry.operations:
            handlers |= self._operations(unix_socket=bool(address.path))
            listed.append(OPERATIONS)
        app.telemetry = application(
            self._responders,
            [answer_errors, check_head],
            pages={path: self.responder(handler) for path, handler in handlers.items()},
            hint=f" This is telemetry.listen, which serves only {' and '.join(listed)}.",
        )

    def _operations(self, *, unix_socket: bool) -> Mapping[str, Handler]:
        """The page of operations with its files, for those who may read the metrics."""
        is_trusted = trust(
            self._telemetry.allow_ips, self._services.proxies, unix_socket=unix_socket
        )
        pages = operations_pages(lambda: self._report())
        return {
            path: for_operators(handler, is_trusted, "this page") for path, handler in pages.items()
        }

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

    @cached_property
    def _report(self) -> Callable[[], bytes]:
        from engine.console.operations.report import (
            OperationsReport,
        )  # with the parser of metrics, which no other page needs

        return OperationsReport(self._plan, self._services)
