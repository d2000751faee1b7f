"""A transform that `check` accepts never silently makes a request invalid, for random schemas.

A transform that the proof lets through is applied to a valid request. The stage then either sends a
valid one, or refuses it aloud.
"""

import json
import random
from collections import Counter

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.exchange.internal_request import Request
from engine.offline.rehearsal.rehearse import rehearse
from engine.plan.assembly.make_plan import make_plan

NAMES = ["a", "b", "c", "d"]
LEAVES = [
    *({}, {}, {}, {}, {}, {}),
    {"type": "string"},
    {"type": "integer", "maximum": 2},
    {"type": ["string", "null"]},
    {"enum": ["x", 1]},
    {"type": "array", "items": {"type": "integer"}, "maxItems": 3},
    {"type": "array"},
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
]
PLACES = [*NAMES, *NAMES, *NAMES, "/a/b", "/b/a", "/c/d/a", "/a/0", "$.a[*]", "$..b", "$.*.a"]
SINGULAR = [*NAMES, *NAMES, *NAMES, "/a/b", "/b/a", "/c/d/a"]
KINDS = ["remove", "rename", "default", "set", "prepend", "append"]


def schema_of(dice, depth=0):
    if depth and (depth > 2 or dice.random() < 0.8):
        return dice.choice(LEAVES)
    return {
        "type": "object",
        "properties": {n: schema_of(dice, depth + 1) for n in NAMES if dice.random() < 0.9},
        "required": [name for name in NAMES if dice.random() < 0.05],
        **({"additionalProperties": False} if dice.random() < 0.3 else {}),
    }


def value_of(dice, depth=0):
    kind = dice.random()
    if depth < 2 and kind < 0.2:
        return [value_of(dice, depth + 1) for _ in range(dice.randrange(3))]
    if depth < 2 and kind < 0.4:
        return {name: value_of(dice, depth + 1) for name in NAMES if dice.random() < 0.4}
    return dice.choice(["x", 1, 2, 3, "", True, None, "yy"])


def text_of(dice):
    return (
        dice.choice(["{token.name}", "{request.query.q}"])
        if dice.random() < 0.2
        else value_of(dice)
    )


def edits_of(dice):
    """One to three edits, each of one or two places."""
    edits = {}
    for kind in dice.sample(KINDS, dice.randint(1, 2)):
        places = dice.sample(
            SINGULAR if kind in ("rename", "default") else PLACES, dice.randint(1, 2)
        )
        if kind == "remove":
            edits[kind] = places
        elif kind == "rename":
            edits[kind] = {place: dice.choice(SINGULAR) for place in places}
        elif kind in ("default", "set"):
            edits[kind] = {place: text_of(dice) for place in places}
        else:
            edits[kind] = {place: [text_of(dice)] for place in places}
    return edits


def planned(folder, schema, edits):
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "paths": {
            "/x": {
                "post": {
                    "operationId": "x",
                    "requestBody": {"content": {"application/json": {"schema": schema}}},
                    "responses": {"200": {"description": "ok"}},
                }
            }
        },
    }
    (folder / "shop.yaml").write_text(json.dumps(document))
    config = {
        "version": 1,
        "specs": {"shop": {"document": "shop.yaml", "dialect": "openai"}},
        "upstreams": {"one": {"url": "https://one.test"}},
        "policies": [{"transform": {"request": {"body": edits}}}],
        "routes": [{"operation": "shop.x", "to": [{"upstream": "one"}], "auth": "none"}],
    }
    return make_plan(folder / "gateway.yaml", {}, json.dumps(config)).plan


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sound")


def outcome(plan, body):
    """What becomes of a request: refused, or sent, changed or not. What is sent is valid, and a
    transform that makes it invalid is named in the log."""
    (route,) = plan.routes
    validator = route.operation.bodies.rules["application/json"].validator
    text = json.dumps(body, separators=(", ", " : ")).encode()
    request = Request("POST", "/x?q=%22%5B", [("content-type", "application/json")], text)
    result = rehearse(plan, request)
    if not validator.is_valid(body):
        assert (result.status, result.sent_requests) == (400, [])
        return "invalid"
    if result.status == 500:
        assert result.sent_requests == []
        assert any("policies.0.transform" in line for line in result.log)
        return "refused"
    assert result.status == 200, result.body
    (upstream_request,) = result.sent_requests
    assert validator.is_valid(orjson.loads(upstream_request.body))
    return "sent" if upstream_request.body == text else "changed"


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(seed=st.integers(0, 2**32))
def test_an_accepted_transform_sends_valid_requests_or_refuses_them(folder, seed):
    dice = random.Random(seed)
    plan = planned(folder, schema_of(dice), edits_of(dice))
    for _ in range(4 if plan is not None else 0):
        outcome(plan, {name: value_of(dice) for name in NAMES if dice.random() < 0.5})


def test_enough_of_them_are_accepted_and_change_something(folder):
    outcomes = Counter()
    for seed in range(60):
        dice = random.Random(seed)
        plan = planned(folder, schema_of(dice), edits_of(dice))
        for _ in range(4 if plan is not None else 0):
            outcomes[outcome(plan, {n: value_of(dice) for n in NAMES if dice.random() < 0.5})] += 1
    assert outcomes["changed"] > 10
    assert outcomes["invalid"] > 10
