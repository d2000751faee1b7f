"""A document that wants a path of the gateway's own gets it, and operators are told."""

from __future__ import annotations

import json
import os

import pytest

from engine.plan.assembly.make_plan import make_plan
from tests.support.rehearsing import CONFIG, ENVIRON, write


def planned(tmp_path, path, more=""):
    document = {
        "openapi": "3.1.0",
        "info": {"title": "t", "version": "1"},
        "paths": {
            path: {"get": {"operationId": "mine", "responses": {"200": {"description": ""}}}}
        },
    }
    (tmp_path / "mine.json").write_text(json.dumps(document))
    text = f"""
version: 1
specs: {{mine: {{document: mine.json}}}}
upstreams: {{one: {{url: "http://127.0.0.1:9"}}}}
routes: [{{operation: mine.mine, to: [{{upstream: one}}]}}]
{more}
"""
    return make_plan(tmp_path / "gateway.yaml", os.environ, text)


PUBLIC = "telemetry: {listen: public}"


@pytest.mark.parametrize("path", ["/metrics", "/healthz", "/readyz", "/{anything}"])
def test_a_claimed_page_is_a_warning_with_its_place(tmp_path, path):
    result = planned(tmp_path, path, PUBLIC)
    assert result.plan is not None
    warnings = [p for p in result.problems if p.code == "MW321"]
    assert len(warnings) == (3 if "{" in path else 1)
    assert "mine.mine answers GET /" in warnings[0].message
    assert warnings[0].line > 0


def test_another_path_for_the_metrics_ends_the_quarrel(tmp_path):
    result = planned(tmp_path, "/metrics", "telemetry: {listen: public, metrics: /numbers}")
    assert [p.code for p in result.problems] == []


@pytest.mark.parametrize(("path", "claimed"), [("/metrics", 0), ("/readyz", 0), ("/healthz", 1)])
def test_pages_on_a_listener_of_their_own_are_claimed_by_nobody(tmp_path, path, claimed):
    assert [p.code for p in planned(tmp_path, path).problems] == ["MW321"] * claimed


def test_an_unclaimed_path_has_no_note(tmp_path):
    assert planned(tmp_path, "/v1/metrics").problems == []


DIALECTS = """
version: 1
specs:
  one: {{document: mine.json, dialect: {0}}}
  other: {{document: mine.json, dialect: {1}}}
upstreams: {{up: {{url: "http://127.0.0.1:9"}}}}
routes: [{{operations: [one.mine, other.mine], to: [{{upstream: up}}]}}]
"""


@pytest.mark.parametrize(
    ("one", "other", "codes"),
    [
        ("openai", "anthropic", []),
        ("gemini", "anthropic", []),
        ("openai", "openai", ["MW304"]),
        ("plain", "openai", ["MW304"]),
    ],
)
def test_documents_share_a_path_if_requests_tell_their_dialects_apart(tmp_path, one, other, codes):
    planned(tmp_path, "/v1/files")
    text = DIALECTS.format(one, other)
    problems = make_plan(tmp_path / "gateway.yaml", os.environ, text).problems
    assert [p.code for p in problems if p.code != "MW306"] == codes


ROUTE = "routes:\n  - {operation: shop.hidden, respond: %s%s}\n"


def problems(folder, respond, more=""):
    config = CONFIG.replace("routes:\n", ROUTE % (respond, more))
    errors = make_plan(write(folder, config), ENVIRON).findings.errors
    return [(problem.code, problem.message) for problem in errors]


@pytest.mark.parametrize(
    "respond",
    [
        "{status: 204}",
        "{status: 503, headers: {retry-after: 120}}",
        "{status: 302, headers: {Location: /elsewhere}}",
        "{status: 200, body: null}",
        "{status: 200, headers: {x-a: ''}, body: text}",
    ],
)
def test_what_can_be_sent(tmp_path, respond):
    assert problems(tmp_path, respond) == []


@pytest.mark.parametrize(
    ("respond", "message"),
    [
        ("{status: 204, body: x}", "a response 204 has no body"),
        ("{status: 301}", "a redirect 301 needs the header 'location'"),
        ("{status: 200, headers: {A: x, a: y}}", "a header is given twice"),
        ("{status: 200, headers: {content-length: 3}}", "'content-length' is about the connection"),
        ("{status: 200, headers: {X-Request-Id: x}}", "the gateway sends its own 'x-request-id'"),
        ('{status: 200, headers: {x-a: "a\\r\\nb: c"}}', "the value of 'x-a' is not plain text"),
        ("{status: 503, headers: {retry-after: soon}}", "'retry-after' is not a number of seconds"),
    ],
)
def test_what_cannot_be_sent(tmp_path, respond, message):
    ((code, found),) = problems(tmp_path, respond)
    assert (code, found[: len(message)]) == ("MW530", message)


def test_nothing_is_hedged(tmp_path):
    (problem,) = problems(tmp_path, "{status: 200}", ", hedge: {after: 2s}")
    assert problem == ("MW530", "a route with 'respond' asks no target")


def test_a_route_has_one_destination(tmp_path):
    ((code, message),) = problems(tmp_path, "{status: 200}", ", to: [{upstream: main}]")
    assert code == "MW317"
    assert message.endswith("this has to and respond")
