"""A document that wants a path of the gateway's own gets it, and operators are told."""

from __future__ import annotations

import json
import os

import pytest

from engine.plan.assembly.make_plan import make_plan


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
