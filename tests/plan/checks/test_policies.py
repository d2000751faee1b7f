"""Checks of `deny` over several routes; what is found in one is in cases/configs/deny-*.yaml."""

from pathlib import Path

import yaml

from engine.plan.assembly.make_plan import make_plan
from tests.support import paths

FOLDER = paths.CASES / "deny"


def problems(routes, policies=()):
    config = {
        "version": 1,
        "specs": {"api": {"document": "api.yaml"}},
        "upstreams": {"main": {"url": "https://main.example.com"}},
        "routes": [{"to": [{"upstream": "main"}]} | route for route in routes],
        "policies": [*policies],
    }
    planned = make_plan(Path(FOLDER / "gateway.yaml"), {}, yaml.safe_dump(config))
    return [(p.level, p.code) for p in planned.problems if p.code.startswith("MW37")]


def test_one_operation_with_the_place_is_enough():
    policy = {"deny": {"if": {"body": {"user": "x"}}}}
    assert problems([{"operations": ["api.chat", "api.items"]}], [policy]) == []
    assert problems([{"operation": "api.items"}], [policy]) == [("error", "MW371")]


def test_a_condition_that_some_operations_can_never_meet_is_right():
    policy = {"deny": {"if": {"body": {"name": "x"}}}}
    assert problems([{"operations": ["api.chat", "api.form"]}], [policy]) == []


def test_without_validation_requests_may_break_the_document():
    route = {
        "operation": "api.chat",
        "policies": [{"deny": {"if": {"body": {"n": {"minimum": 9}}}}}],
    }
    assert problems([route]) == [("warning", "MW372")]
    assert problems([route | {"validate": "off"}]) == []


def test_an_exception_that_one_operation_lacks_is_right_beside_a_condition():
    policy = {"deny": {"if": {"header": {"x-tier": "free"}}, "unless": {"body": {"user": {}}}}}
    assert problems([{"operations": ["api.chat", "api.items"]}], [policy]) == []


def test_each_policy_is_reported_once():
    route = {"operations": ["api.chat"]}
    policy = {"deny": {"if": {"query": {"limits": 1}}}}
    assert problems([route, {"operations": ["api.items"]}], [policy]) == [("error", "MW371")]
