"""Stages and handlers that routes with the same settings share: a config may have thousands of
routes, and nearly all of a document differ only in their operations and paths.

What is shared must not depend on the operation: stages read its id from the exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TypeVar

from engine.callers.limits.route_limits import Part
from engine.edge.origin import SameOrigin
from engine.exchange.exchange import Exchange, Handler, Stage, compose
from engine.exchange.stage_services import Services
from engine.plan.route import Route
from engine.policies import PolicyStep
from engine.stages.authenticate import authenticate
from engine.stages.client_secret import bind_first, bind_session
from engine.stages.computing_turn import Watch, end_turn, in_parts, in_parts_if_long, take_turn
from engine.stages.limit import limit
from engine.stages.meter import meter
from engine.stages.receive import receive
from engine.stages.report import report_responses
from engine.stages.validate import Checks, validate_body, validate_parameters
from engine.values.build_cache import BuildCache

T = TypeVar("T")


class StageCache:
    """The stages and handlers of a worker, one for each combination of settings."""

    def __init__(
        self, services: Services, same_origin: SameOrigin, *, has_playground: bool = False
    ) -> None:
        self._services = services
        self._same_origin = same_origin
        self._has_playground = has_playground
        self._shared = BuildCache()

    def __len__(self) -> int:
        """The number of stages and handlers."""
        return len(self._shared)

    def authenticate(self, route: Route, *, any_operation: bool = False) -> Stage:
        """Finds the caller, who may call the operation, or `any_operation`."""
        has_http = route.answer is not None and route.answer.is_websocket

        def build() -> Stage:
            return authenticate(
                route.carriers,
                route.allows_anonymous,
                self._services,
                any_operation=any_operation,
                has_http=has_http,
                same_origin=self._same_origin,
                client_secrets=self._services.client_secrets if takes_secrets else None,
                sign_in=self._services.sign_in if is_for_pages else None,
            )

        takes_secrets, is_for_pages = route.client_secrets is not None, self._is_for_pages(route)
        kinds = any_operation, has_http, takes_secrets, is_for_pages
        settings = tuple(route.carriers), route.allows_anonymous, *kinds
        return self.once("authenticate", settings, build)

    def _is_for_pages(self, route: Route) -> bool:
        """Whether a page of the console calls the operation: the playground those of models."""
        if route.answer is not None:
            return route.answer.is_for_pages
        return self._has_playground and route.model is not None and route.websocket is None

    def bind_session(self, route: Route) -> list[Stage]:
        """Binds sessions to their client secrets, on routes that accept those."""
        model, form = route.model, route.client_secrets
        if self._services.client_secrets is None or model is None or form is None:
            return []
        if route.operation.first_message:
            return []
        return [self.once("bind session", (model, form), lambda: bind_session(model, form))]

    def bind_first(self, route: Route) -> list[Stage]:
        """Binds sessions whose first message has their settings to their client secrets."""
        form = route.client_secrets
        if form is None or form.first is None:
            return []
        return [self.once("bind first", form, lambda: bind_first(form, self._services))]

    def policies(self, steps: Sequence[PolicyStep]) -> list[Stage]:
        """The stages of policies."""
        return [self.once("policy", step, partial(step.stage, self._services)) for step in steps]

    def report(self, route: Route) -> list[Stage]:
        """Reports responses that do not match the document, on routes that ask for it."""
        answers = route.response_validators
        if answers is None:
            return []
        settings = tuple(answers.validators.items()), tuple(answers.items.items())
        return [self.once("report", settings, lambda: report_responses(answers))]

    def receive(
        self, checks: Checks, check_large: Callable[[Exchange], None] | None = None
    ) -> Stage:
        """Reads and parses the body."""
        settings = checks.bodies, checks.mode, check_large
        return self.in_parts(self.once("receive", settings, lambda: receive(checks, check_large)))

    def take_turn(self, watch: Watch) -> list[Stage]:
        """Waits for the turn of the request, in a process that serves large requests only."""
        turns = self._services.turns
        return [] if turns is None else [self.once("turn", (), lambda: take_turn(turns, watch))]

    def in_parts(self, stage: Stage) -> Stage:
        """A stage that only computes, as it is for the requests of this process."""
        if self._services.turns is None:
            return stage
        return self.once("in parts", stage, lambda: in_parts(stage))

    def in_parts_if_long(self, stage: Stage) -> Stage:
        """The same for a stage that computes with some bodies only, in any process."""
        make = in_parts_if_long if self._services.turns is None else in_parts
        return self.once("in parts if long", stage, lambda: make(stage))

    def end_turn(self) -> list[Stage]:
        """Ends that turn."""
        turns = self._services.turns
        return [] if turns is None else [self.once("end of turn", (), lambda: end_turn(turns))]

    def validate_parameters(self, checks: Checks) -> list[Stage]:
        """Checks the parameters of requests, if there are any."""
        settings = checks.parameters, checks.mode
        return self.once("parameters", settings, lambda: validate_parameters(checks))

    def validate_body(self, checks: Checks) -> list[Stage]:
        """Checks the bodies of requests against their schemas."""
        settings = checks._replace(parameters=())
        return [*map(self.in_parts, self.once("validate", settings, lambda: validate_body(checks)))]

    def meter(self, route: Route) -> Stage:
        """Reads usage and cost."""
        dialect = route.dialects[-1]
        return self.once(
            "meter",
            (dialect.name, route.takes),
            lambda: meter(dialect, route.takes, self._services),
        )

    def limit(self, route: Route, part: Part) -> Stage:
        """Enforces a part of the quotas of the route and of the caller's token."""
        rules, upstream = route.guards.rules, route.to[0].upstream if route.to else ""
        return self.once(
            "limit",
            (tuple(rules), upstream, part),
            lambda: limit(rules, self._services, upstream, part),
        )

    def compose(self, stages: Sequence[Stage], last: Handler) -> Handler:
        """As `compose` of exchanges; handlers with the same stages at their end share it."""
        handler = last
        for stage in reversed(stages):
            handler = self.once("handler", (stage, handler), partial(compose, [stage], handler))
        return handler

    def once(self, name: str, settings: Hashable, build: Callable[[], T]) -> T:
        """What `build` returned for the first of equal settings of this name."""
        return self._shared.once((name, settings), build)

    def once_unhashable(
        self, name: str, settings: Hashable, others: object, build: Callable[[], T]
    ) -> T:
        """As `once`, with other settings that are not hashable. They are compared one by one."""
        alike: list[tuple[object, T]] = self.once(name, settings, list)
        for settings_of, value in alike:
            if settings_of == others:
                return value
        alike.append((others, build()))
        return alike[-1][1]
