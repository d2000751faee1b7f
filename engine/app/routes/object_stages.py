"""The stages of a route that open what callers keep: sealed ids of objects, responses that the
records store, and summaries. They come behind all policies, which see what the caller has sent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from engine import translations
from engine.app.routes.file_calls import FileCalls
from engine.app.routes.file_copier import FileCopier
from engine.app.routes.worker_parts import Parts
from engine.exchange.exchange import Stage
from engine.objects.facts import ObjectFacts
from engine.objects.file_copies import FILE
from engine.objects.id_opener import IdOpener
from engine.objects.request_ids import RequestIds
from engine.objects.stored_responses import KIND
from engine.plan.route import Route
from engine.spec.model_locations import ModelLocations
from engine.stages.copy_files import FileSettings, copy_files
from engine.stages.open_sealed import open_ids, open_summaries
from engine.stages.stored_responses import continue_response, serve_stored_response


def object_stages(route: Route, parts: Parts) -> list[Stage]:
    """Opens what callers keep of this gateway's: ids, stored responses and summaries."""
    return [*_id_stages(route, parts), *_summary_stages(route, parts)]


def _id_stages(route: Route, parts: Parts) -> list[Stage]:
    """Opens the sealed ids of requests."""
    facts, opener = route.objects, parts.opener
    if facts is None or opener is None:
        return []
    operation, locations = route.operation, route.model_locations
    owner, dialect = parts.plan.config.objects.owner, route.dialects[-1]

    def build() -> Stage:
        parse = partial(operation.bodies.parse, strict=False)
        ids = RequestIds(facts, opener, parse, dialect.json_name)
        # A value then says that the body is plain JSON in UTF-8: no other one is parsed.
        signs = ids.signs if operation.bodies.are_json else ()
        return open_ids(ids, owner, locations, signs)

    ids = parts.shared.once("ids", (facts, operation.bodies, locations, dialect.name), build)
    copies = _copy_stages(route, opener, parts)
    return [*_turn_stages(facts, opener, locations, parts), *copies, ids]


def _copy_stages(route: Route, opener: IdOpener, parts: Parts) -> list[Stage]:
    """Copies files to the upstream of the model that a request names."""
    config, dialect, facts = parts.plan.config.objects, route.dialects[-1], route.objects
    if parts.copies is None or dialect.files is None or facts is None or route.model is None:
        return []
    places = tuple(place for place in facts.names if place.location == "body")
    if not any(place.kind == FILE for place in places) or route.websocket is not None:
        return []
    calls = FileCalls(parts.plan, parts.inside)
    make = partial(FileCopier, calls, parts.copies, config.files)
    copier = parts.shared.once("copier", (), make)
    settings = FileSettings(places, opener, config.owner, dialect.files, dialect.json_name)
    locations = route.model_locations
    build = partial(copy_files, settings, copier, locations)
    return [parts.shared.once("copy files", (places, dialect.name, locations), build)]


def _summary_stages(route: Route, parts: Parts) -> list[Stage]:
    """Opens the summaries in requests of a language that has them."""
    operation, summaries, locations = route.by_model, parts.summaries, route.model_locations
    name = operation.language or operation.counts
    compacts = {each.name for each in translations.languages() if each.compact_suffix}
    if summaries is None or name not in compacts:
        return []
    build = partial(open_summaries, summaries, locations)
    return [parts.shared.once("summaries", locations, build)]


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
