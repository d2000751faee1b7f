"""Queues in which nothing waits, and requests that must not be sent twice."""

from pathlib import Path

import pytest

from engine.plan.assembly.make_plan import make_plan

DOCUMENT = """
openapi: 3.1.0
info: {title: Chat, version: "1"}
servers: [{url: "https://example.com/v1"}]
paths:
  /embeddings: {post: {operationId: embed}}
  /list: {get: {operationId: list}, put: {operationId: store}}
  /talk: {get: {operationId: talk, responses: {"101": {description: a session}}}}
"""
CONFIG = """version: 1
specs: {{api: {{document: api.yaml, dialect: openai}}}}
upstreams: {{main: {{url: "http://1.1.1.1/v1"{upstream}}}}}
routes:
  - {{operations: [{operations}], to: [{{upstream: main{target}}}]{route}}}
"""


@pytest.fixture(autouse=True)
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.yaml").write_text(DOCUMENT)


def problems(operations="api.list", upstream="", target="", route=""):
    """Code and message of each error."""
    text = CONFIG.format(operations=operations, upstream=upstream, target=target, route=route)
    errors = make_plan(Path("gateway.yaml"), {}, text).findings.errors
    return [(problem.code, problem.message) for problem in errors]


def test_a_queue_needs_a_bound():
    assert problems(upstream=", queue: {size: 5}") == [
        ("MW387", "'queue' has no effect without 'max_in_flight'")
    ]


@pytest.mark.parametrize(
    ("upstream", "target"),
    [(", queue: {}, max_in_flight: 2", ""), (", queue: {}", ", max_in_flight: 2")],
)
def test_the_bound_may_be_that_of_the_upstream_or_of_a_target(upstream, target):
    assert problems(upstream=upstream, target=target) == []


def test_requests_that_may_be_sent_twice_may_be_hedged():
    assert problems("api.list, api.store", route=", hedge: {after: p95}") == []
    assert problems("api.embed", route=", hedge: {idempotent: true}") == []


def test_a_post_is_hedged_only_if_the_route_allows_it():
    message = "api.embed is a POST, which must not be sent twice"
    assert problems("api.list, api.embed", route=", hedge: {after: p95}") == [("MW388", message)]


def test_a_websocket_is_never_hedged():
    message = "api.talk is a WebSocket, which is never hedged"
    assert problems("api.talk", route=", hedge: {idempotent: true}") == [("MW388", message)]
