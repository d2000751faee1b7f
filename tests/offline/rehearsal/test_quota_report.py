"""The verdict of each policy, and the amounts that limits take."""

import json

import pytest

from engine.offline.rehearsal.observation import request
from engine.offline.rehearsal.quota_report import verdicts
from engine.offline.rehearsal.rehearse import rehearse
from engine.values.caller import Caller
from tests.support.rehearsing import CONFIG, patched, planned

ALICE = Caller("alice")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return planned(tmp_path_factory.mktemp("project"))


def verdicts_of(project, caller=ALICE, model="big"):
    """Verdict and reason of each policy on a chat."""
    body = json.dumps({"model": model, "messages": [{}]}).encode()
    rehearsal = rehearse(project.plan, request("POST", "/v1/chat", (), body), caller)
    rows = verdicts(rehearsal.route, rehearsal, project.plan.config)
    return {row["policy"]: (row["verdict"], row["reason"]) for row in rows}


def test_policies_come_in_the_order_they_run_and_then_the_limits_of_the_token(project):
    caller = next(c for c in project.plan.config.tokens.values() if c.name == "alice")
    assert list(verdicts_of(project, caller).items()) == [
        ("rate_limit", ("passed", "would take 1 of 60 requests per 1m of alice")),
        ("max_body", ("passed", "")),
        ("allow_models", ("passed", "")),
        ("the token's own requests", ("passed", "would take 1 of 5 requests per 1h of alice")),
    ]


def test_after_a_refusal_the_limits_that_depend_on_the_model_are_not_reached(tmp_path):
    budget = "token_budget: {tokens: 10, per: 1m}"
    config = CONFIG.replace("rate_limit: {requests: 60, per: 1m}", budget)
    config = config.replace('[big, small, "wild-*"]', "[small]")
    project = planned(tmp_path, config.replace("max_body: 1KB", "concurrency: {requests: 5}"))
    assert {policy: verdict for policy, (verdict, _) in verdicts_of(project).items()} == {
        "token_budget": "not reached",
        "allow_models": "refused",
        "concurrency": "passed",
    }


def test_each_of_two_policies_of_a_name_has_a_verdict_of_its_own(tmp_path):
    denials = [{"deny": {"if": {"header": {"x": value}}}} for value in ("a", "b", "c")]
    project = planned(tmp_path, patched(CONFIG, {"policies": denials}))
    body = json.dumps({"model": "big", "messages": [{}]}).encode()
    chat = request("POST", "/v1/chat", (("x", "b"),), body)
    rehearsal = rehearse(project.plan, chat, ALICE)
    rows = verdicts(rehearsal.route, rehearsal, project.plan.config)
    found = [row["verdict"] for row in rows if row["policy"] == "deny"]
    assert found == ["passed", "refused", "not reached"]


def test_a_refusal_has_the_message_for_the_caller(tmp_path):
    project = planned(tmp_path, CONFIG.replace('[big, small, "wild-*"]', "[small]"))
    assert "'big'" in verdicts_of(project)["allow_models"][1]


def test_a_limit_that_a_single_request_exceeds_refuses_it(tmp_path):
    budget = "rate_limit: {requests: 60, per: 1m}"
    config = CONFIG.replace(budget, "token_budget: {tokens: 1, per: 1h}")
    verdict, reason = verdicts_of(planned(tmp_path, config))["token_budget"]
    assert verdict == "refused"
    assert " of 1 tokens per 1h of alice" in reason


def test_slots_have_no_window(tmp_path):
    config = CONFIG.replace("rate_limit: {requests: 60, per: 1m}", "concurrency: {requests: 3}")
    assert verdicts_of(planned(tmp_path, config))["concurrency"] == (
        "passed",
        "would take 1 of 3 requests at one time of alice",
    )
