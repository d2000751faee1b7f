"""Cases that a config must meet: what they say, and that each expectation can fail."""

import json
import xml.etree.ElementTree as ET

import pytest
import yaml

from engine.config import json_schema
from engine.offline.cases import formats, read
from engine.offline.cases.judge import ACTUAL_VALUES
from engine.offline.cases.run import run
from engine.source.problem import Findings
from tests.support.rehearsing import CONFIG, planned, write
from tests.support.translating import translating

CHAT = {
    "name": "chat",
    "request": {
        "method": "POST",
        "path": "/v1/chat",
        "token": "alice",
        "headers": {"x-note": "n"},
        "body": {"model": "big", "messages": [{"role": "user"}]},
    },
}
MET = {
    "operation": "shop.chat",
    "status": 200,
    "error": None,
    "param": None,
    "token": "alice",
    "upstream": "main",
    "upstreams": ["main"],
    "model": "real-big",
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
    "dropped": ["seed"],
    "url": None,
    "headers": {"x-note": None},
    "body": {"messages": []},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="module")
def made(folder):
    return planned(folder)


def case(expect, **more):
    return {**CHAT, **more, "expect": expect}


def results(made, *cases, findings=None):
    noted = findings if findings is not None else Findings()
    folder = made.plan.config.folder
    file = folder / "a.test.yaml"
    file.write_text(yaml.safe_dump({"tests": list(cases)}, sort_keys=False))
    listed = read.of_file(file, "a.test.yaml", made, noted)
    if findings is None:
        assert noted.problems == []
    return list(run(listed, made.plan))


def one(made, expect, **more):
    (result,) = results(made, case(expect, **more))
    return result


def codes(made, *cases):
    findings = Findings()
    assert results(made, *cases, findings=findings) == []
    return [problem.code for problem in findings.problems]


def test_what_is_expected_and_so_passes(made):
    result = one(made, MET)
    assert (result.failures, result.refusal) == ([], "")


@pytest.mark.parametrize("name", MISSED)
def test_each_expectation_can_be_missed(made, name):
    result = one(made, {name: MISSED[name]})
    (failure,) = result.failures
    assert failure.expectation.partition(".")[0] == name


def test_every_expectation_of_the_schema_is_tried_here():
    known = set(json_schema.schema()["$defs"]["test"]["properties"]["expect"]["properties"])
    assert known == set(MET) == set(MISSED) == {*ACTUAL_VALUES, "headers", "body"}


def test_a_miss_tells_place_expectation_and_finding(made):
    (failure,) = one(made, {"status": 200, "model": "other"}).failures
    text = (made.plan.config.folder / "a.test.yaml").read_text().splitlines()
    assert text[failure.place.line - 1].strip() == "model: other"
    assert str(failure) == (
        f'a.test.yaml:{failure.place.line}:12: model: expected "other", found "real-big"'
    )


def test_a_refusal_is_reported_beside_the_expected_value(made):
    result = one(made, {"status": 200}, request={"method": "GET", "path": "/v1/chat"})
    assert "refused by the router with 405 method_not_allowed" in result.refusal
    assert result.refusal in formats.line(result)


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
    sent = {"method": "POST", "path": "/v1/chat/completions", "token": "alice", "body": body}
    result = one(translating(tmp_path), expect, request=sent, upstream_answers=answers)
    assert result.failures == []


def test_a_refusal_of_a_translation_is_told_as_one(tmp_path):
    turns = [{"role": "user", "content": "Hi"}]
    body = {"model": "claude-model", "messages": turns, "n": 2}
    sent = {"method": "POST", "path": "/v1/chat/completions", "token": "alice", "body": body}
    result = one(translating(tmp_path), {"status": 200}, request=sent)
    assert result.refusal.startswith("refused by translation with 400 unsupported_parameter: The ")


@pytest.mark.parametrize(
    ("answers", "expect"),
    [
        (503, {"status": 503, "upstreams": ["main", "spare", "spare"] * 2}),
        ({"main": 503}, {"status": 200, "upstream": "spare", "model": "big"}),
        ({"main": "connect", "spare": 429}, {"status": 429}),
        ("timeout", {"status": 504, "error": "upstream_timeout"}),
    ],
)
def test_upstreams_answer_what_a_case_says(made, answers, expect):
    assert one(made, expect, upstream_answers=answers).failures == []


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
def test_a_refusal_can_be_expected(made, request_, expect):
    assert one(made, expect, request=request_).failures == []


def test_a_body_may_stand_in_a_file(made, folder):
    (folder / "body.json").write_text(json.dumps(CHAT["request"]["body"]))
    asked = {**CHAT["request"], "body_file": "body.json"}
    del asked["body"]
    assert one(made, {"model": "real-big"}, request=asked).failures == []


def test_a_body_that_is_text_is_compared_as_text(made):
    asked = {"method": "GET", "path": "/v1/items/7"}
    assert one(made, {"body": ""}, request=asked).failures == []
    assert one(made, {"body": "x"}, request=asked).failures != []


def test_no_secret_is_in_what_was_found(made):
    result = one(made, {"headers": {"authorization": "x"}, "url": "y"}, upstream_answers=503)
    whole = formats.as_json([result]) + formats.as_junit([result]) + formats.line(result)
    assert "authorization" in whole
    assert "literal-credential" not in whole
    assert "sk-main-credential" not in whole


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"expect": {"operation": "shop.chatt"}}, "MW301"),
        ({"expect": {"upstream": "mian"}}, "MW313"),
        ({"expect": {"upstreams": ["main", "mian"]}}, "MW313"),
        ({"upstream_answers": {"mian": 503}}, "MW313"),
        ({"request": {**CHAT["request"], "token": "alicia"}}, "MW331"),
        ({"request": {"method": "GET", "path": "/", "body_file": "no.json"}}, "MW106"),
        ({"request": {**CHAT["request"], "body_file": "no.json"}}, "MW105"),
        ({"expect": {}}, "MW104"),
        ({"expect": {"statsu": 200}}, "MW101"),
        ({"request": {"method": "GET"}}, "MW102"),
        ({"expect": {"status": "ok"}}, "MW103"),
    ],
)
def test_what_is_wrong_with_a_case_is_a_problem_with_a_place(made, more, code):
    assert code in codes(made, {**case({"status": 200}), **more})


def test_two_cases_have_two_names(made):
    same = case({"status": 200})
    findings = Findings()
    results(made, same, same, findings=findings)
    (problem,) = findings.problems
    assert (problem.code, "the first is at a.test.yaml:2:3" in problem.hint) == ("MW107", True)


def test_the_cases_of_the_config_itself_are_read_with_their_places(tmp_path):
    text = CONFIG + yaml.safe_dump({"tests": [case({"model": "other"})]}, sort_keys=False)
    made = planned(tmp_path, text)
    findings = Findings()
    listed = read.of_config(made, write(tmp_path, text), findings)
    (result,) = run(listed, made.plan)
    (failure,) = result.failures
    assert findings.problems == []
    assert text.splitlines()[failure.place.line - 1].strip() == "model: other"


def test_cases_share_no_state(made):
    """What one case breaks, the next does not feel."""
    failing = [case({"status": 503}, upstream_answers=503, name=f"n{i}") for i in range(8)]
    good = case({"upstream": "main", "status": 200}, name="good")
    assert all(result.passed for result in results(made, *failing, good))


def test_json_and_junit_tell_what_the_text_tells(made):
    good, bad = results(
        made, case(MET, name="good <&>"), case({"status": 400}, name='bad "one"\x07')
    )
    said = json.loads(formats.as_json([good, bad]))
    assert (said["passed"], said["failed"]) == (1, 1)
    assert said["tests"][1]["failures"][0]["expected"] == "400"
    suite = ET.fromstring(formats.as_junit([good, bad])).find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    first, second = suite.findall("testcase")
    assert (first.get("name"), first.find("failure")) == ("good <&>", None)
    assert "status: expected 400, found 200" in second.find("failure").text
    assert formats.summary([good, bad]) == "1 passed, 1 failed"
