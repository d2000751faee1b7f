"""The report of the edits that transforms made of a request."""

from __future__ import annotations

from itertools import groupby

from engine.config.config import Config
from engine.config.transforms import TransformConfig
from engine.exchange.exchange import Exchange
from engine.offline.rehearsal.observation import Rehearsal
from engine.offline.transform_edits import edits_of_caller, edits_of_upstreams
from engine.plan.plan import Plan
from engine.plan.route import Route
from engine.source.problem import Path, place_of
from engine.spec.document.node import Node
from engine.values.trees import Json


def transform_report(route: Route, rehearsal: Rehearsal, plan: Plan) -> list[Json]:
    """The edits of the request that were made, in their order: each with its `side` (`caller` or
    `upstream`) and place, and the place of the policy that makes it (`policy`, "" for none)."""
    exchange, config = rehearsal.exchange, plan.config
    if exchange is None:
        return []
    node = plan.specifications[route.operation.spec].node(route.operation)
    upstreams = [request.upstream for request in rehearsal.sent_requests]
    edits = [
        *(("caller", edit) for edit in _edits_of_caller(route, rehearsal, exchange, config, node)),
        *(("upstream", edit) for edit in edits_of_upstreams(route, exchange, upstreams, config)),
    ]
    return [
        {
            "side": side,
            "edit": words,
            "place": str(place_of(config.source, at)),
            "policy": _policy_place(route, at, config),
        }
        for side, (at, words) in edits
    ]


def _policy_place(route: Route, at: Path, config: Config) -> str:
    """The place of the policy that has the edit at a path; "" for none."""
    policies = (policy.at for policy in route.policies)
    return next((str(place_of(config.source, path)) for path in policies if _within(at, path)), "")


def _edits_of_caller(
    route: Route, rehearsal: Rehearsal, exchange: Exchange, config: Config, node: Node
) -> list[tuple[Path, str]]:
    """The edits on the caller's side that were made. Transforms between policies are a stage, and
    the others are the last one, with that of the model."""
    count = sum(step.name == "transform" for step in rehearsal.steps)
    edits = list(edits_of_caller(route, exchange.record.requested_entry, config, node))
    if count == sum(name == "transform" for name in rehearsal.stages):
        return edits if count else []
    groups = groupby(route.guards.written, lambda step: isinstance(step, TransformConfig))
    transforms = [
        [step.at for step in group if isinstance(step, TransformConfig)]
        for is_transform, group in groups
        if is_transform
    ]
    paths = [path for group in transforms[:count] for path in group]
    return [edit for edit in edits if any(_within(edit[0], path) for path in paths)]


def _within(at: Path, path: Path) -> bool:
    return at[: len(path)] == path
