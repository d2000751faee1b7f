"""The stack of a route: every step that a request takes, in order. Read `handler_of` first."""

from __future__ import annotations

from functools import partial
from itertools import groupby

from msgspec.structs import replace

from engine.app.routes.last_handler import (
    forward_of,
    has_own_targets,
    last_handler,
    region_lists,
    session_limits,
)
from engine.app.routes.streamed_uploads import streaming_stages
from engine.app.routes.transform_stages import edit_stage, transform_stage
from engine.app.routes.worker_parts import Parts
from engine.callers.limits.route_limits import Part
from engine.config.model_operation import ModelOperation
from engine.config.transforms import TransformConfig
from engine.edge.body_reader import check_head
from engine.edge.falcon_responder import Responder, answer_errors
from engine.exchange.exchange import Handler, Stage, compose
from engine.plan.route import Route
from engine.policies import PolicyStep
from engine.stages.validate import UNCHECKED, Checks, checks_of
from engine.upstream.models.regional_targets import RegionalModels
from engine.upstream.models.select_model import SelectModel
from engine.upstream.websockets.first_message import receive_first


def responder_of(route: Route, parts: Parts) -> Responder:
    """The responder of a route. It has nothing of the operation: the router passes its id."""
    handler, dialects = handler_of(route, parts), route.dialects
    settings = handler, tuple(dialect.name for dialect in dialects)
    return parts.shared.once(
        "responder", settings, lambda: parts.responders.responder(handler, dialects)
    )


def handler_of(
    route: Route, parts: Parts, *, is_chosen: bool = False, checks: Checks | None = None
) -> Handler:
    """The complete stack of a route, from the outermost stage to the handler that answers. Routes
    with the same stages share it.

    What the head decides comes before the body is received, and what the model decides before the
    schema is applied, so that a refusal saves work. Policies that judge what a transform may edit
    follow in the order of the config.

    `is_chosen`: the route was chosen among alternatives, behind the outer stages. `checks` stand in
    for those of the route, where its document has judged the request before.
    """
    operation = route.by_model
    request_stages = stages_of(route, parts, _checks(route) if checks is None else checks)
    wrapped = parts.wrap_stages(route, request_stages)
    stages = [*([] if is_chosen else outer_stages(parts)), *wrapped]
    has_own = has_own_targets(route) or wrapped is not request_stages
    last = last_handler(route, operation, parts)
    # What no other route can have is not remembered.
    return compose(stages, last) if has_own else parts.shared.compose(stages, last)


def stages_of(route: Route, parts: Parts, checks: Checks = UNCHECKED) -> list[Stage]:
    """The stages of a route behind the outer ones, before its last handler."""
    shared, guards = parts.shared, route.guards
    by_model = route.model is not None
    if route.respond is not None:  # whatever the request is
        return head_stages(route, parts)
    return [
        *head_stages(route, parts),
        *_first_message_stages(route, parts),
        *shared.report(route),
        *shared.validate_parameters(checks),
        *streaming_stages(route, checks, parts),
        *shared.take_turn(parts.watcher.watch),
        *_receiving_stages(route, checks, parts),
        *shared.policies(guards.models),
        *shared.validate_body(checks),
        *map(shared.in_parts_if_long, _written_stages(route, parts)),
        *_batch_stages(route, parts),
        *map(shared.in_parts_if_long, _object_stages(route, parts)),
        *([shared.meter(route)] if parts.metered else []),
        *([shared.limit(route, Part.MODEL)] if by_model else []),
        *([shared.limit(route, Part.BODY)] if _takes_by_body(route) else []),
        *_mirror_stage(route, parts),
        *shared.end_turn(),
    ]


def _first_message_stages(route: Route, parts: Parts) -> list[Stage]:
    """Accepts a WebSocket whose first message is the body of the request."""
    if route.websocket is None or not route.operation.first_message:
        return []
    dialect, limits = route.dialects[-1], session_limits(route.websocket)
    server = parts.plan.config.server
    build = partial(receive_first, dialect, limits, server.max_body, server.body_timeout)
    first = parts.shared.once("first message", (dialect.name, limits), build)
    return [first, *parts.shared.bind_first(route)]


def head_stages(route: Route, parts: Parts) -> list[Stage]:
    """The stages that need nothing but the head of a request."""
    shared, by_model = parts.shared, route.model is not None
    return [
        shared.authenticate(route),
        *shared.bind_session(route),
        *shared.policies(route.guards.early),
        *([shared.limit(route, Part.HEAD if by_model else Part.ALL)] if _takes(route) else []),
    ]


def _takes_by_body(route: Route) -> bool:
    """Whether requests take from limits by a member of the body, on a route without models."""
    return route.guards.counts_by_body and route.model is None and _takes(route)


def _takes(route: Route) -> bool:
    """Whether requests take from limits."""
    return route.answer is None or not route.answer.is_free


def outer_stages(parts: Parts) -> list[Stage]:
    """The stages of every request for an operation, before those of its route."""
    return [parts.lifecycle.observe, *parts.cors.stages(), answer_errors, check_head]


def _checks(route: Route) -> Checks:
    """The checks of the route's requests against its document."""
    locations = route.model_locations
    return checks_of(
        *(route.operation, route.validate, route.needs_body, route.unknown_fields, locations),
        readonly=route.readonly,
    )


def checks_left(route: Route) -> Checks:
    """The checks of a route that are left for requests whose values fit its document, and whose
    content is known, as those of tools are. Members may still have names to replace."""
    checks = _checks(route)
    if checks.mode not in ("strict", "lenient") or checks.edits:
        return checks
    has_spellings = route.operation.bodies.spellings is not None
    bodies = checks.bodies if has_spellings else None
    return checks._replace(parameters=(), bodies=bodies, mode="off")


def _receiving_stages(route: Route, checks: Checks, parts: Parts) -> list[Stage]:
    """Receives the body and selects the model, which is refused as soon as its name is known."""
    select = _select_stage(route, route.by_model, parts)
    if select is None or route.model is None:
        return [parts.shared.receive(checks)]
    if route.model.location == "body":
        return [parts.shared.receive(checks, select.check_early), select]
    return [select.check_head, parts.shared.receive(checks), select]


def _select_stage(route: Route, operation: ModelOperation, parts: Parts) -> SelectModel | None:
    """Finds the requested model and its targets, on routes to models."""
    locations = route.model_locations
    if locations is None:
        return None
    kind, lists = parts.models.operations.kind(operation), region_lists(route)
    is_regional = bool(lists) or parts.plan.config.requires_regions
    select = partial(
        SelectModel,
        locations,
        default=route.default_model,
        operation=operation,
        models=parts.models,
        catalog=parts.catalog,
        regional=RegionalModels(lists, may_lack=bool(operation.counts)) if is_regional else None,
    )
    return parts.shared.once("select", (locations, route.default_model, kind, lists), select)


def _written_stages(route: Route, parts: Parts) -> list[Stage]:
    """The policies that run in the order of the config, and the edits of transforms, each at its
    place. The edits behind the last policy are made together with those of the model, which also
    edits responses. The gateway's own answers are not edited."""
    steps = [*route.guards.written]
    if route.answer is not None:
        return parts.shared.policies([step for step in steps if isinstance(step, PolicyStep)])
    stages: list[Stage] = []
    skip = 0  # transforms whose edits have been made
    for is_transform, group in groupby(steps, lambda step: isinstance(step, TransformConfig)):
        run = [*group]
        if not is_transform:
            stages += parts.shared.policies([s for s in run if isinstance(s, PolicyStep)])
        elif run[-1] is not steps[-1]:
            stages.append(
                edit_stage([s for s in run if isinstance(s, TransformConfig)], route, parts)
            )
            skip += len(run)
    return [*stages, *transform_stage(route, parts, skip)]


def judging_stages(route: Route, parts: Parts) -> tuple[list[Stage], list[Stage], list[Stage]]:
    """The stages that judge a request of a batch, whose caller is known and which is sent nowhere
    by itself: those before its schema, the schema, and those behind it."""
    checks, shared, guards = _checks(route), parts.shared, route.guards
    before = [*_receiving_stages(route, checks, parts), *shared.policies(guards.models)]
    behind = [*_written_stages(route, parts), *_object_stages(route, parts)]
    return [*shared.policies(guards.early), *before], shared.validate_body(checks), behind


def _batch_stages(route: Route, parts: Parts) -> list[Stage]:
    """Judges the requests of batches, where the config has a key for ids of objects."""
    if parts.opener is None:
        return []
    from engine.app.routes.batch_stages import batch_stages

    return batch_stages(route, parts, partial(judging_stages, parts=parts))


def _object_stages(route: Route, parts: Parts) -> list[Stage]:
    """Opens what callers keep, where the config has a key for it."""
    if parts.opener is None:
        return []
    from engine.app.routes.object_stages import object_stages

    return object_stages(route, parts)


def _mirror_stage(route: Route, parts: Parts) -> list[Stage]:
    """Sends copies of requests, on routes to models of which one has a mirror. A rehearsal, and a
    process that serves large requests only, send none."""
    serves = parts.services.background and parts.services.turns is None
    models = parts.plan.config.models.values()
    has_mirrors = route.model is not None and any(model.mirror is not None for model in models)
    if not (serves and has_mirrors) or route.websocket is not None or route.answer is not None:
        return []
    if route.objects is not None:
        return []
    operation, lists = route.by_model, region_lists(route)
    is_regional = bool(lists) or parts.plan.config.requires_regions
    within = RegionalModels(lists, may_lack=False).of if is_regional else None
    forward = forward_of(replace(route, hedge=None), operation, parts)
    metered = [parts.shared.meter(route)] if parts.metered else []
    send = compose([parts.lifecycle.observe, answer_errors, *metered], forward)
    return [parts.mirrors.stage(send, operation, within)]
