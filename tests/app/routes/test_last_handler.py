"""What answers behind the stages of a route."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from engine.app.routes.last_handler import LazyUsage, has_own_targets, last_handler, region_lists
from engine.exchange.stage_services import Services
from engine.stores.usage_query import UsageQuery
from engine.upstream.forward import Forward
from engine.values.caller import Caller
from tests.app.routes.test_stage_cache_handlers import BY_MODEL, TO, TOKEN, Project, document
from tests.support.exchanges import new_exchange

TARGET = {"to": [{"upstream": "main", "max_in_flight": 2}]}
HEDGE = {**BY_MODEL, "hedge": {"after": "1s", "idempotent": True}}


@pytest.mark.parametrize(
    ("route", "own"), [(BY_MODEL, False), (TO, False), (TARGET, True), (HEDGE, True)]
)
def test_routes_whose_targets_have_state_share_no_handler(tmp_path, route, own):
    project = Project(tmp_path, route, route)
    parts = project.parts()
    routes = project.plan.routes
    assert [has_own_targets(each) for each in routes] == [own, own]
    first, second = (last_handler(each, each.by_model, parts) for each in routes)
    assert isinstance(first, Forward)
    assert (first is second) is not own


def test_a_response_of_the_config_asks_nobody(tmp_path):
    project = Project(tmp_path, {"respond": {"status": 204}}, BY_MODEL)
    route = project.plan.routes[0]
    response = last_handler(route, route.by_model, project.parts())(new_exchange())
    assert response.status == 204
    assert project.requests == []


def test_regions_are_those_of_the_route(tmp_path):
    project = Project(tmp_path)
    assert [region_lists(route) for route in project.plan.routes] == [(), ()]


@pytest.mark.parametrize(("statuses", "sent"), [(["101", "200"], 1), (["101"], 0)])
def test_a_websocket_that_has_an_answer_too_is_forwarded_without_an_upgrade(
    tmp_path, statuses, sent
):
    responses = {status: {"description": "d"} for status in statuses}
    logs = {"operationId": "b", "requestBody": {}, "responses": responses}
    of_document = document(b=logs, path_b="/logs", method_b="get")
    project = Project(tmp_path, BY_MODEL, TO, of_document)
    result = project.app.simulate_get("/v1/logs", headers=TOKEN)
    assert result.status_code == (200 if sent else 426)
    assert len(project.requests) == sent
    asked = {**TOKEN, "Upgrade": "websocket"}
    assert project.app.simulate_get("/v1/logs", headers=asked).status_code == 400


def test_it_is_made_once():
    asked = []

    class Plan:
        @property
        def routes(self):
            asked.append("routes")
            return []

        config = SimpleNamespace(models={}, tags=())

    usage = LazyUsage(SimpleNamespace(plan=Plan(), services=Services(currency="EUR")))
    assert asked == []
    for name in ("ann", "ben"):
        assert usage.sums(Caller(name), UsageQuery(1, 1))["currency"] == "EUR"
    assert asked == ["routes"]
