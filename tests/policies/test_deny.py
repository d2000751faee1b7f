"""The policy `deny`: cases/deny holds options, and what becomes of requests."""

from functools import partial
from pathlib import Path

import pytest
import yaml

from engine import policies
from engine.config.routes import Policy
from engine.offline.diff.difference import differences_between
from engine.offline.rehearsal import observation
from engine.offline.rehearsal.rehearse import rehearse
from engine.plan.assembly.make_plan import make_plan
from engine.policies.deny import read
from engine.process.loop_turn import FEW_BYTES
from tests.support import yaml_text
from tests.support.each import each
from tests.support.loop_turns import loop_turns
from tests.support.paths import CASES as ALL_CASES

FOLDER = ALL_CASES / "deny"
CASES = sorted(path for path in FOLDER.glob("*.yaml") if path.name != "api.yaml")
BOUNDARY = "xYx"


def planned_of(case):
    config = {
        "version": 1,
        "specs": {"api": {"document": "api.yaml"}},
        "upstreams": {"main": {"url": "https://main.example.com"}},
        "routes": [
            {
                "operations": "api.*",
                "to": [{"upstream": "main"}],
                "auth": "none",
                "validate": case.get("validate", "strict"),
                "policies": [{"deny": case["deny"]}],
            }
        ],
    }
    planned = make_plan(Path(FOLDER / "gateway.yaml"), {}, yaml.safe_dump(config))
    assert planned.plan is not None, planned.findings.errors
    return planned


def plan_of(case):
    return planned_of(case).plan


def request_of(entry):
    headers = dict(entry.get("headers", {}))
    body, kind = entry.get("body", ""), entry.get("type", "application/json")
    if "form" in entry:
        body, kind = entry["form"], "application/x-www-form-urlencoded"
    if "multipart" in entry:
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        parts = [
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in entry["multipart"].items()
        ]
        body = "".join(parts) + f"--{BOUNDARY}--\r\n"
    if body:
        headers["content-type"] = kind
    method = entry.get("method", "POST")
    return observation.request(method, entry["path"], [*headers.items()], body.encode())


@each("file", CASES, ids=lambda file: file.stem)
def test_requests_are_refused_as_the_case_says(file):
    case = yaml_text.load(file.read_text("utf-8"))
    plan = plan_of(case)
    for entry in case["requests"]:
        rehearsal = rehearse(plan, request_of(entry))
        error = rehearsal.error
        if "refusal" not in entry:
            assert (rehearsal.status, error) == (entry["status"], None), entry
            continue
        assert error is not None, entry
        results = [error.status, error.code, error.param, error.message]
        assert results[: len(entry["refusal"])] == entry["refusal"], entry


def test_options_without_a_condition():
    with pytest.raises(ValueError, match="'deny' needs 'if' or 'unless'"):
        read({"status": 403})


def test_equal_options_are_equal_guards():
    options = {"if": {"body": {"n": {"minimum": 2}}}}
    first, second = (policies.guards([Policy("deny", options, ())], "USD") for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)


def test_a_body_is_read_only_for_conditions_on_it():
    of_body = {"unless": {"body": {"n": 1}}}
    of_header = {"unless": {"header": {"x": "1"}}}
    results = [
        policies.guards([Policy("deny", options, ())], "USD").reads_body
        for options in (of_body, of_header)
    ]
    assert results == [True, False]


@each(
    ("changed", "level"),
    [
        ({"if": {"body": {"n": {"minimum": 3}}}}, "weaker"),
        ({"if": {"body": {"n": {"minimum": 2}}}, "message": "no"}, "changed"),
        ({"if": {"body": {"n": {"minimum": 1}}}}, "changed"),
        ({"if": {"body": {"n": {"minimum": 2}}}, "unless": {"body": {"user": {}}}}, "weaker"),
    ],
)
def test_conditions_that_refuse_less_are_weaker_to_diff(changed, level):
    old = planned_of({"deny": {"if": {"body": {"n": {"minimum": 2}}}}})
    differences = differences_between(old, planned_of({"deny": changed}))
    assert {str(each.level) for each in differences} == {level}


def test_the_loop_turns_before_a_body_is_judged_that_took_long_to_read():
    plan = plan_of({"deny": {"if": {"body": {"n": {"minimum": 2}}}}})
    turns = []
    for size in (10, FEW_BYTES):
        body = '{"model": "a", "n": 1}'.ljust(size + 30)
        request = request_of({"path": "/chat", "body": body})
        turns.append(loop_turns(partial(rehearse, plan, request)))
    assert turns[1] > turns[0]
