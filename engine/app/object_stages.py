"""The stages of a route that deal with objects: its batches, the ids of its requests, and the
responses that the records keep."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from engine.app.batch_charges import BatchCharges
from engine.app.batch_judge import BatchJudge, StagesOfRoute
from engine.app.worker_parts import Parts
from engine.exchange.exchange import Exchange, Stage
from engine.objects.batch_route import BatchRoute
from engine.objects.facts import ObjectFacts
from engine.objects.id_opener import IdOpener
from engine.objects.request_ids import RequestIds
from engine.objects.stored_responses import KIND
from engine.plan.route import Route
from engine.spec.model_locations import ModelLocations
from engine.stages.judge_batch import judge_batch, refuse_pieces
from engine.stages.open_ids import open_ids
from engine.stages.stored_responses import continue_response, serve_stored_response
from engine.upstream.target import Target


def id_stages(
    route: Route, parts: Parts, locations: ModelLocations | None, judging: StagesOfRoute
) -> list[Stage]:
    """Judges the requests of batches and opens sealed ids. `locations` are those of the model;
    `judging` gives the stages of a route that judge a request of a batch."""
    facts, opener = route.objects, parts.opener
    if facts is None or opener is None:
        return []
    return [
        *_batch_stages(route, facts, parts, judging),
        *_turn_stages(facts, opener, locations, parts),
        *open_stages(route, parts, locations),
    ]


def open_stages(route: Route, parts: Parts, locations: ModelLocations | None) -> list[Stage]:
    """Opens the sealed ids of requests."""
    facts, opener = route.objects, parts.opener
    if facts is None or opener is None:
        return []
    operation = route.operation
    owner, dialect = parts.plan.config.objects.owner, route.dialects[-1]

    def build() -> Stage:
        parse = partial(operation.bodies.parse, strict=False)
        ids = RequestIds(facts, opener, parse, dialect.json_name)
        return open_ids(ids, owner, locations)

    settings = facts, operation.bodies, locations, dialect.name
    return [parts.shared.once("ids", settings, build)]


def _batch_stages(
    route: Route, facts: ObjectFacts, parts: Parts, judging: StagesOfRoute
) -> list[Stage]:
    """Judges the requests of batches, on routes that get them."""
    dialect, config = route.dialects[-1], parts.plan.config.objects
    form = dialect.batches
    if form is None:
        return []
    if "pieces" in facts.batch:
        return [parts.shared.once("pieces", dialect.name, partial(refuse_pieces, form))]
    if "requests" not in facts.batch:
        return []
    upstreams = tuple(dict.fromkeys(to.upstream for to in route.to))
    judge = partial(BatchJudge, dialect, parts, form.path, judging)
    build = partial(
        judge_batch,
        form,
        parts.shared.once("batch judge", dialect.name, judge),
        config.owner,
        upstreams,
        dialect.json_name,
        reports=config.batches.invalid == "report",
    )
    return [parts.shared.once("batch", (dialect.name, upstreams), build)]


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
    return BatchRoute(facts, route.dialects[-1], form, records, parts.services, charge)


def _turn_stages(
    facts: ObjectFacts, opener: IdOpener, locations: ModelLocations | None, parts: Parts
) -> list[Stage]:
    """Reads and continues the responses that the records keep."""
    responses, owner, turns = parts.responses, parts.plan.config.objects.owner, facts.turns
    if responses is None or not turns:
        return []
    if turns in ("create", "continue"):
        keeps = turns == "create"
        build: Callable[[], Stage] = partial(
            continue_response, responses, opener, owner, locations, keeps=keeps
        )
        return [parts.shared.once("continue", (locations, keeps), build)]
    variable = next(p.steps[0] for p in facts.names if p.location == "path" and p.kind == KIND)
    build = partial(serve_stored_response, responses, opener, owner, turns, variable)
    return [parts.shared.once("stored", (turns, variable), build)]
