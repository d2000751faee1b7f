"""What a route does with batches: their requests are judged when they come in, uploaded again if
the gateway has edited them, and their results counted against limits when they are first read."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from engine.app.routes.batch_judge import BatchJudge, StagesOfRoute
from engine.app.routes.file_calls import CannotCopy, FileCalls
from engine.app.routes.worker_parts import Parts
from engine.callers.limits.route_limits import Part, RouteLimits
from engine.dialects.interface.files import FileFacts
from engine.exchange.exchange import Exchange, Stage
from engine.exchange.opened_ids import Holder
from engine.exchange.request_body import Body
from engine.exchange.requested_model import RequestedModel
from engine.exchange.stage_services import Services
from engine.objects.batches.batch_files import BatchFiles
from engine.objects.batches.batch_route import BatchRoute
from engine.plan.route import Route
from engine.process.log_throttle import LogThrottle
from engine.stages.judge_batch import judge_batch, refuse_pieces
from engine.stages.keep_upload import UploadRules, keep_upload
from engine.upstream.targets.target import Target
from engine.values.counters import CountersAway
from engine.values.errors import GatewayError
from engine.values.quota import KINDS
from engine.values.usage import Usage

_NAME = "batch.jsonl"
_MEDIA_TYPE = "application/jsonl"
_warning = LogThrottle(level=logging.ERROR)
TargetsOf = Callable[[Route, str, Exchange], list[Target]]
"""The targets of a model for the operation of a route."""


def batch_stages(route: Route, parts: Parts, judging: StagesOfRoute) -> list[Stage]:
    """Judges the requests of batches, on routes that get them. `judging` gives the stages of a
    route that judge one."""
    dialect, config, facts = route.dialects[-1], parts.plan.config.objects, route.objects
    form = dialect.batches
    if form is None or facts is None or parts.opener is None:
        return []
    if "pieces" in facts.batch:
        return [parts.shared.once("pieces", dialect.name, partial(refuse_pieces, form))]
    if (rules := upload_rules(route, parts)) is not None:
        return [keep_upload(rules)]
    if "requests" not in facts.batch:
        return []
    upstreams = tuple(dict.fromkeys(to.upstream for to in route.to))
    judge = partial(BatchJudge, dialect, parts, form.path, judging)
    calls = BatchFileUpload(FileCalls(parts.plan, parts.inside))
    build = partial(
        judge_batch,
        form,
        parts.shared.once("batch judge", dialect.name, judge),
        config.owner,
        upstreams,
        dialect.json_name,
        BatchFiles(parts.uploads, parts.opener, config.owner, calls) if form.stored else None,
        reports=config.batches.invalid_requests == "report",
    )
    return [parts.shared.once("batch", (dialect.name, upstreams), build)]


def upload_rules(route: Route, parts: Parts) -> UploadRules | None:
    """Which pieces of uploads a route keeps, None for none."""
    facts, form = route.objects, route.dialects[-1].files
    if facts is None or form is None or parts.opener is None or parts.uploads is None:
        return None
    place = next((place for place in facts.names if place.location == "query"), None)
    if "bytes" not in facts.batch or place is None:
        return None
    return UploadRules(parts.uploads, parts.opener, place, form, parts.plan.config.objects.owner)


def batch_route(route: Route, parts: Parts) -> BatchRoute | None:
    """What notes batches and counts results of a route, where the records know of them."""
    facts, form, records = route.objects, route.dialects[-1].batches, parts.batches
    if facts is None or form is None or records is None or not facts.batch:
        return None

    def targets(of: Route, model: str, exchange: Exchange) -> list[Target]:
        entry = parts.catalog.find(model)
        served = None if entry is None else parts.models.of(of.by_model).find(entry)
        return [] if served is None else [*served.order(exchange)]

    make = partial(BatchCharges, parts.plan.routes, parts.services, targets)
    charge = parts.shared.once("batch charges", (), make)
    return BatchRoute(
        facts, route.dialects[-1], form, records, parts.services, charge, parts.uploads
    )


@dataclass(frozen=True, slots=True)
class BatchFileUpload:
    """Uploads by `calls`, as the caller of an exchange."""

    calls: FileCalls

    def __call__(self, exchange: Exchange, body: Body, to: Holder) -> str:
        """The sealed id of a new file at a holder. Raises GatewayError."""
        try:
            return self.calls.upload(exchange, FileFacts(_NAME, _MEDIA_TYPE, body.size), body, to)
        except CannotCopy as error:
            message = f"The requests of this batch were edited, and cannot be uploaded: {error}"
            raise GatewayError(502, "upstream_error", message) from error


class BatchCharges:
    """Counts against the limits of the caller, its teams and the routes of operations."""

    def __init__(self, routes: tuple[Route, ...], services: Services, targets: TargetsOf) -> None:
        self._routes = {route.operation.id: route for route in routes}
        self._services, self._targets = services, targets
        self._limit_sets: dict[str, RouteLimits] = {}

    def __call__(
        self, exchange: Exchange, operation: str, model: str, usage: Usage, cost: int
    ) -> None:
        """Count usage and cost (nano-units). What a quota has no room for any more is not added to
        it: it refuses requests already."""
        counters, route = self._services.counters, self._routes.get(operation)
        if counters is None:
            return
        request = copy.copy(exchange)
        request.operation = operation
        targets = [] if route is None else self._targets(route, model, request)
        request.model = RequestedModel(model, targets=targets)
        limits = self._of(operation, route).of(request)
        try:
            for rule, limit in zip(limits.rules, limits.limits, strict=True):
                amount_of = KINDS[rule.quota.kind].cost
                amount = 0 if amount_of is None else amount_of(usage, cost)
                if amount:
                    result = counters.take((limit,), (0,))
                    if result.denied is None:
                        counters.settle(result.receipt, (amount,))
        except CountersAway as error:
            exchange.record.uncounted = True
            _warning.log("results of batches are not counted against limits: %s", error)

    def _of(self, operation: str, route: Route | None) -> RouteLimits:
        if operation not in self._limit_sets:
            rules = () if route is None else route.guards.rules
            services = self._services
            self._limit_sets[operation] = RouteLimits(
                rules, services.proxies, "", Part.ALL, tables=services.names
            )
        return self._limit_sets[operation]
