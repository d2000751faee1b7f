"""Operations that a model can never have, and default models without the operation."""

from pathlib import Path

import pytest

from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Level

DOCUMENT = """
openapi: 3.1.0
info: {title: Chat, version: "1"}
servers: [{url: "https://example.com/v1"}]
paths:
  /embeddings: {post: {operationId: embed, requestBody: {content: {application/json: {}}}}}
  /images: {post: {operationId: draw, requestBody: {content: {application/json: {}}}}}
  /list: {get: {operationId: list}}
"""
CONFIG = """version: 1
specs:
  api: {{document: api.yaml, dialect: openai}}
  other: {{document: api.yaml, dialect: anthropic, mount: /other}}
upstreams: {{main: {{url: "http://1.1.1.1/v1", dialect: openai}}}}
models: {{m: {{to: [{{upstream: main}}], operations: [{operations}]}}}}
routes:
  - operations: [api.embed, other.draw]
    model: $request.body#/model
  - {{operation: api.draw, model: {{from: $request.body#/model, default: {default}}}}}
  - {{operation: api.list, answer: models}}
"""


@pytest.fixture(autouse=True)
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.yaml").write_text(DOCUMENT)


def problems(operations, default="m"):
    """Level, code, message and hint of each problem of a model's operations."""
    text = CONFIG.format(operations=operations, default=default)
    planned = make_plan(Path("gateway.yaml"), {}, text)
    codes = ("MW301", "MW302", "MW341", "MW342")
    return [(p.level, p.code, p.message, p.hint) for p in planned.problems if p.code in codes]


@pytest.mark.parametrize("operations", ["api.draw", "api.*", "'*.draw'", "api.embed, api.draw"])
def test_operations_that_the_model_has(operations):
    assert problems(operations) == []


@pytest.mark.parametrize(
    ("name", "level", "code", "words"),
    [
        ("other.draw", Level.WARNING, "MW341", "no upstream of 'm' speaks the dialect"),
        ("api.list", Level.WARNING, "MW341", "is not routed by model"),
        ("api.drow", Level.ERROR, "MW301", "unknown operation 'api.drow'"),
        ("'nothing.*'", Level.ERROR, "MW302", "matches no operation"),
    ],
)
def test_an_operation_that_the_model_never_has(name, level, code, words):
    ((found_level, found_code, message, hint),) = problems(f"api.draw, {name}")
    assert (found_level, found_code) == (level, code)
    assert words in message
    assert hint or code == "MW302"


def test_a_default_model_must_have_the_operation():
    ((level, code, message, hint),) = problems("api.embed")
    assert (level, code) == (Level.ERROR, "MW342")
    assert "does not have api.draw" in message
    assert "api.embed" in hint
