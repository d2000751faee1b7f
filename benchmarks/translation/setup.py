"""The gateway whose models are named for the languages of their vendors, and what its callers send.

A chat for the model of the caller's language is relayed, every other one is translated.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from benchmarks.translation.chats import Request, requests
from engine.translations.neutral.language import Language

CONFIG = """
version: 1
server: {{listen: "127.0.0.1:{listen}", workers: 1}}
stores: {{records: "sqlite:///var/modelway.db", counters: memory}}
specs:
  openai:    {{document: openapi/openai.yaml,    dialect: openai}}
  anthropic: {{document: openapi/anthropic.yaml, dialect: anthropic}}
  gemini:    {{document: openapi/gemini.yaml,    dialect: gemini, mount: [/v1beta, /v1]}}
upstreams:
  openai:    {{url: "http://127.0.0.1:{port}/v1", dialect: openai, credential: {{bearer: x}}}}
  anthropic: {{url: "http://127.0.0.1:{port}/v1", dialect: anthropic, credential: {{bearer: x}}}}
  gemini:    {{url: "http://127.0.0.1:{port}/v1beta", dialect: gemini, credential: {{bearer: x}}}}
models:
  chat_completions:
    to: [{{upstream: openai, model: gpt-4o}}]
    operations: [openai.createChatCompletion]
    translate: strict
  responses:
    to: [{{upstream: openai, model: gpt-4o}}]
    operations: [openai.createResponse]
    translate: strict
  messages: {{to: [{{upstream: anthropic, model: claude-sonnet-4-5}}], translate: strict}}
  generate_content: {{to: [{{upstream: gemini, model: gemini-2.5-flash}}], translate: strict}}
prices: {{"*": {{input: 2.5, output: 10, cached_input: 1.25}}}}
policies:
  - rate_limit: {{requests: 100000000, per: 1m}}
telemetry: {{access_log: {{path: access.log}}}}
routes:
  - operations: [openai.createChatCompletion, openai.createResponse, anthropic.createMessage]
    model: $request.body#/model
  - operations: [gemini.generateContent, gemini.streamGenerateContent]
    model: $request.path.model
tokens:
{tokens}
"""

_PREFIX = {"gemini": "/v1beta"}


def messages(language: Language, model: str, tokens: list[str], *, stream: bool) -> Iterator[bytes]:
    """Requests as bytes, without end: their lengths, tokens, ids and addresses differ."""
    for number, request in enumerate(itertools.cycle(requests(language, model, stream=stream))):
        yield _message(language, request, tokens[number % len(tokens)], number)


def _message(language: Language, request: Request, token: str, number: int) -> bytes:
    query = f"?{request.query}" if request.query else ""
    path = f"{_PREFIX.get(language.dialect, '/v1')}{request.path}{query}"
    fields = [
        ("Host", "gateway.example"),
        ("Authorization", f"Bearer {token}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json"),
        ("Accept-Encoding", "gzip, deflate"),
        ("User-Agent", "OpenAI/Python 3.52.0"),
        ("X-Stainless-Lang", "python"),
        ("X-Stainless-Retry-Count", "0"),
        ("X-Forwarded-For", f"10.{number % 251}.{number % 241}.{number % 239}"),
        ("X-Request-Id", f"req-{number:012x}"),
        ("Content-Length", str(len(request.body))),
    ]
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + request.body
