"""Cases are run, each in a new application."""

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
