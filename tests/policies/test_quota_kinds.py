"""A policy of a new kind of quota: one file, and a row in the table of kinds."""

import importlib
import sys
from pathlib import Path

import pytest

from engine import policies
from engine.callers.limits.limit_set import LimitSet
from engine.config.routes import Policy
from engine.exchange.exchange import Response
from engine.exchange.stage_services import Services
from engine.offline.diff.restrictions import quota_text
from engine.plan.assembly.make_plan import make_plan
from engine.policies.interface import PolicyKind
from engine.stages.limit import limit
from engine.stores.counters.memory import MemoryCounters
from engine.values import quota
from engine.values.discovery import Plugins
from engine.values.errors import GatewayError
from engine.values.quota import QuotaKind
from engine.values.quota_sharers import shared_by
from engine.values.usage import Usage
from tests.support.exchanges import new_exchange

POLICY = """
from engine.policies.interface import LimitPolicy
from engine.values.quota import AMOUNT, Quota

POLICY = LimitPolicy(
    schema={"description": "Images in an hour.", **AMOUNT},
    quota=lambda options, currency: Quota("images", options, 3600.0),
)
"""
CONFIG = """version: 1
specs: {shop: {document: shop.yaml, dialect: plain}}
upstreams: {one: {url: "http://1.1.1.1"}}
policies: [{image_limit: 3}]
routes: [{operation: shop.getA, to: [{upstream: one}]}]
"""
DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths: {/a: {get: {operationId: getA, responses: {}}}}
"""


@pytest.fixture
def image_limit(tmp_path, monkeypatch):
    """A policy in a separate folder, which limits images."""
    (tmp_path / "image_limit.py").write_text(POLICY)
    (tmp_path / "shop.yaml").write_text(DOCUMENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(policies, "__path__", [*policies.__path__, str(tmp_path)])
    importlib.invalidate_caches()
    monkeypatch.setattr(policies, "KINDS", Plugins("engine.policies", "POLICY", PolicyKind))
    yield
    sys.modules.pop("engine.policies.image_limit", None)


@pytest.fixture
def images(monkeypatch):
    """The kind of quota that the policy needs."""
    kind = QuotaKind("images", "image_limit_exceeded", cost=lambda usage, nanos: usage.images)
    monkeypatch.setitem(quota.KINDS, "images", kind)


@pytest.mark.usefixtures("image_limit")
def test_an_unknown_kind_is_a_problem_of_the_config():
    (problem,) = make_plan(Path("gateway.yaml"), {}, CONFIG).problems
    assert problem.code == "MW104"
    assert problem.message == (
        "'images' is not a kind of quota; the kinds are requests, tokens, spend, concurrency"
    )


@pytest.mark.usefixtures("image_limit", "images")
def test_a_kind_of_the_table_is_planned_counted_and_refused_by_its_cost(tmp_path):
    result = make_plan(Path("gateway.yaml"), {}, CONFIG)
    assert result.problems == []
    assert result.plan is not None
    rules = result.plan.routes[0].guards.rules
    counters = MemoryCounters(tmp_path / "counters")
    stage = limit(rules, Services(counters=counters))

    def draw(count):
        exchange = new_exchange(environ={"REMOTE_ADDR": "1.1.1.1"})
        exchange.record.estimate = Usage(images=count)
        return stage(exchange, lambda _: Response(200, []))

    assert draw(2).status == 200
    with pytest.raises(GatewayError, match="Limit reached: 3 images per 1 hour") as excinfo:
        draw(2)
    assert excinfo.value.code == "image_limit_exceeded"
    counters.close()


@pytest.mark.usefixtures("image_limit", "images")
def test_a_kind_of_the_table_is_named_in_reports():
    (rule,) = policies.guards([Policy("image_limit", 3, (), "")], "USD").rules
    assert quota_text(rule.quota, "USD") == "3 images per 1h"


def test_every_kind_costs_something_or_is_counted_by_request():
    usage = Usage(input=1, output=1)
    for name, kind in quota.KINDS.items():
        rule = quota.QuotaRule(
            quota.Quota(name, 5, 0.0 if kind.at_one_time else 60.0), shared_by(), name
        )
        limits = LimitSet([rule], [""])
        exchange = new_exchange()
        exchange.record.usage, exchange.record.cost = usage, 7
        exchange.record.reached_upstream, exchange.record.status = True, 200
        expected = [0] if kind.at_one_time else None if kind.cost is None else [kind.cost(usage, 7)]
        assert limits.final_costs(exchange.record) == expected
