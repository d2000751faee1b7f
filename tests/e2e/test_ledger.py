"""One row for each request, however it ends: real workers, real SDKs, bad peers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import anthropic
import openai
import pytest
from google import genai

from tests.support.books import Books, Row
from tests.support.recording import (
    Recorder,
    Wire,
    answer,
    ask,
    recorder,
    request,
)
from tests.support.running import (
    ALL,
    EXPIRED,
    LIMITED,
    Running,
    gateway,
    mock,
    patient,
    pointed_at,
    replaced,
    shipped,
)
from tests.support.scripted import CLOSE, RESET, STALL, script
from tests.support.small import COMPLETION
from tests.support.waiting import until

ONCE = "retry: {attempts: 1}, breaker: {failures: 1000}"
UPSTREAMS = """
  odd: {url: "${ODD}/v1", dialect: openai, proxy: "", ONCE}
  unasked: {url: "${ODD}/v1", dialect: openai, proxy: "", ask_usage: false}
  hasty: {url: "${ODD}/v1", proxy: "", timeouts: {first_byte: 200ms}}
  away: {url: "http://127.0.0.1:9", proxy: "", ONCE}
  things: {url: "${ODD}", proxy: ""}
""".replace("ONCE", ONCE)
MODELS = """
  odd: {to: [{upstream: odd}]}
  unasked: {to: [{upstream: unasked}]}
  hasty: {to: [{upstream: hasty}]}
  away: {to: [{upstream: away}]}
  first: {to: [{upstream: odd, model: begins}], fallback: [gpt-4o]}
  named: {to: [{upstream: openai, model: the-real-name}]}
"""
REST = """
stores: {records: "sqlite:///records.db"}
currency: EUR
prices:
  gpt-4o: {input: 2.5, output: 10, cached_input: 1.25}
  odd: {input: 2.5, output: 10, cached_input: 1.25}
  named: {input: 1, output: 1}
  "claude-*": {input: 3, output: 15}
  "gemini-*": {input: 0.3, output: 2.5}
  text-embedding-3-small: {input: 0.02}
  tts-1: {character: 0.000015}
  whisper-1: {second: 0.0001}
"""
THINGS = {
    "openapi": "3.1.0",
    "info": {"title": "Things", "version": "1"},
    "servers": [{"url": "/things"}],
    "paths": {
        "/{id}": {
            "parameters": [
                {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
            ],
            "get": {"operationId": "get", "responses": {"default": {"description": "It"}}},
            "head": {"operationId": "head", "responses": {"default": {"description": "It"}}},
        }
    },
}
MESSAGE = "one two three four"
"""A text for which the mock counts 7 input and 4 output tokens."""
TURNS: Any = [{"role": "user", "content": MESSAGE}]


@dataclass(frozen=True)
class Front:
    running: Running
    odd: Recorder
    books: Books

    @property
    def port(self) -> int:
        return self.running.port

    @property
    def url(self) -> str:
        return self.running.url

    def row(self, work: Callable[[], Any]) -> Row:
        """The single row of `work`."""
        return self.books.rows_of(work)[0]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    folder = tmp_path_factory.mktemp("ledger")
    config = shipped(folder / "project")
    spec = "\nspecs:\n  things: {document: things.json, dialect: plain}\n"
    config = replaced(config, r"\nspecs:\n", spec)
    config = replaced(config, r"\nmodels:.*\n", f"{UPSTREAMS}\nmodels:\n{MODELS}")
    route = "\nroutes:\n  - {operations: things.*, to: [{upstream: things}]}\n"
    config = replaced(config, r"\nroutes:\n", route)
    (folder / "project" / "things.json").write_text(json.dumps(THINGS))
    with (
        mock(folder) as behind,
        recorder() as odd,
        gateway(
            folder / "project",
            patient(config) + REST,
            {**pointed_at(behind.url), "ODD": odd.url},
        ) as front,
    ):
        yield Front(front, odd, Books(folder / "project"))


@pytest.fixture
def front(running: Front) -> Front:
    running.odd.reset()
    return running


@pytest.fixture(scope="module")
def client(running: Front) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{running.url}/v1", api_key=ALL, max_retries=0) as sdk:
        yield sdk


@pytest.fixture(scope="module")
def claude(running: Front) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=running.url, api_key=ALL, max_retries=0) as sdk:
        yield sdk


@pytest.fixture(scope="module")
def gemini(running: Front) -> Iterator[genai.Client]:
    options = genai.types.HttpOptions(base_url=running.url)
    with genai.Client(api_key=ALL, http_options=options) as sdk:
        yield sdk


def holds(row: Row, **expected: Any) -> None:
    assert {name: row[name] for name in expected} == expected, row


def chat(model: str = "gpt-4o", token: str = ALL, headers: Any = (), **more: Any) -> bytes:
    body = json.dumps({"model": model, "messages": TURNS, **more}).encode()
    return request("/v1/chat/completions", body, token=token, headers=headers)


# Complete, in all dialects


def test_a_chat(front: Front, client: openai.OpenAI) -> None:
    row = front.row(lambda: client.chat.completions.create(model="gpt-4o", messages=TURNS))
    holds(row, operation="openai.createChatCompletion", token="everything", status=200)
    holds(row, model_asked="gpt-4o", model_served="gpt-4o", upstream="openai", attempts=1)
    holds(row, outcome="complete", input=7, output=4, source="upstream", stream=False)
    holds(row, cost=57_500, currency="EUR")  # 7 at 2.50 and 4 at 10 for a million
    assert 0 < row["first_byte"] <= row["duration"]
    assert row["bytes_in"] > len(MESSAGE)
    assert row["bytes_out"] > len(MESSAGE)


def test_a_row_has_the_client_and_its_session(front: Front, client: openai.OpenAI) -> None:
    version = openai.__version__
    ask_as = client.chat.completions.create
    row = front.row(lambda: ask_as(model="gpt-4o", messages=TURNS, user="alice"))
    holds(row, client="openai-python", client_version=version, session="alice")
    headers = ["Session-Id: s1", "User-Agent: codex_exec/0.171.0 (Debian)"]
    data = chat("gpt-4o", user="alice", headers=headers)
    row = front.row(lambda: ask(front.port, data))
    holds(row, client="codex", client_version="0.171.0", session="s1")


def test_a_stream_of_a_caller_who_asked_for_usage(front: Front, client: openai.OpenAI) -> None:
    usages: list[Any] = []

    def work() -> None:
        options = {"include_usage": True}
        usages.extend(
            client.chat.completions.create(
                model="gpt-4o",
                messages=TURNS,
                stream=True,
                stream_options=options,  # type: ignore[arg-type]
            )
        )

    row = front.row(work)
    holds(row, outcome="complete", input=7, output=4, source="upstream", stream=True, cost=57_500)
    assert [chunk.usage.total_tokens for chunk in usages if chunk.usage] == [11]
    assert usages[-1].choices == []


@pytest.mark.parametrize("options", [{}, {"stream_options": None}])
def test_a_stream_of_a_caller_who_did_not_ask(
    front: Front, client: openai.OpenAI, options: Any
) -> None:
    usages: list[Any] = []

    def work() -> None:
        usages.extend(
            client.chat.completions.create(model="gpt-4o", messages=TURNS, stream=True, **options)
        )

    row = front.row(work)
    holds(row, outcome="complete", input=7, output=4, source="upstream", stream=True, cost=57_500)
    assert all(chunk.usage is None for chunk in usages)
    assert all(chunk.choices for chunk in usages), "the extra event is the gateway's alone"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in usages) == MESSAGE


def test_an_upstream_that_is_not_asked_for_usage(front: Front) -> None:
    events = [
        b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % word
        for word in (b"four", b" by f", b"our!")
    ]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    front.odd.speak = script(head, *events, b"data: [DONE]\n\n", CLOSE)
    row = front.row(lambda: ask(front.port, chat("unasked", stream=True)))
    assert b"stream_options" not in front.odd.last.body
    holds(row, outcome="complete", source="estimated", stream=True)
    assert row["input"] > 10
    assert row["output"] == 3


def test_a_message_of_claude(front: Front, claude: anthropic.Anthropic) -> None:
    row = front.row(
        lambda: claude.messages.create(model="claude-sonnet", max_tokens=50, messages=TURNS)
    )
    holds(row, operation="anthropic.createMessage", outcome="complete", input=7, output=4)
    holds(row, cost=7 * 3_000 + 4 * 15_000, source="upstream", model_asked="claude-sonnet")


def test_a_stream_of_claude(front: Front, claude: anthropic.Anthropic) -> None:
    def work() -> None:
        with claude.messages.stream(model="claude-opus", max_tokens=50, messages=TURNS) as streamed:
            assert "".join(streamed.text_stream) == MESSAGE

    row = front.row(work)
    holds(row, outcome="complete", input=7, output=4, stream=True, cost=81_000)


def test_gemini(front: Front, gemini: genai.Client) -> None:
    row = front.row(
        lambda: gemini.models.generate_content(model="gemini-2.5-flash", contents=MESSAGE)
    )
    holds(row, operation="gemini.generateContent", outcome="complete", input=7, output=4)
    holds(row, cost=7 * 300 + 4 * 2_500, source="upstream")


def test_a_stream_of_gemini(front: Front, gemini: genai.Client) -> None:
    def work() -> None:
        pieces = gemini.models.generate_content_stream(model="gemini-2.5-flash", contents=MESSAGE)
        assert "".join(piece.text or "" for piece in pieces) == MESSAGE

    row = front.row(work)
    holds(row, outcome="complete", input=7, output=4, stream=True, source="upstream", cost=12_100)


def test_responses(front: Front, client: openai.OpenAI) -> None:
    row = front.row(lambda: client.responses.create(model="gpt-4o", input=MESSAGE))
    holds(row, operation="openai.createResponse", outcome="complete", input=7, output=4)

    def work() -> None:
        for _ in client.responses.create(model="gpt-4o", input=MESSAGE, stream=True):
            pass

    holds(front.row(work), outcome="complete", input=7, output=4, stream=True, source="upstream")


def test_what_is_cached_is_cheaper(front: Front) -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "total_tokens": 1100,
        "prompt_tokens_details": {"cached_tokens": 800},
        "completion_tokens_details": {"reasoning_tokens": 60},
    }
    front.odd.speak = answer(json.dumps({**COMPLETION, "usage": usage}).encode())
    row = front.row(lambda: ask(front.port, chat("odd")))
    holds(row, input=1000, cached=800, output=100, reasoning=60)
    holds(row, cost=200 * 2_500 + 800 * 1_250 + 100 * 10_000)


# Other operations


def test_embeddings(front: Front, client: openai.OpenAI) -> None:
    row = front.row(
        lambda: client.embeddings.create(
            model="text-embedding-3-small", input=MESSAGE, encoding_format="float"
        )
    )
    holds(row, operation="openai.createEmbedding", outcome="complete", input=7, output=0, cost=140)


def test_speech_counts_characters(front: Front, client: openai.OpenAI) -> None:
    row = front.row(
        lambda: client.audio.speech.create(model="tts-1", input="h\u00e9llo", voice="alloy").read()
    )
    holds(row, operation="openai.createSpeech", outcome="complete", characters=5, cost=75_000)
    assert row["bytes_out"] > 0


def test_a_transcription_counts_seconds(front: Front, client: openai.OpenAI) -> None:
    wav = ("a.wav", b"RIFF\x00\x00\x00\x00WAVE\xff\xfe", "audio/wav")
    row = front.row(lambda: client.audio.transcriptions.create(model="whisper-1", file=wav))
    holds(row, operation="openai.createTranscription", outcome="complete", seconds=3.0)
    holds(row, cost=300_000, source="upstream")


def test_rerank(front: Front, client: openai.OpenAI) -> None:
    body = {"model": "rerank-v3.5", "query": "q", "documents": ["a", "b"]}
    row = front.row(lambda: client.post("/rerank", body=body, cast_to=object))
    holds(row, operation="rerank.rerank", outcome="complete", output=0, upstream="rerank")


def test_the_list_of_models(front: Front, client: openai.OpenAI) -> None:
    row = front.row(client.models.list)
    holds(row, operation="openai.listModels", outcome="complete", status=200, upstream="")
    holds(row, model_asked="", input=0, output=0, source="none", cost=0, attempts=0)
    assert row["bytes_out"] > 100


def test_counting_tokens_uses_none(front: Front, claude: anthropic.Anthropic) -> None:
    row = front.row(lambda: claude.messages.count_tokens(model="claude-opus", messages=TURNS))
    holds(row, operation="anthropic.countTokens", outcome="complete", status=200)
    holds(row, input=0, output=0, cost=0, source="none")


def test_any_other_api(front: Front) -> None:
    front.odd.speak = answer(b"abc", ["Content-Type: text/plain"])
    row = front.row(lambda: ask(front.port, request("/things/7", token=ALL)))
    holds(row, operation="things.get", outcome="complete", status=200, upstream="things")
    holds(row, model_asked="", bytes_out=3, input=0, source="none")
    front.odd.speak = script(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n")
    row = front.row(lambda: ask(front.port, request("/things/7", method="HEAD", token=ALL)))
    holds(row, operation="things.head", outcome="complete", status=200, bytes_out=0)


@pytest.mark.parametrize(("status", "outcome"), [(404, "refused"), (500, "failed")])
def test_outcomes_of_any_other_api(front: Front, status: int, outcome: str) -> None:
    front.odd.speak = answer(b"no", ["Content-Type: text/plain"], status)
    row = front.row(lambda: ask(front.port, request("/things/7", token=ALL)))
    holds(row, status=status, outcome=outcome, bytes_out=2)


def test_a_kept_connection_leaves_one_row_for_each_request(front: Front) -> None:
    def work() -> None:
        with Wire(front.port) as wire:
            for words in (chat(), chat(model="nope"), chat(token="nope"), chat(stream=True)):
                wire.send(words)
                wire.answer("POST")

    rows = front.books.rows_of(work, 4)
    assert [row["status"] for row in rows] == [200, 404, 401, 200]
    assert len({row["id"] for row in rows}) == 4


def test_the_name_that_callers_know_is_priced(front: Front) -> None:
    row = front.row(lambda: ask(front.port, chat("named")))
    holds(row, model_asked="named", model_served="named", cost=11_000)


# Another target


def test_another_target_takes_over_after_a_stream_began(front: Front) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    role = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
    front.odd.speak = script(head + role, RESET)
    row = front.row(lambda: ask(front.port, chat("first", stream=True)))
    holds(row, outcome="complete", status=200, attempts=2, upstream="openai")
    holds(row, model_asked="first", model_served="gpt-4o", input=7, output=4, cost=57_500)


# Refused


@pytest.mark.parametrize(
    ("data", "status", "token"),
    [
        (request("/v1/chat/completions", b"{", token=ALL), 400, "everything"),
        (request("/v1/chat/completions", b'{"model":"gpt-4o"}', token=ALL), 400, "everything"),
        (chat(token="mw-nobody"), 401, ""),
        (chat(token=EXPIRED), 401, ""),
        (chat(token=""), 401, ""),
        (chat("claude-opus", token=LIMITED), 403, "limited"),
        (chat("pt-5"), 404, "everything"),
        (chat(x="x" * 26_000_000), 413, "everything"),
        (
            request("/v1/chat/completions", b"a", token=ALL, media_type="text/plain"),
            415,
            "everything",
        ),
    ],
    ids=lambda value: str(value)[:20],
)
def test_refused(front: Front, data: bytes, status: int, token: str) -> None:
    row = front.row(lambda: statuses.append(ask(front.port, data).status))
    assert statuses.pop() == status
    holds(row, status=status, outcome="refused", token=token, cost=0, input=0, attempts=0)
    holds(row, source="none")
    assert row["bytes_out"] > 20


statuses: list[int] = []


def test_refused_by_the_upstream(front: Front) -> None:
    error = {"error": {"message": "no", "type": "invalid_request_error", "param": "x", "code": "y"}}
    front.odd.speak = answer(json.dumps(error).encode(), status=422)
    row = front.row(lambda: ask(front.port, chat("odd")))
    holds(row, status=422, outcome="refused", upstream="odd", attempts=1, input=0, cost=0)


# Failed


@pytest.mark.parametrize(
    ("model", "steps", "status"),
    [
        ("away", (), 502),
        ("odd", (RESET,), 502),
        ("odd", (b"HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n",), 503),
        ("hasty", (STALL,), 504),
    ],
)
def test_failed(front: Front, model: str, steps: Any, status: int) -> None:
    front.odd.speak = script(*steps)
    row = front.row(lambda: ask(front.port, chat(model)))
    holds(row, status=status, outcome="failed", upstream=model, attempts=1, cost=0)
    assert row["first_byte"] is None


@pytest.mark.parametrize("stream", [True, False])
def test_cut_by_the_upstream(front: Front, stream: bool) -> None:
    kind = b"text/event-stream" if stream else b"application/json"
    body = (
        b'data: {"choices":[{"index":0,"delta":{"content":"nearly"}}]}\n\n'
        if stream
        else b'{"choices":'
    )
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: 9999\r\n\r\n" % kind
    front.odd.speak = script(head + body, CLOSE)

    def work() -> None:
        with Wire(front.port) as wire:
            wire.send(chat("odd", stream=stream))
            assert wire.head()[0] == 200
            wire.rest()

    row = front.row(work)
    holds(row, status=200, outcome="upstream_cut", source="estimated", stream=stream)
    assert row["input"] > 10
    assert row["cost"] > 0
    assert row["first_byte"] is not None


# Callers who leave


def test_caller_leaves_before_the_first_byte(front: Front) -> None:
    arrived = threading.Event()
    wait = script(STALL)

    def hold(received: Any, sock: Any) -> None:
        arrived.set()
        wait(received, sock)

    front.odd.speak = hold

    def work() -> None:
        with Wire(front.port) as wire:
            wire.send(chat("odd"))
            assert arrived.wait(10)

    row = front.row(work)
    holds(row, status=499, outcome="caller_left", upstream="odd", attempts=1, output=0)
    holds(row, first_byte=None, source="estimated")
    assert row["input"] > 10
    assert row["cost"] == row["input"] * 2_500


def test_caller_leaves_in_mid_stream(front: Front) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    event = b'data: {"choices":[{"index":0,"delta":{"content":"four by four!"}}]}\n\n'
    front.odd.speak = script(head + event, STALL)

    def work() -> None:
        with Wire(front.port) as wire:
            wire.send(chat("odd", stream=True))
            assert wire.head()[0] == 200
            assert b"four" in next(wire.pieces())

    row = front.row(work)
    holds(row, status=200, outcome="caller_left", stream=True, source="estimated", output=3)


# All of it


def test_everything_is_in_the_database_exactly_once(front: Front) -> None:
    """With the rows of other tests that ran before in this process."""
    front.books.rows_of(lambda: [ask(front.port, chat()) for _ in range(20)], 20)
    rows = list(front.books.rows().values())
    names = sorted(row["id"] for row in rows)
    assert len(set(names)) == len(names) >= 20
    until(lambda: len(front.books.column()) >= len(names), "all rows in the database")
    assert sorted(front.books.column()) == names
    assert sum(front.books.column("cost")) == sum(row["cost"] for row in rows) >= 20 * 57_500
    output = front.running.output()
    assert "Traceback" not in output, output
