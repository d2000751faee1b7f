"""Plays a request through the application that `serve` runs: its router and stages.

Only parts outside of the process are replaced: upstreams are not called, counters are zero, nothing
is written. Each request gets a new application, so that no state is shared.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager

from engine.app.build import build
from engine.app.routes.internal_call import send
from engine.config.prices import prices_of
from engine.exchange.caller_connection import InternalCaller
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.internal_request import Request, environ_of
from engine.exchange.stage_services import Services
from engine.offline.rehearsal.jwt_callers import UnverifiedTokens
from engine.offline.rehearsal.observation import Rehearsal, Step, UpstreamAnswers
from engine.offline.rehearsal.path_routes import narrow_plan
from engine.offline.rehearsal.stand_ins import (
    Recorder,
    RecordingCounters,
    UnaskedGuards,
    placeholder,
    recorder,
)
from engine.offline.rehearsal.target_translations import translate_for_targets
from engine.plan.plan import Plan
from engine.plan.route import Route
from engine.stages.report import mismatches
from engine.stages.token_carriers import secret_in
from engine.values.caller import Caller
from engine.values.errors import GatewayError, Malformed


def rehearse(
    plan: Plan,
    request: Request,
    caller: Caller | None = None,
    answers: UpstreamAnswers | None = None,
    arrival: float | None = None,
) -> Rehearsal:
    """Play a request; with a `caller`, as if it had the token of that caller; at its `arrival`, in
    Unix seconds, or now. Raises ValueError for a request that is not valid HTTP.
    """
    rehearsal = Rehearsal(request)
    environ_of(request)  # refuses what is not valid HTTP before it plans
    narrow = narrow_plan(plan, request.target.partition("?")[0])
    app = build(
        narrow,
        _services(plan, rehearsal, arrival),
        client=_clients(plan, rehearsal, answers or UpstreamAnswers()),
        open_credential=placeholder,
        wrap_stages=lambda route, stages: _observe_all(narrow, route, stages, rehearsal),
    )

    internal = None if caller is None else InternalCaller(caller)
    with (
        capture_log(rehearsal.log),
        mismatches.capture(rehearsal.reported),
        closing(send(app, request, internal)) as response,
    ):
        rehearsal.status, rehearsal.headers = response.status, response.headers
        rehearsal.body = response.read()
    return rehearsal


def _services(plan: Plan, rehearsal: Rehearsal, arrival: float | None) -> Services:
    config = plan.config
    return Services(
        tokens=config.tokens,
        signed_tokens=UnverifiedTokens(plan) if config.jwt else None,
        counters=RecordingCounters(rehearsal.limits),
        clock=time.time if arrival is None else lambda: arrival,
        dice=lambda: 0.0,
        allow_uncounted=config.stores.on_store_failure == "allow",
        prices=prices_of(config),
        currency=config.currency,
        guard_calls=UnaskedGuards(),
        proxies=config.server.trusted_proxies,
    )


def _clients(plan: Plan, rehearsal: Rehearsal, answers: UpstreamAnswers) -> Callable[..., Recorder]:
    """A constructor of clients. The application calls it in the order of the plan's upstreams."""
    names = iter(plan.config.upstreams)
    make = recorder(rehearsal.sent_requests, answers)

    def client(url: str, **settings: object) -> Recorder:
        client: Recorder = make(url, **settings)
        client.name = next(names)
        return client

    return client


def _observe_all(
    plan: Plan, route: Route, stages: Sequence[Stage], rehearsal: Rehearsal
) -> Sequence[Stage]:
    """The stages of a route, each observed. Of alternatives the stage that chooses comes first, as
    if it were of the first one."""

    def enter(exchange: Exchange, following: Handler) -> Response:
        is_outer = rehearsal.exchange is None
        rehearsal.route, rehearsal.exchange = route, exchange
        rehearsal.stages = [*rehearsal.stages, *map(stage_name, stages)]
        rehearsal.carried = [
            carrier
            for number, carrier in enumerate(route.carriers)
            if secret_in(exchange, carrier) or (number == 0 and exchange.connection.internal)
        ]
        try:
            return following(exchange)
        except GatewayError as error:
            rehearsal.error = error
            raise
        except Malformed as error:  # the endpoint answers 400 for it
            rehearsal.error = GatewayError(400, "invalid_value", str(error))
            raise
        finally:
            if is_outer and exchange.operation != route.operation.id:
                matching = [r for r in plan.routes if r.operation.id == exchange.operation]
                same_hosts = (r for r in matching if r.hosts == route.hosts)
                rehearsal.route = next(same_hosts, matching[0])
            elif rehearsal.reached_targets:
                rehearsal.translations = translate_for_targets(plan, route, exchange)

    return [enter, *(_observed(stage, rehearsal) for stage in stages)]


def stage_name(stage: Stage) -> str:
    """The name of a stage: that of its module."""
    return stage.__module__.rpartition(".")[2]


def _observed(stage: Stage, rehearsal: Rehearsal) -> Stage:
    def watched(exchange: Exchange, following: Handler) -> Response:
        step = Step(stage_name(stage))
        rehearsal.steps.append(step)

        def next_stage(inner: Exchange) -> Response:
            step.passed = True
            return following(inner)

        return stage(exchange, next_stage)

    return watched


class _LineHandler(logging.Handler):
    def __init__(self, lines: list[str], level: int) -> None:
        super().__init__(level)
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        words = record.getMessage() if error is None else f"{type(error).__name__}: {error}"
        self.lines.append(" ".join(words.split()))


@contextmanager
def capture_log(lines: list[str], level: int = logging.NOTSET) -> Iterator[None]:
    """Append the gateway's log records of this level or higher to `lines`, instead of logging them:
    one line per record, which is the exception if there is one."""
    log, handler = logging.getLogger("modelway"), _LineHandler(lines, level)
    handlers, propagate = log.handlers, log.propagate
    log.handlers, log.propagate = [handler], False
    try:
        yield
    finally:
        log.handlers, log.propagate = handlers, propagate
