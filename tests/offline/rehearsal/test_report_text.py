"""A report as text: a heading for each decision, in the order of the request."""

import copy
import json

import pytest

from engine.offline.rehearsal.observation import UpstreamAnswers, request
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import report
from engine.offline.rehearsal.report_text import text
from engine.values.caller import Caller
from tests.support.rehearsing import CONFIG, patched, planned


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return planned(tmp_path_factory.mktemp("project"))


def report_of(project, answers=None):
    body = json.dumps({"model": "big", "messages": [{}]}).encode()
    chat = request("POST", "/v1/chat", (), body)
    return report(project, rehearse(project.plan, chat, Caller("alice"), answers))


@pytest.fixture(scope="module")
def chat(project):
    """The report of a chat."""
    return report_of(project)


def test_the_first_line_is_the_outcome(chat):
    assert text(chat).splitlines()[0] == "POST /v1/chat: served (200)"


def test_decisions_stand_in_the_order_of_the_request(chat):
    lines = text(chat).splitlines()[1:]
    headings = [line[2:18].strip() for line in lines if line[2:18].strip()]
    assert list(dict.fromkeys(headings)) == [
        "operation",
        "route",
        "authentication",
        "policy",
        "model",
        "validation",
        "target 1",
        "target 2",
        "target 3",
        "timeouts",
        "sends",
        "body",
    ]


def set_header(name):
    return {"transform": {"request": {"header": {"set": {name: "blue"}}}}}


def test_policies_stand_where_they_run(tmp_path):
    deny = {"deny": {"if": {"body": {"messages": {"minItems": 9}}}}}
    budget = {"token_budget": {"tokens": 90000, "per": "1m"}}
    rate = {"rate_limit": {"requests": 60, "per": "1m"}}
    policies = [budget, set_header("x-a"), deny, set_header("x-b"), rate]
    config = patched(CONFIG, {"policies": policies, "models": {"big": set_header("x-c")}})
    lines = text(report_of(planned(tmp_path, config))).splitlines()
    heads = ["  policy          rate_limit", "  policy          max_body", "  model  "]
    heads += ["  validation", "  policy          transform"]
    heads += ["  transform       request.header.set x-a", "  policy          deny"]
    heads += ["  transform       request.header.set x-b", "  policy          allow_models"]
    heads += ["  transform       request.header.set x-c", "  policy          token_budget"]
    heads += ["  target 1", "  timeouts"]
    positions = [next(i for i, line in enumerate(lines) if line.startswith(head)) for head in heads]
    assert positions == sorted(positions)


def test_the_edits_behind_a_refusal_are_not_listed(tmp_path):
    deny = {"deny": {"if": {"header": {"x-a": "blue"}}}}
    policies = [set_header("x-a"), deny, set_header("x-b")]
    config = patched(CONFIG, {"policies": policies, "models": {"big": set_header("x-c")}})
    output = text(report_of(planned(tmp_path, config)))
    assert "request.header.set x-a" in output
    assert "request.header.set x-b" not in output
    assert "request.header.set x-c" not in output
    assert "refused by      deny: request_denied at x-a" in output


@pytest.mark.parametrize(
    ("body", "order"),
    [(b"{", ["validation", "model"]), (b'{"model": "nobody"}', ["model", "validation"])],
)
def test_the_validation_stands_before_the_model_if_the_body_cannot_be_read(project, body, order):
    chat = request("POST", "/v1/chat", (), body)
    lines = text(report(project, rehearse(project.plan, chat, Caller("alice")))).splitlines()
    assert [head for line in lines if (head := line[2:18].strip()) in order] == order


def test_targets_have_their_shares(chat):
    output = text(chat)
    assert "target 1        main as real-big, weight 3 of 4" in output
    assert "target 3        spare as real-small, fallback small" in output


def test_a_changed_value_has_a_line_before_and_after(chat):
    assert '- model: "big"' in text(chat)
    assert '+ model: "real-big"' in text(chat)


def test_an_answer_other_than_200_is_a_line_of_its_request(project):
    output = text(report_of(project, UpstreamAnswers(each={"main": "connect"})))
    assert "upstream answer connect" in output
    assert "upstream answer 200" not in output


def test_a_single_attempt_is_a_try(chat):
    single = copy.deepcopy(chat)
    single["timeouts"]["main"]["attempts"] = 1
    assert "at most 1 attempt, retried" in text(single)
    assert "at most 2 attempts, retried" in text(chat)


def with_body(chat, **body):
    changed = copy.deepcopy(chat)
    changed["upstream_requests"][0]["body"] = {"bytes": 0, "unchanged": True, "changes": [], **body}
    return text(changed)


def test_health_checks_of_an_upstream_have_a_line(chat):
    assert "health" not in text(chat)
    probed = copy.deepcopy(chat)
    probed["timeouts"]["main"]["health"] = {"path": "/health", "every": 5.0}
    assert "health          main: GET /health every 5s" in text(probed)


def test_an_unchanged_body_has_its_size(chat):
    assert "body            12 bytes, unchanged" in with_body(chat, bytes=12)
    assert "body            none" in with_body(chat)


def test_a_long_line_of_a_translated_body_is_whole(chat):
    output = with_body(chat, bytes=999, content={"image": "x" * 500})
    assert "body            999 bytes, translated" in output
    assert "x" * 500 in output


def test_control_characters_are_not_printed(chat):
    evil = copy.deepcopy(chat)
    evil["log"] = ["\x1b[31mred"]
    assert "\x1b" not in text(evil)
