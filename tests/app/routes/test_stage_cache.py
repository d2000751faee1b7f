"""Routes with the same settings share their stages."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.app.routes.stage_cache import StageCache
from engine.callers.limits.route_limits import Part
from engine.config.models import TargetConfig
from engine.edge.origin import SameOrigin
from engine.exchange.exchange import Exchange, Handler, Response
from engine.exchange.large_request_turns import Turns
from engine.offline.rehearsal.rehearse import stage_name
from engine.plan.route import Route
from engine.spec.security import Carrier
from engine.stages.validate import UNCHECKED
from tests.support.rehearsing import planned
from tests.support.upstreams import SERVICES


@pytest.fixture
def route(tmp_path: Path) -> Route:
    plan = planned(tmp_path).plan
    assert plan is not None
    return plan.routes[0]


@pytest.fixture
def shared() -> StageCache:
    return StageCache(SERVICES, SameOrigin())


def test_equal_settings_share_a_stage(route: Route, shared: StageCache) -> None:
    other = replace(route, unknown_fields="drop")
    assert shared.authenticate(route) is shared.authenticate(other)
    assert shared.meter(route) is shared.meter(other)
    for part in (Part.HEAD, Part.MODEL):
        assert shared.limit(route, part) is shared.limit(other, part)


def test_only_where_requests_take_turns_a_stage_is_interrupted(shared: StageCache) -> None:
    heavy, checks = StageCache(replace(SERVICES, turns=Turns(1)), SameOrigin()), UNCHECKED
    stages = [each.receive(checks) for each in (shared, shared, heavy, heavy)]
    assert stages[0] is stages[1]
    assert stages[2] is stages[3]
    assert [stage.__qualname__.partition(".")[0] for stage in stages[1:3]] == [
        "receive",
        "in_parts",
    ]


def test_a_stage_that_computes_with_some_bodies_is_interrupted_everywhere(
    shared: StageCache,
) -> None:
    heavy, stage = StageCache(replace(SERVICES, turns=Turns(1)), SameOrigin()), receive_nothing
    stages = [each.in_parts_if_long(stage) for each in (shared, shared, heavy)]
    assert stages[0] is stages[1]
    assert stage_name(stages[0]) == stage_name(stage)
    assert stage not in stages
    assert stages[2].__qualname__.startswith("in_parts.")


def receive_nothing(exchange: Exchange, following: Handler) -> Response:
    return following(exchange)


def test_other_settings_have_a_stage_of_their_own(route: Route, shared: StageCache) -> None:
    public = replace(route, allows_anonymous=True)
    by_key = replace(route, carriers=(Carrier("header", "x"),))
    assert len({shared.authenticate(each) for each in (route, public, by_key)}) == 3
    free = replace(route, takes=replace(route.takes, free=not route.takes.free))
    assert shared.meter(route) is not shared.meter(free)
    target = TargetConfig("u", "", 1.0)
    to_target = replace(route, to=(target,))
    assert shared.limit(route, Part.ALL) is not shared.limit(to_target, Part.ALL)
    assert shared.limit(route, Part.HEAD) is not shared.limit(route, Part.MODEL)
