"""The usage that an upstream reports is charged once, equally for each format of the caller."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.translations import languages
from tests.support.books import Books
from tests.support.recording import Recorder, answer, ask, recorder, request
from tests.support.running import ALL, TOKENS, Running, gateway
from tests.support.translated_usage import CHARGED, charged, with_usage
from tests.support.translating import CHAT_ROUTES, OPERATION_OF, SPECS
from tests.support.translation_faults import RawCaller, Reply, body_of, events, stream

LANGUAGES = [language.name for language in languages()]
_DIALECTS = {
    "chat_completions": "openai",
    "responses": "openai",
    "messages": "anthropic",
    "generate_content": "gemini",
}
_CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 1}}
stores: {{records: "sqlite:///records.db"}}
currency: EUR
prices: {{"*": {{input: 2.5, output: 10, cached_input: 1.25}}}}
{specs}upstreams:
  openai:    {{url: "{url}/v1", dialect: openai, proxy: "", COMMON}}
  anthropic: {{url: "{url}/v1", dialect: anthropic, proxy: "", COMMON}}
  gemini:    {{url: "{url}/v1beta", dialect: gemini, proxy: "", COMMON}}
  unasked:   {{url: "{url}/v1", dialect: openai, proxy: "", ask_usage: false, COMMON}}
  inclusive: {{url: "{url}/v1", dialect: anthropic, proxy: "", cache_in_input: true, COMMON}}
models:
{models}
  unasked: {{to: [{{upstream: unasked, model: gpt-4o}}], translate: strict}}
  inclusive: {{to: [{{upstream: inclusive, model: claude-sonnet-4-5}}], translate: strict}}
  openai-vectors: {{to: [{{upstream: openai}}], operations: [openai.createEmbedding]}}
  gemini-vectors: {{to: [{{upstream: gemini}}], operations: [gemini.batchEmbedContents]}}
routes:
  - {{operation: openai.createEmbedding, model: $request.body#/model}}
  - {{operation: gemini.batchEmbedContents, model: $request.path.model}}
{chat_routes}{tokens}
"""


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("translation-ledger")


@pytest.fixture(scope="module")
def running(folder: Path, upstream: Recorder) -> Iterator[Running]:
    models = "\n".join(
        f"  {name}: {{{OPERATION_OF.get(name, '')}"
        f"to: [{{upstream: {_DIALECTS[name]}, model: gpt-4o}}], translate: strict}}"
        for name in LANGUAGES
    )
    common = "retry: {attempts: 1}, breaker: {failures: 1000000}"
    text = _CONFIG.replace("COMMON", "{common}").format(
        specs=SPECS,
        chat_routes=CHAT_ROUTES,
        url=upstream.url,
        models=models,
        tokens=TOKENS,
        common=common,
    )
    with gateway(folder, text) as started:
        yield started


@pytest.fixture
def books(folder: Path) -> Books:
    return Books(folder)


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("target", LANGUAGES)
def test_the_upstreams_usage_is_charged_alike_in_every_format(
    target: str, streamed: bool, running: Running, upstream: Recorder, books: Books
) -> None:
    speak = stream(*(with_usage(target, event) for event in events(target)))
    upstream.speak = speak if streamed else answer(with_usage(target, body_of(target)))
    callers = [RawCaller(language) for language in LANGUAGES]

    def ask_all() -> None:
        for caller in callers:
            assert caller.ask(running.port, target, stream=streamed).status == 200

    rows = books.rows_of(ask_all, len(callers))
    assert [charged(row) for row in rows] == [CHARGED] * len(callers)
    assert {row["stream"] for row in rows} == {streamed}


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
def test_a_prompt_cache_inside_the_input_is_counted_once(
    streamed: bool, running: Running, upstream: Recorder, books: Books
) -> None:
    texts = [
        with_usage("messages", text).replace(b'"input_tokens": 150', b'"input_tokens": 1200')
        for text in (events("messages") if streamed else [body_of("messages")])
    ]
    assert b'"input_tokens": 1200' in b"".join(texts)
    upstream.speak = stream(*texts) if streamed else answer(texts[0])
    callers = [RawCaller(language) for language in LANGUAGES]
    replies: list[Reply] = []

    def ask_all() -> None:
        replies.extend(caller.ask(running.port, "inclusive", stream=streamed) for caller in callers)

    rows = books.rows_of(ask_all, len(callers))
    assert [charged(row) for row in rows] == [CHARGED] * len(callers)
    bodies = {each.language: reply.body for each, reply in zip(callers, replies, strict=True)}
    assert b'"promptTokenCount":1200' in bodies["generate_content"]
    assert b'"input_tokens":1200' in bodies["responses"]


@pytest.mark.parametrize("target", [each for each in LANGUAGES if each != "generate_content"])
def test_a_stream_as_an_array_is_charged(
    target: str, running: Running, upstream: Recorder, books: Books
) -> None:
    upstream.speak = stream(*(with_usage(target, event) for event in events(target)))
    body = b'{"contents":[{"parts":[{"text":"Hi"}]}]}'
    data = request(f"/v1beta/models/{target}:streamGenerateContent", body, token=ALL)
    answers = []
    [row] = books.rows_of(lambda: answers.append(ask(running.port, data)))
    assert charged(row) == CHARGED
    *_, last = answers[0].json()
    assert last["usageMetadata"]["totalTokenCount"] == 1290


@pytest.mark.parametrize("target", LANGUAGES)
def test_a_compressed_answer_is_charged(
    target: str, running: Running, upstream: Recorder, books: Books
) -> None:
    data = gzip.compress(b"".join(with_usage(target, event) for event in events(target)))
    upstream.speak = answer(data, ("Content-Type: text/event-stream", "Content-Encoding: gzip"))
    caller = RawCaller("messages" if target != "messages" else "responses")
    [row] = books.rows_of(lambda: caller.ask(running.port, target, stream=True))
    assert charged(row) == CHARGED


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("target", LANGUAGES)
def test_an_answer_without_usage_is_estimated_in_every_format(
    target: str, streamed: bool, running: Running, upstream: Recorder, books: Books
) -> None:
    texts = events(target) if streamed else [body_of(target)]
    silent = [text.replace(b'"usage', b'"x-usage') for text in texts]
    upstream.speak = stream(*silent) if streamed else answer(silent[0])
    callers = [RawCaller(language) for language in LANGUAGES]

    def ask_all() -> None:
        for caller in callers:
            assert caller.ask(running.port, target, stream=streamed).status == 200

    rows = books.rows_of(ask_all, len(callers))
    assert {row["source"] for row in rows} == {"estimated"}
    assert all(row["output"] > 0 for row in rows)
    assert len({row["output"] for row in rows}) == 1


@pytest.mark.parametrize("language", ["messages", "generate_content"])
def test_an_upstream_that_must_not_be_asked_for_usage_is_not(
    language: str, running: Running, upstream: Recorder, books: Books
) -> None:
    upstream.speak = stream(*events("chat_completions"))
    caller = RawCaller(language)
    books.rows_of(lambda: caller.ask(running.port, "unasked", stream=True))
    assert "stream_options" not in json.loads(upstream.last.body)
    books.rows_of(lambda: caller.ask(running.port, "chat_completions", stream=True))
    assert json.loads(upstream.last.body)["stream_options"] == {"include_usage": True}


def test_a_caller_of_chat_completions_gets_usage_in_a_stream_only_if_it_asks(
    running: Running, upstream: Recorder, books: Books
) -> None:
    upstream.speak = stream(*(with_usage("messages", event) for event in events("messages")))
    caller = RawCaller("chat_completions")
    options: tuple[dict[str, object], ...] = ({}, {"stream_options": {"include_usage": True}})
    replies: list[Reply] = []

    def ask_both() -> None:
        replies.extend(
            caller.ask(running.port, "messages", stream=True, **each) for each in options
        )

    rows = books.rows_of(ask_both, 2)
    assert [charged(row) for row in rows] == [CHARGED, CHARGED]
    assert [b'"prompt_tokens":1200' in reply.body for reply in replies] == [False, True]


VECTORS = {
    "openai-vectors": {
        "data": [{"index": 0, "embedding": [0.5]}],
        "usage": {"prompt_tokens": 30, "total_tokens": 30},
    },
    "gemini-vectors": {
        "embeddings": [{"values": [0.5]}],
        "usageMetadata": {"promptTokenCount": 30, "totalTokenCount": 30},
    },
}
"""Answers of each vendor, with the same usage."""


@pytest.mark.parametrize("model", VECTORS)
def test_embeddings_are_charged_alike_in_every_format(
    model: str, running: Running, upstream: Recorder, books: Books
) -> None:
    upstream.speak = answer(json.dumps(VECTORS[model]).encode())
    content = {"content": {"parts": [{"text": "fox"}]}}
    requests = {
        "/v1/embeddings": {"model": model, "input": "fox"},
        f"/v1beta/models/{model}:batchEmbedContents": {
            "requests": [{"model": f"models/{model}", **content}]
        },
    }

    def ask_all() -> None:
        for path, body in requests.items():
            data = request(path, json.dumps(body).encode(), token=ALL)
            assert ask(running.port, data).status == 200

    rows = books.rows_of(ask_all, len(requests))
    assert [charged(row) for row in rows] == [(30, 0, 0, 0, "upstream", 30 * 2_500)] * 2
