"""The mock answers every operation of a document, and refuses what the document does not allow."""

from __future__ import annotations

import pytest
from falcon.testing import TestClient

from engine import dialects
from engine.mock.app import build
from engine.source.problem import Findings
from engine.spec.spec import read

CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello brave world"}]}
HEADERS = {"Authorization": "Bearer secret"}


def chat(client, headers=HEADERS, **changes):
    return client.simulate_post("/v1/chat/completions", headers=headers, json={**CHAT, **changes})


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer another"}])
def test_any_other_credential_is_refused(client, headers):
    assert chat(client, headers).status_code == 401


def test_a_request_that_the_document_does_not_allow_is_refused(client):
    result = chat(client, messages="hello")
    assert (result.status_code, result.json["error"]["param"]) == (400, "messages")


def test_of_operations_on_one_path_the_first_that_accepts_a_request_answers(tmp_path):
    operation = (
        "get: {{operationId: {0}, parameters: [{{name: {0}, in: path, required: true, "
        "schema: {{type: {1}}}}}], responses: {{'200': {{description: ok, content: "
        "{{text/plain: {{example: {0}}}}}}}}}}}"
    )
    paths = "".join(
        f"  /x/{{{name}}}: {{{operation.format(name, kind)}}}\n"
        for name, kind in (("number", "integer"), ("word", "string"))
    )
    (tmp_path / "x.yaml").write_text(
        'openapi: 3.1.0\ninfo: {title: T, version: "1"}\nsecurity: [{b: []}]\n'
        f"components: {{securitySchemes: {{b: {{type: http, scheme: bearer}}}}}}\npaths:\n{paths}"
    )
    specification = read("x", tmp_path / "x.yaml", "x", (), Findings())
    client = TestClient(build([(specification, dialects.get("plain"))], "secret"))
    answers = [client.simulate_get(f"/x/{value}", headers=HEADERS).text for value in ("5", "y")]
    assert answers == ["number", "word"]
    assert client.simulate_get("/x/5").status_code == 401


def test_a_websocket_that_has_an_answer_too_answers_without_an_upgrade(tmp_path):
    (tmp_path / "x.yaml").write_text(
        'openapi: 3.1.0\ninfo: {title: T, version: "1"}\nsecurity: [{b: []}]\n'
        "components: {securitySchemes: {b: {type: http, scheme: bearer}}}\npaths:\n"
        "  /logs: {get: {operationId: logs, responses: {'101': {description: d}, '200': "
        "{description: d, content: {text/plain: {example: line}}}}}}\n"
    )
    specification = read("x", tmp_path / "x.yaml", "x", (), Findings())
    client = TestClient(build([(specification, dialects.get("plain"))], "secret"))
    assert client.simulate_get("/logs", headers=HEADERS).text == "line"
    asked = {**HEADERS, "Upgrade": "websocket"}
    assert client.simulate_get("/logs", headers=asked).status_code == 400
