"""What explain says of a request: every decision, with its place, and no secret."""

import json

import pytest

from engine.offline.rehearsal.observation import UpstreamAnswers, request
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import report
from engine.offline.rehearsal.report_text import text
from engine.stages.report import mismatches
from engine.values.caller import Caller
from tests.support.rehearsing import CONFIG, DOCUMENT, planned

ALICE = Caller("alice")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return planned(tmp_path_factory.mktemp("project"))


def line_of(source, words):
    return next(n for n, line in enumerate(source.splitlines(), 1) if words in line)


def explained(
    made, method="POST", target="/v1/chat", body=None, caller=ALICE, answers=None, **more
):
    data = json.dumps(body).encode() if body is not None else b""
    asked = request(method, target, more.pop("headers", ()), data, **more)
    said = report(made, rehearse(made.plan, asked, caller, answers))
    return json.loads(json.dumps(said))


def chat(made, model="big", **more):
    return explained(made, body={"model": model, "messages": [{}]}, **more)


def test_the_operation_and_the_route_have_their_places(made):
    said = chat(made)
    assert said["operation"]["id"] == "shop.chat"
    assert f"shop.yaml:{line_of(DOCUMENT, 'operationId: chat') - 1}:5" in said["operation"]["place"]
    assert f"gateway.yaml:{line_of(CONFIG, 'operation: shop.chat')}:16" in said["route"]["place"]


@pytest.mark.parametrize(
    ("model", "why", "entry"),
    [("big", "exact", "big"), ("wild-7", "wildcard", "wild-*"), ("", "default", "small")],
)
def test_the_model_is_reported_with_the_reason(made, model, why, entry):
    said = chat(made, model)["model"]
    assert (said["why"], said["entry"]) == (why, entry)
    assert said["asked"] == (model or "small")
    shown = f'"{entry}"' if "*" in entry else entry
    assert f"gateway.yaml:{line_of(CONFIG, f'  {shown}:')}:3" in said["place"]


def test_targets_are_in_the_order_of_attempts(made):
    said = [(t["upstream"], t["model"], t["weight"], t["fallback"]) for t in chat(made)["targets"]]
    assert said == [
        ("main", "real-big", 3.0, ""),
        ("spare", "big", 1.0, ""),
        ("spare", "real-small", 1.0, "small"),
    ]


def test_timeouts_and_retries_are_those_in_force(made):
    said = chat(made)["patience"]["main"]
    assert said["timeouts"] == {"connect": 2.0, "first_byte": 60, "idle": 60, "total": 600}
    assert said["attempts"] == 2
    assert "5xx" in said["retries"]


def test_the_outgoing_request_is_whole_and_shows_what_changed(made):
    (sent,) = chat(made)["outgoing"]
    assert (sent["method"], sent["url"]) == ("POST", "http://main.test/base/v1/chat")
    assert sent["model"] == "real-big"
    assert sent["body"]["changes"] == [{"place": "model", "before": "big", "after": "real-big"}]


def test_every_attempt_is_reported(made):
    said = chat(made, answers=UpstreamAnswers(each={"main": "connect"}))
    assert [(sent["upstream"], sent["answered"]) for sent in said["outgoing"]] == [
        ("main", "connect"),
        ("spare", 200),
    ]


@pytest.mark.parametrize("answers", [None, UpstreamAnswers(503), UpstreamAnswers("reset")])
def test_no_credential_is_shown(made, answers):
    said = chat(made, answers=answers)
    whole = json.dumps(said) + text(said)
    for secret in ("sk-main-credential", "literal-credential", "hush-hush"):
        assert secret not in whole
    assert "Bearer ${MAIN_KEY}" in whole


def test_no_token_of_the_caller_is_shown(made):
    secret = "mw-somebody"
    said = explained(made, target=f"/v1/chat?key={secret}", body={"messages": []}, caller=None)
    assert said["error"]["code"] == "invalid_api_key"
    assert {"kind": "query", "name": "key", "held": True} in said["authentication"]["carriers"]
    assert secret not in json.dumps(said) + text(said)


def test_each_policy_has_its_verdict(made):
    caller = next(c for c in made.plan.config.tokens.values() if c.name == "alice")
    said = {p["policy"]: (p["verdict"], p["says"]) for p in chat(made, caller=caller)["policies"]}
    assert said == {
        "rate_limit": ("passed", "would take 1 of 60 requests per 1m of alice"),
        "allow_models": ("passed", ""),
        "max_body": ("passed", ""),
        "the token's own requests": ("passed", "would take 1 of 5 requests per 1h of alice"),
    }


def test_a_policy_that_refuses_says_so_and_the_rest_is_not_reached(tmp_path):
    made = planned(tmp_path, CONFIG.replace('[big, small, "wild-*"]', "[small]"))
    said = chat(made)
    assert said["error"]["code"] == "model_not_allowed"
    assert said["error"]["by"] == "allow_models"
    verdicts = {p["policy"]: p["verdict"] for p in said["policies"]}
    assert verdicts == {
        "rate_limit": "not reached",
        "allow_models": "refused",
        "max_body": "passed",
    }


def test_a_breach_of_the_document_has_its_place(made):
    said = explained(made, body={"model": "big", "messages": []})
    assert said["validation"] == {
        "mode": "strict",
        "verdict": "refused",
        "place": "messages",
        "code": "array_below_min_length",
        "message": said["error"]["message"],
    }
    assert "at messages" in text(said)


def test_a_public_route_asks_for_no_token(made):
    said = explained(made, "GET", "/v1/items/7", caller=None)
    assert said["authentication"]["verdict"] == "public"
    assert said["outgoing"][0]["url"] == "http://main.test/base/v1/items/7"
    assert said["model"] is None
    assert "(auth: none)" in text(said)


@pytest.mark.parametrize(
    ("method", "path", "operation", "differs", "words"),
    [
        ("GET", "/v1/chat", "shop.chat", "method", "takes POST"),
        ("POST", "/chat", "shop.chat", "mount", "at '/v1', not at the root"),
        ("POST", "/v1beta/chat", "shop.chat", "mount", "not at '/v1beta'"),
        ("POST", "/v1/chatt", "shop.chat", "path", "'chatt' where it has 'chat'"),
        ("POST", "/v1/models/big:sing", "shop.say", "verb", "':say', not ':sing'"),
        ("GET", "/v1/hidden", "shop.hidden", "route", "no route serves it"),
    ],
)
def test_an_unserved_path_gets_the_nearest_route_and_a_reason(
    made, method, path, operation, differs, words
):
    said = explained(made, method, path)
    assert not said["served"]
    assert said["error"]["by"] == "router"
    near = said["nearest"][0]
    assert (near["operation"], near["differs"]) == (operation, differs)
    assert words in near["why"]
    assert "shop.yaml:" in near["place"]
    assert near["why"] in text(said)


def test_an_unserved_path_without_a_similar_route_gets_none(made):
    said = explained(made, "GET", "/zzz/qqq/www")
    assert said["nearest"] == []
    assert "nothing comes near" in text(said)


def test_the_text_holds_every_decision(made):
    said = text(chat(made))
    for head in ("operation", "route", "authentication", "policy", "validation", "model"):
        assert f"\n  {head} " in said
    assert "target 1        main as real-big, weight 3 of 4" in said
    assert "target 3        spare as real-small, fallback small" in said
    assert '- model: "big"' in said
    assert '+ model: "real-big"' in said


def test_a_reporting_route_shows_its_refusal_and_counts_nothing(tmp_path):
    reporting = "  - operation: shop.chat\n    validate: report\n"
    config = CONFIG.replace("  - operation: shop.chat\n", reporting)
    said = explained(planned(tmp_path, config), body={"model": "big", "messages": []})
    assert said["served"]
    assert said["validation"] == {
        "mode": "report",
        "verdict": "would refuse",
        "places": ["messages"],
    }
    assert "would refuse (report) at messages" in text(said)
    assert not mismatches.places
