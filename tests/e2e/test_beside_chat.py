"""Embeddings, counts of tokens and lists of models across vendors, by the official SDKs."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from anthropic import Anthropic
from google import genai
from google.genai import types
from openai import BadRequestError, OpenAI

from tests.support.recording import ReceivedRequest, Recorder, answer, ask, recorder, request
from tests.support.running import ALL, LIMITED, TOKENS, Running, gateway

CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 1}}
stores: {{records: "sqlite:///var/modelway.db"}}
specs:
  openai:    {{document: {openapi}/openai.yaml,    dialect: openai}}
  anthropic: {{document: {openapi}/anthropic.yaml, dialect: anthropic}}
  gemini:    {{document: {openapi}/gemini.yaml,    dialect: gemini, mount: [/v1beta]}}
upstreams:
  openai: {{url: "{url}/v1", dialect: openai, proxy: ""}}
  gemini: {{url: "{url}/v1beta", dialect: gemini, proxy: ""}}
models:
  gpt-4o-mini: {{to: [{{upstream: openai, model: gpt}}], translate: strict}}
  gemini-model: {{to: [{{upstream: gemini, model: gemini-embedding-001}}], translate: strict}}
  lossy-model: {{to: [{{upstream: openai, model: gpt}}], translate: lossy}}
  native-model: {{to: [{{upstream: openai, model: gpt}}], translate: "off"}}
routes:
  - operations:
      - openai.createChatCompletion
      - openai.createEmbedding
      - anthropic.createMessage
      - anthropic.countTokens
      - openai.countResponseTokens
    model: $request.body#/model
  - operations: [gemini.generateContent, gemini.countTokens, gemini.embedContent]
    model: $request.path.model
  - {{operation: gemini.batchEmbedContents, model: $request.path.model}}
  - {{operations: [openai.listModels, gemini.listModels], answer: models}}
{tokens}
"""

OPENAI = b"""{"object": "list", "model": "gpt", "usage": {"prompt_tokens": 3, "total_tokens": 3},
    "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -0.25]}]}"""
GEMINI = b'{"embeddings": [{"values": [0.5, -0.25]}, {"values": [1, 0]}]}'
COUNT = b'{"totalTokens": 7}'


def _speak(received: ReceivedRequest, sock: socket.socket) -> None:
    bodies = {"embeddings": OPENAI, "batchEmbedContents": GEMINI, "countTokens": COUNT}
    method = received.target.rpartition("/")[2].rpartition(":")[2]
    if method in bodies:
        answer(bodies[method])(received, sock)
    else:
        answer(b'{"detail":"Not Found"}', status="404 Not Found")(received, sock)


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        recording.speak = _speak
        yield recording


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, upstream: Recorder) -> Iterator[Running]:
    openapi = Path(__file__).parents[2] / "openapi"
    config = CONFIG.format(openapi=openapi, url=upstream.url, tokens=TOKENS)
    with gateway(tmp_path_factory.mktemp("beside"), config) as started:
        yield started


def _openai(running: Running) -> OpenAI:
    return OpenAI(base_url=f"http://127.0.0.1:{running.port}/v1", api_key=ALL, max_retries=0)


def _anthropic(running: Running) -> Anthropic:
    return Anthropic(base_url=f"http://127.0.0.1:{running.port}", api_key=ALL, max_retries=0)


def _gemini(running: Running) -> genai.Client:
    base_url = f"http://127.0.0.1:{running.port}"
    options = types.HttpOptions(base_url=base_url, api_version="v1beta")
    return genai.Client(api_key=ALL, http_options=options)


def test_openai_embeddings_of_a_gemini_model(running: Running, upstream: Recorder) -> None:
    with _openai(running) as client:  # the SDK asks for base64
        embeddings = client.embeddings.create(
            model="gemini-model", input=["fox", "dog"], dimensions=2
        )
    assert [each.embedding for each in embeddings.data] == [[0.5, -0.25], [1.0, 0.0]]
    assert embeddings.model == "gemini-model"
    assert upstream.last.target == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    first = json.loads(upstream.last.body)["requests"][0]
    assert first["outputDimensionality"] == 2
    assert first["model"] == "models/gemini-embedding-001"


def test_gemini_embeddings_of_an_openai_model(running: Running, upstream: Recorder) -> None:
    with _gemini(running) as client:
        embeddings = client.models.embed_content(model="gpt-4o-mini", contents=["fox"])
    assert embeddings.embeddings is not None
    assert [each.values for each in embeddings.embeddings] == [[0.5, -0.25]]
    assert json.loads(upstream.last.body) == {"model": "gpt", "input": ["fox"]}


def test_token_numbers_are_refused_by_name(running: Running, upstream: Recorder) -> None:
    upstream.requests.clear()
    with _openai(running) as client, pytest.raises(BadRequestError) as excinfo:
        client.embeddings.create(model="gemini-model", input=[1, 2, 3])
    assert excinfo.value.param == "input"
    assert not upstream.requests


def test_what_is_dropped_of_embeddings_is_named(running: Running) -> None:
    body = b'{"content": {"parts": [{"text": "fox"}]}, "taskType": "CLUSTERING"}'
    path = "/v1beta/models/lossy-model:embedContent"
    response = ask(running.port, request(path, body, token=ALL))
    assert response.status == 200
    assert response.value("x-modelway-dropped") == "taskType"
    assert response.json()["embedding"] == {"values": [0.5, -0.25]}
    refusal = ask(running.port, request(path.replace("lossy", "native"), body, token=ALL))
    assert refusal.status == 404


def test_tokens_for_another_vendor_are_estimated_and_nothing_is_asked(
    running: Running, upstream: Recorder
) -> None:
    upstream.requests.clear()
    turns = [{"role": "user", "content": "four bytes are one token " * 40}]
    with _anthropic(running) as client:
        counted = client.messages.with_raw_response.count_tokens(
            model="gpt-4o-mini",
            messages=turns,  # type: ignore[arg-type]
        )
    assert counted.headers["x-modelway-estimate"] == "tokens"
    assert 250 <= counted.parse().input_tokens <= 300
    with _gemini(running) as gemini:
        estimated = gemini.models.count_tokens(model="gpt-4o-mini", contents="Hi there")
    assert estimated.total_tokens is not None
    assert 0 < estimated.total_tokens < 40
    assert not upstream.requests


def test_tokens_that_a_server_cannot_count_are_estimated(
    running: Running, upstream: Recorder
) -> None:
    """A server that imitates OpenAI's API has no such path."""
    upstream.requests.clear()
    with _openai(running) as client:
        counted = client.responses.input_tokens.with_raw_response.count(
            model="gpt-4o-mini", input="four bytes are one token " * 40
        )
    assert counted.headers["x-modelway-estimate"] == "tokens"
    assert 250 <= counted.parse().input_tokens <= 300
    assert upstream.last.line == "POST /v1/responses/input_tokens HTTP/1.1"


def test_tokens_for_the_vendor_itself_are_counted_by_it(running: Running) -> None:
    path, body = "/v1beta/models/gemini-model:countTokens", b'{"contents":[{"parts":[]}]}'
    response = ask(running.port, request(path, body, token=ALL))
    assert response.json() == {"totalTokens": 7}
    assert "x-modelway-estimate" not in dict(response.headers)


def test_tokens_are_not_estimated_for_a_model_that_is_not_translated(running: Running) -> None:
    body = b'{"model": "native-model", "messages": [{"role": "user", "content": "Hi"}]}'
    response = ask(running.port, request("/v1/messages/count_tokens", body, token=ALL))
    assert response.status == 404


def test_every_dialect_lists_the_models_that_can_be_called_in_it(running: Running) -> None:
    with _openai(running) as openai:
        names = {model.id for model in openai.models.list()}
    assert names == {"gpt-4o-mini", "gemini-model", "lossy-model", "native-model"}
    with _anthropic(running) as anthropic:
        page = anthropic.models.list(limit=2)
        assert (page.has_more, page.first_id, len(page.data)) == (True, page.data[0].id, 2)
        assert {model.id for model in page} == names - {"native-model"}
    with _gemini(running) as gemini:
        listed = {model.name: model.supported_actions for model in gemini.models.list()}
    assert set(listed) == {f"models/{name}" for name in names - {"native-model"}}
    methods = {"generateContent", "countTokens", "embedContent", "batchEmbedContents"}
    assert set(listed["models/gpt-4o-mini"] or ()) == methods


def test_a_list_shows_what_the_token_may_use(running: Running) -> None:
    for path in ("/v1/models", "/v1beta/models"):
        response = ask(running.port, request(path, token=LIMITED))
        document = response.json()
        models = document.get("data") or document["models"]
        assert [each.get("id") or each["name"] for each in models] == [
            "gpt-4o-mini" if path == "/v1/models" else "models/gpt-4o-mini"
        ]
