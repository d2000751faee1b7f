"""A gateway with a small document, which starts fast: a chat at as many paths as a test needs.

`project(...)` is the text of its gateway.yaml; the OpenAI SDK finds the chat `n` at `/v1/n`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.recording import request
from tests.support.running import ALL, TOKENS

_SCHEMA = {
    "type": "object",
    "required": ["model"],
    "properties": {"model": {"type": "string"}, "max_tokens": {"type": "integer"}},
}
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
}
"""A chat completion, the default answer of the upstream."""


def chat(name: str = "chat", model: str = "one", token: str = ALL, **more: Any) -> bytes:
    """The bytes of a request."""
    body = {"model": model, "messages": [{"role": "user", "content": "hello"}], **more}
    return request(f"/v1/{name}/chat/completions", json.dumps(body).encode(), token=token)


def project(
    folder: Path,
    upstream: str,
    routes: Mapping[str, str],
    *,
    more: str = "",
    workers: int = 2,
) -> str:
    """Write the document, and make the text of a gateway.yaml: `routes` are the policies of each
    chat, in YAML's flow style; its models are `one`, `two` (at the upstream `other`) and `gone`
    (at an address where nobody listens). Its timeouts are longer than a test waits, also on a busy
    machine, so that none of them is what the test waits for."""
    paths = {
        f"/{name}/chat/completions": {
            "post": {
                "operationId": name,
                "requestBody": {"content": {"application/json": {"schema": _SCHEMA}}},
                "responses": {"default": {"description": "An answer"}},
            }
        }
        for name in routes
    }
    head = {"openapi": "3.1.0", "info": {"title": "Small", "version": "1"}}
    document = {**head, "servers": [{"url": "/v1"}], "paths": paths}
    (folder / "small.json").write_text(json.dumps(document))
    listed = "".join(
        f'  - {{operation: small.{name}, model: "$request.body#/model", policies: {policies}}}\n'
        for name, policies in routes.items()
    )
    patient = "timeouts: {first_byte: 10m, idle: 10m}"
    away = "breaker: {failures: 1000000}, retry: {attempts: 1}"
    return f"""
version: 1
server: {{listen: "{{listen}}", workers: {workers}}}
specs: {{small: {{document: small.json, dialect: openai}}}}
upstreams:
  main: {{url: "{upstream}/v1", proxy: "", {patient}, {away}}}
  other: {{url: "{upstream}/v1", proxy: "", {patient}, {away}}}
  away: {{url: "http://127.0.0.1:9", proxy: "", {away}}}
models:
  one: {{to: [{{upstream: main}}]}}
  two: {{to: [{{upstream: other}}]}}
  gone: {{to: [{{upstream: away}}]}}
routes:
{listed}{TOKENS}
{more}
"""
