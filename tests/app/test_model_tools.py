"""Models as tools: what is listed for whom, what a model is asked, and what its answer becomes."""

import json

import pytest

from engine.values.caller import digest
from tests.support import mcp_messages
from tests.support.each import each
from tests.support.mcp_messages import call, modern
from tests.support.paths import ROOT
from tests.support.recording import answer, recorder

ALICE, BOB, CAROL = (f"mw-{letter * 64}" for letter in "456")
CONFIG = f"""version: 1
specs:
  openai: {{document: {ROOT}/openapi/openai.yaml, dialect: openai}}
  rerank: {{document: {ROOT}/openapi/rerank.yaml, dialect: openai, mount: /r}}
upstreams: {{main: {{url: "URL/v1", dialect: openai, credential: {{bearer: sk-hush}}, proxy: ""}}}}
models: {{big: {{to: [{{upstream: main}}]}}, small: {{to: [{{upstream: main}}]}}}}
mcp:
  models:
    path: /mcp
    models:
      chat: [big, small]
      embed: small
      generate_image: small
      transcribe: small
      rerank: small
tokens:
  - {{name: alice, sha256: {digest(ALICE)}}}
  - {{name: bob, sha256: {digest(BOB)}, models: [small]}}
  - {{name: carol, sha256: {digest(CAROL)}, models: [small], operations: [openai.createEmbedding]}}
routes:
  - {{operation: openai.createChatCompletion, model: $request.body#/model}}
  - {{operation: openai.createEmbedding, model: $request.body#/model}}
  - {{operations: [openai.createImage, openai.createTranscription], model: $request.body#/model}}
  - {{operation: rerank.rerank, model: $request.body#/model}}
"""
CHAT = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Four."}}]}


@pytest.fixture(scope="module")
def upstream():
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def gateway(tmp_path_factory, upstream):
    text = CONFIG.replace("URL", upstream.url)
    return mcp_messages.Gateway(tmp_path_factory.mktemp("models"), {"gateway.yaml": text})


def answers(upstream, document):
    upstream.reset()
    upstream.speak = answer(json.dumps(document).encode())


def listed(gateway, token):
    _, document = gateway.ask(modern("tools/list"), token=token)
    return {tool["name"]: tool["inputSchema"] for tool in document["result"]["tools"]}


@each(
    "token, tools, models",
    [
        (ALICE, ["chat", "embed", "generate_image", "rerank", "transcribe"], ["big", "small"]),
        (BOB, ["chat", "embed", "generate_image", "rerank", "transcribe"], ["small"]),
        (CAROL, ["embed"], None),
    ],
)
def test_a_token_sees_the_tools_and_models_that_it_may_use(gateway, token, tools, models):
    found = listed(gateway, token)
    assert [*found] == tools
    if models:
        assert found["chat"]["properties"]["model"]["enum"] == models


def test_a_chat_is_a_request_of_its_operation(gateway, upstream):
    answers(upstream, CHAT)
    arguments = {"prompt": "2+2?", "system": "Be brief.", "max_tokens": 5, "model": "big"}
    assert gateway.text("chat", arguments, token=ALICE) == "Four."
    assert json.loads(upstream.last.body) == {
        "model": "big",
        "max_completion_tokens": 5,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "2+2?"},
        ],
    }
    record = gateway.ended[-1].record
    assert gateway.ended[-1].operation == "openai.createChatCompletion"
    assert (record.model, record.mcp.tool) == ("big", "chat")


def test_without_a_model_the_first_that_a_token_may_use_is_asked(gateway, upstream):
    for token, model in ((ALICE, "big"), (BOB, "small")):
        answers(upstream, CHAT)
        gateway.text("chat", {"prompt": "2+2?"}, token=token)
        assert json.loads(upstream.last.body)["model"] == model


@each(
    "arguments, place",
    [
        ({"prompt": "x", "model": "big"}, "model: "),
        ({"prompt": "x", "model": "other"}, "model: "),
        ({}, "prompt: it is required"),
        ({"prompt": 1}, "prompt: expected"),
        ({"prompt": "x", "tools": []}, "tools: the tool has no such argument"),
    ],
)
def test_invalid_arguments_name_their_place(gateway, upstream, arguments, place):
    upstream.reset()
    result = gateway.result("chat", arguments, token=BOB)
    assert result["isError"] is True
    assert place in result["content"][0]["text"]
    assert upstream.requests == []


def test_a_tool_of_a_token_without_its_models_is_unknown(gateway):
    status, _ = gateway.ask(call("chat", {"prompt": "x"}), token=CAROL)
    assert status == 400


def test_embeddings_are_structured(gateway, upstream):
    answers(upstream, {"model": "small", "data": [{"index": 0, "embedding": [0.5, 1.5]}]})
    result = gateway.result("embed", {"texts": ["a"]}, token=ALICE)
    assert result["structuredContent"] == {"model": "small", "embeddings": [[0.5, 1.5]]}


def test_an_image_is_an_image(gateway, upstream):
    answers(upstream, {"created": 1, "data": [{"b64_json": "a" * 1_600_000}]})
    (image,) = gateway.result("generate_image", {"prompt": "a fox"}, token=ALICE)["content"]
    assert (image["type"], image["mimeType"], len(image["data"])) == (
        "image",
        "image/png",
        1_600_000,
    )


def test_a_recording_is_sent_as_a_file(gateway, upstream):
    answers(upstream, {"text": "Hello."})
    assert gateway.text("transcribe", {"audio": "UklGRg=="}, token=ALICE) == "Hello."
    assert b'filename="audio.wav"' in upstream.last.body
    assert b"RIFF" in upstream.last.body


def test_a_ranking_is_shown_as_it_is(gateway, upstream):
    ranked = {"results": [{"index": 0, "relevance_score": 0.9}]}
    answers(upstream, ranked)
    arguments = {"query": "q", "documents": ["a"], "top_n": 1}
    assert gateway.result("rerank", arguments, token=ALICE)["structuredContent"] == ranked


def test_an_error_of_a_model_is_one_of_the_tool(gateway, upstream):
    upstream.reset()
    error = {"error": {"message": "No quota.", "type": "x", "code": "quota"}}
    upstream.speak = answer(json.dumps(error).encode(), status=409)
    result = gateway.result("chat", {"prompt": "x"}, token=ALICE)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("HTTP 409")
