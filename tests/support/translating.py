"""A project with models of every chat language, and its plan, for tests of translation offline."""

from __future__ import annotations

from pathlib import Path

from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import PlanResult
from engine.values.caller import digest
from tests.support.rehearsing import SECRET

MODELS = {
    "chat_completions": "chat-model",
    "responses": "responses-model",
    "messages": "claude-model",
    "generate_content": "gemini-model",
}
"""The model whose upstream speaks a language."""

OPENAPI = Path(__file__).parents[2] / "openapi"
SPECS = f"""specs:
  openai:    {{document: {OPENAPI}/openai.yaml,    dialect: openai}}
  anthropic: {{document: {OPENAPI}/anthropic.yaml, dialect: anthropic}}
  gemini:    {{document: {OPENAPI}/gemini.yaml,    dialect: gemini, mount: [/v1beta, /v1]}}
"""
"""The shipped documents, as a section of a config."""

CHAT_ROUTES = """\
  - operations: [openai.createChatCompletion, openai.createResponse, anthropic.createMessage]
    model: $request.body#/model
  - operations: [gemini.generateContent, gemini.streamGenerateContent]
    model: $request.path.model
"""
"""The routes of every language of chat."""

OPERATION_OF = {
    "chat_completions": "operations: [openai.createChatCompletion], ",
    "responses": "operations: [openai.createResponse], ",
}
"""What restricts a model to the operations of its upstream's language, where a dialect has two."""
UPSTREAM_OF = {
    "chat_completions": "dialect: openai, url: '{url}/v1'",
    "responses": "dialect: openai, url: '{url}/v1'",
    "messages": "dialect: anthropic, url: '{url}/v1'",
    "generate_content": "dialect: gemini, url: '{url}/v1beta'",
}
"""Dialect and address of an upstream that speaks a language of chat."""

CONFIG = f"""version: 1
{SPECS}upstreams:
  openai:    {{url: "http://openai.test/v1", dialect: openai}}
  anthropic: {{url: "http://anthropic.test/v1", dialect: anthropic}}
  gemini:    {{url: "http://gemini.test/v1beta", dialect: gemini}}
models:
  chat-model:
    to: [{{upstream: openai, model: gpt-4o}}]
    operations: [openai.createChatCompletion]
    translate: strict
  responses-model:
    to: [{{upstream: openai, model: gpt-4o}}]
    operations: [openai.createResponse]
    translate: strict
  claude-model: {{to: [{{upstream: anthropic, model: claude-sonnet-4-5}}], translate: strict}}
  gemini-model: {{to: [{{upstream: gemini, model: gemini-2.5-flash}}], translate: strict}}
  lossy-model: {{to: [{{upstream: anthropic, model: claude-sonnet-4-5}}], translate: lossy}}
  native-model: {{to: [{{upstream: anthropic, model: claude-sonnet-4-5}}], translate: off}}
  spare-model:
    to: [{{upstream: openai, model: gpt-4o}}]
    fallback: [claude-model]
    operations: [openai.createChatCompletion]
    translate: strict
routes:
{CHAT_ROUTES}tokens:
  - {{name: alice, sha256: {digest(SECRET)}}}
"""


def translating(folder: Path, config: str = CONFIG) -> PlanResult:
    """The plan of a config. AssertionError with its problems if there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "gateway.yaml"
    file.write_text(config)
    result = make_plan(file, {})
    assert result.plan is not None, [str(problem) for problem in result.findings.errors]
    return result
