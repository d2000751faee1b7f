"""What explain says of a request: every decision, with its place, and no secret."""

import json

import pytest

from engine.offline.rehearsal.observation import UpstreamAnswers
from engine.offline.rehearsal.report_text import text
from engine.stages.report import mismatches
from tests.support import yaml_text
from tests.support.rehearsing import (
    CONFIG,
    DOCUMENT,
    explained,
    explained_chat,
    patched,
    planned,
)


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return planned(tmp_path_factory.mktemp("project"))


def line_of(source, words):
    return next(n for n, line in enumerate(source.splitlines(), 1) if words in line)


def test_the_operation_and_the_route_have_their_places(result):
    document = explained_chat(result)
    assert document["operation"]["id"] == "shop.chat"
    assert (
        f"shop.yaml:{line_of(DOCUMENT, 'operationId: chat') - 1}:5"
        in document["operation"]["place"]
    )
    assert (
        f"gateway.yaml:{line_of(CONFIG, 'operation: shop.chat')}:16" in document["route"]["place"]
    )


@pytest.mark.parametrize(
    ("model", "reason", "entry"),
    [("big", "exact", "big"), ("wild-7", "wildcard", "wild-*"), ("", "default", "small")],
)
def test_the_model_is_reported_with_the_reason(result, model, reason, entry):
    document = explained_chat(result, model)["model"]
    assert (document["reason"], document["entry"]) == (reason, entry)
    assert document["name"] == (model or "small")
    pattern = f'"{entry}"' if "*" in entry else entry
    assert f"gateway.yaml:{line_of(CONFIG, f'  {pattern}:')}:3" in document["place"]


def test_bounds_queues_and_hedges_are_named(tmp_path):
    main = {"max_in_flight": 8, "queue": {"size": 5, "wait": "2s"}}
    config = yaml_text.load(patched(CONFIG, {"upstreams": {"main": main}}))
    config["routes"][0] |= {"priority": "low", "hedge": {"after": "p95", "idempotent": True}}
    document = explained_chat(planned(tmp_path, yaml_text.dump(config)))
    assert document["timeouts"]["main"]["max_in_flight"] == 8
    assert document["timeouts"]["spare"]["queue"] is None
    assert (document["route"]["priority"], document["route"]["hedge"]) == ("low", "p95")
    report_text = text(document)
    assert "at most 8 requests at one time" in report_text
    assert "up to 5 wait for a slot, 2s each; low priority" in report_text
    assert "sent to a second target too after p95 without content" in report_text


@pytest.mark.parametrize(
    ("resolve", "source"),
    [
        ({}, "main.test in DNS, every 30s"),
        (
            {"srv": "_http._tcp.main.test", "server": "127.0.0.1:8600", "every": "5s"},
            "service _http._tcp.main.test in DNS at 127.0.0.1:8600, every 5s",
        ),
        ({"file": "a.txt"}, "file "),
    ],
)
def test_the_source_of_the_addresses_is_named(tmp_path, resolve, source):
    project = planned(tmp_path, patched(CONFIG, {"upstreams": {"main": {"resolve": resolve}}}))
    document = explained_chat(project)
    assert document["timeouts"]["main"]["addresses"]["every"] == 5 if "every" in resolve else 30
    assert document["timeouts"]["spare"]["addresses"] is None
    assert f"each address is a target: {source}" in text(document)
    assert text(document).count("each address is a target") == 1


def test_timeouts_and_retries_are_those_in_force(result):
    document = explained_chat(result)["timeouts"]["main"]
    assert document["timeouts"] == {"connect": 2.0, "first_byte": 60, "idle": 60, "total": 600}
    assert document["attempts"] == 2
    assert "5xx" in document["retries"]


def test_what_a_variable_of_a_transform_stands_for_is_not_in_the_report(tmp_path):
    edits = {"append": {"messages": [{"content": "${UNSET:-of the file}"}]}}
    transform = {"transform": {"request": {"body": edits}}}
    result = planned(tmp_path, patched(CONFIG, {"policies": [transform]}))
    document = explained_chat(result)
    assert "of the file" not in json.dumps(document)
    (change,) = (
        c for c in document["upstream_requests"][0]["body"]["changes"] if c["place"] == "messages"
    )
    assert change["after"] == [{}, {"content": "${UNSET}"}]


def test_the_outgoing_request_is_whole_and_shows_what_changed(result):
    (outgoing,) = explained_chat(result)["upstream_requests"]
    assert (outgoing["method"], outgoing["url"]) == ("POST", "http://main.test/base/v1/chat")
    assert outgoing["model"] == "real-big"
    assert outgoing["body"]["changes"] == [{"place": "model", "before": "big", "after": "real-big"}]


def test_every_attempt_is_reported(result):
    document = explained_chat(result, answers=UpstreamAnswers(each={"main": "connect"}))
    assert [
        (outgoing["upstream"], outgoing["answer"]) for outgoing in document["upstream_requests"]
    ] == [
        ("main", "connect"),
        ("spare", 200),
    ]


@pytest.mark.parametrize("answers", [None, UpstreamAnswers(503), UpstreamAnswers("reset")])
def test_no_credential_is_shown(result, answers):
    document = explained_chat(result, answers=answers)
    output = json.dumps(document) + text(document)
    for secret in ("sk-main-credential", "literal-credential", "hush-hush"):
        assert secret not in output
    assert "Bearer ${MAIN_KEY}" in output


def test_no_token_of_the_caller_is_shown(result):
    secret = "mw-somebody"
    document = explained(
        result, target=f"/v1/chat?key={secret}", body={"messages": []}, caller=None
    )
    assert document["error"]["code"] == "invalid_api_key"
    assert {"kind": "query", "name": "key", "present": True} in document["authentication"][
        "carriers"
    ]
    assert secret not in json.dumps(document) + text(document)


def test_a_breach_of_the_document_has_its_place(result):
    document = explained(result, body={"model": "big", "messages": []})
    assert document["validation"] == {
        "mode": "strict",
        "verdict": "refused",
        "place": "messages",
        "code": "array_below_min_length",
        "message": document["error"]["message"],
    }
    assert "at messages" in text(document)


def test_a_public_route_asks_for_no_token(result):
    document = explained(result, "GET", "/v1/items/7", caller=None)
    assert document["authentication"]["verdict"] == "public"
    assert document["upstream_requests"][0]["url"] == "http://main.test/base/v1/items/7"
    assert document["model"] is None
    assert "(auth: none)" in text(document)


@pytest.mark.parametrize(
    ("method", "path", "operation", "difference", "words"),
    [
        ("GET", "/v1/chat", "shop.chat", "method", "takes POST"),
        ("POST", "/chat", "shop.chat", "mount", "at '/v1', not at the root"),
        ("POST", "/v1beta/chat", "shop.chat", "mount", "not at '/v1beta'"),
        ("POST", "/v1/chatt", "shop.chat", "path", "'chatt' instead of 'chat'"),
        ("POST", "/v1/models/big:sing", "shop.say", "verb", "':say', not ':sing'"),
        ("GET", "/v1/hidden", "shop.hidden", "route", "no route serves it"),
    ],
)
def test_an_unserved_path_gets_the_nearest_route_and_a_reason(
    result, method, path, operation, difference, words
):
    document = explained(result, method, path)
    assert not document["served"]
    assert document["error"]["by"] == "router"
    near = document["nearest"][0]
    assert (near["operation"], near["difference"]) == (operation, difference)
    assert words in near["reason"]
    assert "shop.yaml:" in near["place"]
    assert near["reason"] in text(document)


def test_an_unserved_path_without_a_similar_route_gets_none(result):
    document = explained(result, "GET", "/zzz/qqq/www")
    assert document["nearest"] == []
    assert "no similar operation" in text(document)


def test_a_reporting_route_shows_its_refusal_and_counts_nothing(tmp_path):
    reporting = "  - operation: shop.chat\n    validate: report\n"
    config = CONFIG.replace("  - operation: shop.chat\n", reporting)
    document = explained(planned(tmp_path, config), body={"model": "big", "messages": []})
    assert document["served"]
    assert document["validation"] == {
        "mode": "report",
        "verdict": "would refuse",
        "places": ["messages"],
    }
    assert "would refuse (report) at messages" in text(document)
    assert not mismatches.places


def test_a_model_that_is_refused_in_a_large_body_says_nothing_of_the_validation(tmp_path):
    project = planned(tmp_path, CONFIG.replace("max_body: 1KB", "max_body: 1MB"))
    body = {"model": "nobody", "messages": [{}], "note": "n" * 100_000}
    document = explained(project, body=body)
    assert document["error"]["code"] == "model_not_found"
    assert document["validation"]["verdict"] == "not reached"


ITEM = """  /items/{name}:
    get:
      operationId: byName
      security: [{key: []}]
      parameters: [{name: name, in: path, required: true, schema: {type: string, maxLength: 3}}]
      responses: {"200": {description: ok}}
"""


@pytest.mark.parametrize(
    ("target", "served", "operation", "stage"),
    [
        ("17", True, "show", ""),
        ("abc", True, "byName", ""),
        ("abcd", False, "show", "alternatives"),
    ],
)
def test_the_operation_is_named_with_its_alternatives(tmp_path, target, served, operation, stage):
    document = DOCUMENT.replace("  /hidden:", f"{ITEM}  /hidden:")
    config = CONFIG.replace("shop.show,", "shop.*,").replace(", auth: none", "")
    result = planned(tmp_path, config, document)
    shown = explained(result, "GET", f"/v1/items/{target}")
    others = {"show": "byName", "byName": "show"}
    assert (shown["served"], shown["operation"]["id"]) == (served, f"shop.{operation}")
    assert shown["operation"]["alternatives"] == [f"shop.{others[operation]}"]
    assert (shown["error"] or {"by": ""})["by"] == stage
    assert shown["validation"]["verdict"] == ("passed" if served else "refused")
    assert f"one of 2: also shop.{others[operation]}" in text(shown)
