"""Keys without effect, and routes that issue what nothing accepts."""

from pathlib import Path

import pytest

from engine.plan.assembly.make_plan import make_plan
from tests.support.each import each

DOCUMENT = """
openapi: 3.1.0
info: {title: Live, version: "1"}
servers: [{url: "https://example.com/v1"}]
paths:
  /secrets: {post: {operationId: issue, responses: {"200": {description: a secret}}}}
  /talk:
    get: {operationId: talk, x-modelway-client-secrets: true, responses: {"101": {description: x}}}
  /other: {get: {operationId: other, responses: {"101": {description: a session}}}}
  /plain: {get: {operationId: plain, x-modelway-client-secrets: true}}
"""
CONFIG = """version: 1
specs: {api: {document: api.yaml, dialect: DIALECT}}
upstreams: {main: {url: "http://1.1.1.1/v1"}}
models: {m: {to: [{upstream: main}]}}
"""
ISSUE = "{operation: api.issue, answer: client_secrets}"
TALK = "{operation: api.talk, model: $request.query.model}"
OTHER = "{operation: api.other, model: $request.query.model}"
PLAIN = "{operation: api.plain, model: $request.query.model}"
FIXED = "{operation: api.talk, to: [{upstream: main}]}"
KEYS = "client_secrets: {keys: [0123456789abcdef0123456789abcdef]}\n"


@pytest.fixture(autouse=True)
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.yaml").write_text(DOCUMENT)


@each(
    ("routes", "keys", "dialect", "codes"),
    [
        ((ISSUE, TALK), KEYS, "openai", []),
        ((ISSUE, TALK), "", "openai", ["MW496"]),
        ((ISSUE, OTHER), KEYS, "openai", ["MW495"]),
        ((ISSUE, PLAIN), KEYS, "openai", ["MW495"]),
        ((ISSUE, FIXED), KEYS, "openai", ["MW495"]),
        ((ISSUE, TALK), KEYS, "anthropic", ["MW495"]),
        ((TALK,), KEYS, "openai", ["MW497"]),
        ((TALK,), "", "openai", []),
    ],
)
def test_client_secrets_are_issued_where_they_are_accepted(routes, keys, dialect, codes):
    text = f"{CONFIG.replace('DIALECT', dialect)}routes: [{', '.join(routes)}]\n{keys}"
    problems = make_plan(Path("gateway.yaml"), {}, text).findings.problems
    assert [p.code for p in problems if p.code.startswith("MW49")] == codes
