"""Cases are run, each in a new application."""

import pytest

from engine.config import json_schema
from engine.offline.cases.run import ACTUAL_VALUES
from tests.support.judged_cases import case, result_of, results
from tests.support.rehearsing import CONFIG, patched, planned
from tests.support.translating import translating


def test_a_refusal_of_the_gateway_is_in_the_result(project):
    result = result_of(project, {"status": 200}, request={"method": "GET", "path": "/v1/chat"})
    assert "refused by the router with 405 method_not_allowed" in result.refusal


def test_a_refusal_of_a_translation_is_named_as_one(tmp_path):
    turns = [{"role": "user", "content": "Hi"}]
    body = {"model": "claude-model", "messages": turns, "n": 2}
    request = {"method": "POST", "path": "/v1/chat/completions", "token": "alice", "body": body}
    result = result_of(translating(tmp_path), {"status": 200}, request=request)
    assert result.refusal.startswith("refused by translation with 400 unsupported_parameter: The ")


def test_cases_share_no_state(project):
    failing = [case({"status": 503}, upstream_answers=503, name=f"n{i}") for i in range(8)]
    good = case({"upstream": "main", "status": 200}, name="good")
    assert all(result.passed for result in results(project, *failing, good))


def test_a_request_that_cannot_be_sent_is_a_failure(project):
    request = {"method": "GET", "path": "/v1/items/7", "headers": {"x-note": "a\nb"}}
    (failure,) = result_of(project, {"status": 200}, request=request).failures
    assert (failure.expectation, failure.expected) == ("request", "one that can be sent")


def test_a_rule_by_the_time_is_judged_at_the_time_of_the_case(tmp_path):
    hours = {"from": "22:00", "to": "06:00", "time_zone": "Europe/Vienna"}
    rules = [{"if": {"time": hours}, "to": [{"upstream": "spare"}]}]
    project = planned(tmp_path, patched(CONFIG, {"models": {"big": {"when": rules}}}))
    chat = case({})["request"]
    at_night, by_day = (chat | {"time": f"2027-01-31T{hour}:00+01:00"} for hour in (23, 12))
    assert all(
        result.passed
        for result in results(
            project,
            case({"rule": 1, "upstream": "spare"}, request=at_night, name="at night"),
            case({"rule": None, "upstream": "main"}, request=by_day, name="by day"),
        )
    )


MET = {
    "operation": "shop.chat",
    "status": 200,
    "error": None,
    "param": None,
    "token": "alice",
    "upstream": "main",
    "upstreams": ["main"],
    "model": "real-big",
    "rule": None,
    "dropped": None,
    "url": "http://main.test/base/v1/chat",
    "headers": {"authorization": "Bearer ${MAIN_KEY}", "x-note": "n", "cookie": None},
    "body": {"model": "real-big", "absent": None},
}
MISSED = {
    "operation": "shop.say",
    "status": 400,
    "error": "not_found",
    "param": "model",
    "token": None,
    "upstream": "spare",
    "upstreams": ["main", "spare"],
    "model": "big",
    "rule": 1,
    "dropped": ["seed"],
    "url": None,
    "headers": {"x-note": None},
    "body": {"messages": []},
}


def test_what_is_expected_and_so_passes(project):
    result = result_of(project, MET)
    assert (result.failures, result.refusal) == ([], "")


@pytest.mark.parametrize("name", MISSED)
def test_each_expectation_can_be_missed(project, name):
    result = result_of(project, {name: MISSED[name]})
    (failure,) = result.failures
    assert failure.expectation.partition(".")[0] == name


def test_every_expectation_of_the_schema_is_tried_here():
    properties = set(json_schema.schema()["$defs"]["test"]["properties"]["expect"]["properties"])
    assert properties == set(MET) == set(MISSED) == {*ACTUAL_VALUES, "headers", "body"}


CLAUDE = {
    "status": 200,
    "upstream": "anthropic",
    "model": "claude-sonnet-4-5",
    "url": "http://anthropic.test/v1/messages",
    "headers": {"anthropic-version": "2023-06-01"},
    "body": {"messages": [{"role": "user", "content": "Hi"}], "logit_bias": None},
}


@pytest.mark.parametrize(
    ("model", "fields", "answers", "expect"),
    [
        ("claude-model", {}, 200, {**CLAUDE, "dropped": []}),
        ("lossy-model", {"logit_bias": {"1": 2}}, 200, {**CLAUDE, "dropped": ["logit_bias"]}),
        (
            "claude-model",
            {"logit_bias": {"1": 2}},
            200,
            {"status": 400, "param": "logit_bias", "upstreams": [], "dropped": None},
        ),
        ("spare-model", {}, {"openai": 503}, {**CLAUDE, "dropped": []}),
        ("spare-model", {}, 200, {"upstream": "openai", "dropped": None}),
        ("claude-model", {}, 429, {"status": 429}),
    ],
)
def test_a_translated_request_is_judged_as_its_upstream_gets_it(
    tmp_path, model, fields, answers, expect
):
    turns = [{"role": "user", "content": "Hi"}]
    body = {"model": model, "messages": turns, **fields}
    case_request = {
        "method": "POST",
        "path": "/v1/chat/completions",
        "token": "alice",
        "body": body,
    }
    result = result_of(
        translating(tmp_path), expect, request=case_request, upstream_answers=answers
    )
    assert result.failures == []


@pytest.mark.parametrize(
    ("answers", "expect"),
    [
        (503, {"status": 503, "upstreams": ["main", "spare", "spare"] * 2}),
        ({"main": 503}, {"status": 200, "upstream": "spare", "model": "big"}),
        ({"main": "connect", "spare": 429}, {"status": 429}),
        ("timeout", {"status": 504, "error": "upstream_timeout"}),
    ],
)
def test_upstreams_answer_what_a_case_says(project, answers, expect):
    assert result_of(project, expect, upstream_answers=answers).failures == []


@pytest.mark.parametrize(
    ("request_", "expect"),
    [
        ({"method": "GET", "path": "/v1/items/7"}, {"status": 200, "token": None, "model": None}),
        ({"method": "GET", "path": "/v1/items/x"}, {"error": "invalid_type", "param": "id"}),
        ({"method": "POST", "path": "/v1/chat"}, {"error": "invalid_api_key", "upstreams": []}),
        ({"method": "GET", "path": "/nowhere"}, {"operation": None, "error": "not_found"}),
        (
            {"method": "POST", "path": "/v1/chat", "token": "limited", "from": "10.0.0.1",
             "body": {"model": "big", "messages": [{}]}},
            {"error": "model_not_allowed"},
        ),
        (
            {"method": "POST", "path": "/v1/models/big:say", "token": "alice", "body": {}},
            {"model": "real-big", "url": "http://main.test/base/v1/models/real-big:say"},
        ),
        (
            {"method": "POST", "path": "/v1/chat", "token": "alice", "body": "not json",
             "headers": {"content-type": "application/json"}},
            {"error": "invalid_json"},
        ),
    ],
)  # fmt: skip
def test_a_refusal_can_be_expected(project, request_, expect):
    assert result_of(project, expect, request=request_).failures == []


def test_a_body_that_is_text_is_compared_as_text(project):
    request = {"method": "GET", "path": "/v1/items/7"}
    assert result_of(project, {"body": ""}, request=request).failures == []
    assert result_of(project, {"body": "x"}, request=request).failures != []
