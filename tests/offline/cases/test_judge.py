"""Each expectation of a case can be met and missed."""

import pytest

from engine.config import json_schema
from engine.offline.cases.judge import ACTUAL_VALUES
from tests.support.judged_cases import result_of
from tests.support.translating import translating

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
