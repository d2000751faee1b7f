"""Answers with examples: the last turn echoed, faults on request, rows for each input."""

from __future__ import annotations

import pytest
from falcon.testing import TestClient

from engine import dialects
from engine.mock.app import build
from tests.support.documents import shipped

CHAT = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello brave world"}]}
HEADERS = {"Authorization": "Bearer secret"}


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


def test_the_name_of_the_model_asks_for_a_fault(client):
    result = chat(client, model="fault-status-429-retry-after-2")
    assert (result.status_code, result.headers["retry-after"]) == (429, "2")
    stream = chat(client, model="fault-error-after-1", stream=True)
    assert stream.status_code == 200
    assert "mock_fault" in stream.text
    assert "[DONE]" not in stream.text


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
