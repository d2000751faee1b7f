"""The routes of a small config."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.plan.assembly.make_plan import make_plan

DOCUMENT = """
openapi: 3.1.0
info: {title: Chat, version: "1"}
servers: [{url: "https://example.com/v1"}]
paths:
  /chat/completions: {post: {operationId: chat, requestBody: {content: {application/json: {}}}}}
  /embeddings: {post: {operationId: embed, requestBody: {content: {application/json: {}}}}}
  /models: {get: {operationId: list}}
  /live: {get: {operationId: live, responses: {"101": {description: switched}}}}
"""
CONFIG = """version: 1
specs: {api: {document: api.yaml, dialect: openai, mount: [/v1, /other]}}
upstreams: {main: {url: "http://1.1.1.1/v1", dialect: openai}}
models: {m: {to: [{upstream: main}]}}
routes:
  - {operations: [api.chat, api.embed], model: $request.body#/model}
  - {operation: api.list, answer: models}
  - {operation: api.live, to: [{upstream: main}]}
"""


@pytest.fixture
def routes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.yaml").write_text(DOCUMENT)
    planned = make_plan(Path("gateway.yaml"), {}, CONFIG)
    assert planned.plan is not None, planned.problems
    return {route.operation.name: route for route in planned.plan.routes}
