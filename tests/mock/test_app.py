"""The mock answers every operation of a document, and refuses what the document does not allow."""

from __future__ import annotations

import pytest
from falcon.testing import TestClient

from engine import dialects
from engine.mock.app import build
from engine.source import files
from engine.source.problem import Findings
from engine.spec.spec import read
from tests.support.documents import shipped

CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello brave world"}]}
HEADERS = {"Authorization": "Bearer secret"}


@pytest.fixture(scope="module")
def client():
    findings = Findings()
    specification = read("openai", files.DOCUMENTS / "openai.yaml", "openai", (), findings)
    assert findings.problems == []
    return TestClient(build([(specification, dialects.get("openai"))], "secret"))


def chat(client, headers=HEADERS, **changes):
    return client.simulate_post("/v1/chat/completions", headers=headers, json={**CHAT, **changes})


def test_the_last_turn_is_echoed_and_counted(client):
    body = chat(client).json
    assert body["choices"][0]["message"]["content"] == "hello brave world"
    assert body["model"] == "gpt-4o"
    assert body["usage"]["total_tokens"] == body["usage"]["prompt_tokens"] + 3


def test_a_stream_has_an_event_for_each_word(client):
    result = chat(client, stream=True)
    assert result.headers["content-type"].startswith("text/event-stream")
    assert [result.text.count(word) for word in ("hello ", "brave ", "world")] == [1, 1, 1]
    assert result.text.endswith("data: [DONE]\n\n")


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer another"}])
def test_any_other_credential_is_refused(client, headers):
    assert chat(client, headers).status_code == 401


def test_a_request_that_the_document_does_not_allow_is_refused(client):
    result = chat(client, messages="hello")
    assert (result.status_code, result.json["error"]["param"]) == (400, "messages")


def test_the_name_of_the_model_asks_for_a_fault(client):
    result = chat(client, model="fault-status-429-retry-after-2")
    assert (result.status_code, result.headers["retry-after"]) == (429, "2")
    stream = chat(client, model="fault-error-after-1", stream=True)
    assert stream.status_code == 200
    assert "mock_fault" in stream.text
    assert "[DONE]" not in stream.text


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


@pytest.fixture(scope="module")
def rerank():
    specification, _ = shipped("rerank")
    return TestClient(build([(specification, dialects.get("openai"))], "secret"))


def test_documents_are_ranked_for_clients_of_each_vendor(rerank):
    body = {"model": "m", "query": "q", "documents": ["a", {"text": "b"}, "c"], "top_n": 2}
    answer = rerank.simulate_post("/v1/rerank", headers=HEADERS, json=body).json
    rows = [(row["index"], row["relevance_score"]) for row in answer["results"]]
    assert rows == [(0, 0.98), (1, 0.49)]
    assert [row["document"]["text"] for row in answer["results"]] == ["a", "b"]
    assert [row["document"] for row in answer["data"]] == ["a", "b"]


@pytest.mark.parametrize("encoding", ["float", "base64"])
def test_each_input_has_its_vector(client, encoding):
    body = {"model": "m", "input": ["a", "b", "c"], "encoding_format": encoding}
    answer = client.simulate_post("/v1/embeddings", headers=HEADERS, json=body).json
    assert [row["index"] for row in answer["data"]] == [0, 1, 2]
