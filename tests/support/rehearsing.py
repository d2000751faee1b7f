"""A small project and its plan, for tests of explain, test and diff."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.offline.rehearsal.observation import request
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import report
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import PlanResult
from engine.values.caller import Caller, digest
from tests.support import yaml_text
from tests.support.peer import identity
from tests.support.small_tokenizer import tokenizer_file

ALICE = Caller("alice")
SECRET = "mw-alice-secret"
DOCUMENT = """openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: /v1}]
security: [{bearer: []}, {key: []}]
paths:
  /chat:
    post:
      operationId: chat
      parameters:
        - {name: x-note, in: header, schema: {type: string}}
        - {name: page, in: query, schema: {type: integer}}
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: "#/components/schemas/Chat"}}
      responses: {"200": {description: ok}}
  /models/{model}:say:
    post:
      operationId: say
      parameters: [{name: model, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses: {"200": {description: ok}}
  /items/{id}:
    get:
      operationId: show
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: ok}}
  /hidden: {get: {operationId: hidden, responses: {"200": {description: ok}}}}
components:
  securitySchemes:
    bearer: {type: http, scheme: bearer}
    key: {type: apiKey, in: query, name: key}
  schemas:
    Chat:
      type: object
      required: [messages]
      properties:
        model: {type: string}
        messages: {type: array, minItems: 1, items: {type: object}}
"""
AMBIGUOUS = (
    DOCUMENT.replace("openapi: 3.1.0", "openapi: 3.0.3")
    .replace("model: {type: string}", 'model: {$ref: "#/components/schemas/Name", maxLength: 2}')
    .replace("  schemas:", "  schemas:\n    Name: {type: string}")
)
"""The document in 3.0 with a keyword beside a `$ref`, which openapi-core does not ignore."""
CONFIG = f"""version: 1
specs: {{shop: {{document: shop.yaml, dialect: openai}}}}
upstreams:
  main:
    url: http://main.test/base/v1
    credential: {{bearer: "${{MAIN_KEY}}"}}
    timeouts: {{connect: 2s}}
    headers: {{set: {{x-secret-tag: "hush-hush"}}}}
  spare: {{url: "http://spare.test/v1", credential: {{query: key, value: literal-credential}}}}
models:
  big:
    to: [{{upstream: main, model: real-big, weight: 3}}, {{upstream: spare}}]
    fallback: [small]
  small: {{to: [{{upstream: spare, model: real-small}}]}}
  "wild-*": {{to: [{{upstream: main}}]}}
policies:
  - rate_limit: {{requests: 60, per: 1m}}
routes:
  - operation: shop.chat
    model: {{from: $request.body#/model, default: small}}
    policies: [{{allow_models: [big, small, "wild-*"]}}, {{max_body: 1KB}}]
  - {{operation: shop.say, model: $request.path.model}}
  - {{operation: shop.show, to: [{{upstream: main}}], auth: none}}
tokens:
  - {{name: alice, sha256: {digest(SECRET)}, rate: 5/1h}}
  - {{name: limited, sha256: {digest("the secret x")}, models: [small], ips: [10.0.0.0/8]}}
"""
ENVIRON = {"MAIN_KEY": "sk-main-credential"}


def write(folder: Path, config: str = CONFIG, document: str = DOCUMENT) -> Path:
    """Write the project; the path of its config."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "shop.yaml").write_text(document)
    file = folder / "gateway.yaml"
    file.write_text(config)
    if "identity.pem" in config:
        (folder / "identity.pem").write_bytes(identity())
    if "tokenizer.json" in config:
        (folder / "tokenizer.json").write_bytes(tokenizer_file())
    return file


def planned(folder: Path, config: str = CONFIG, document: str = DOCUMENT) -> PlanResult:
    """Its plan; AssertionError with the problems when there is none."""
    result = make_plan(write(folder, config, document), ENVIRON)
    assert result.plan is not None, [str(problem) for problem in result.findings.errors]
    return result


def merged(value: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7386), applied."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for key, below in patch.items():
        if below is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), below)
    return result


def patched(text: str, patch: Any) -> str:
    """YAML text with a merge patch applied."""
    return yaml_text.dump(merged(yaml_text.load(text), patch))


def explained(
    result: PlanResult,
    method: str = "POST",
    target: str = "/v1/chat",
    body: Any = None,
    caller: Caller | None = ALICE,
    answers: Any = None,
    **more: Any,
) -> Any:
    """The report of one request, as JSON."""
    data = json.dumps(body).encode() if body is not None else b""
    outgoing = request(method, target, more.pop("headers", ()), data, **more)
    assert result.plan is not None
    return json.loads(json.dumps(report(result, rehearse(result.plan, outgoing, caller, answers))))


def explained_chat(result: PlanResult, model: str = "big", **more: Any) -> Any:
    """The report of a chat for a model, as JSON."""
    return explained(result, body={"model": model, "messages": [{}]}, **more)
