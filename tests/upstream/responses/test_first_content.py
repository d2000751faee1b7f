"""Which events of a stream are held, and until when."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dialects
from engine.dialects import Dialect
from engine.dialects.interface.streams import Framing
from engine.upstream.client import failures
from engine.upstream.responses.first_content import (
    HELD_BYTES,
    HELD_EVENTS,
    NO_CONTENT,
    ErrorFirst,
    FirstContent,
    Misframed,
    read_first_content,
)
from engine.values.errors import EventTooLarge
from tests.support.each import each
from tests.support.loop_turns import loop_turns
from tests.support.upstreams import EVENTS, JSON, FakeResponse, failure

OPENAI, ANTHROPIC, GEMINI, PLAIN = map(dialects.get, ("openai", "anthropic", "gemini", "plain"))
MODELS = pytest.mark.parametrize("dialect", [OPENAI, ANTHROPIC, GEMINI], ids=lambda d: d.name)


def event(document: Any, name: str = "") -> bytes:
    data = document if isinstance(document, str) else json.dumps(document)
    return (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()


def opened(
    dialect: Dialect, *pieces: Any, headers: Any = EVENTS
) -> tuple[FirstContent, FakeResponse]:
    fake_response = FakeResponse(200, headers, pieces)
    response: Any = fake_response
    return read_first_content(response, dialect), fake_response


def chunk(**delta: Any) -> bytes:
    return event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})


# The events that begin a stream, and the first that a caller sees something of.
BEGINNINGS = [
    (
        OPENAI,
        [
            chunk(role="assistant", content="", refusal=None),
            event({"choices": [], "prompt_filter_results": []}),
            event({"choices": [{"index": 0, "text": "", "finish_reason": None}]}),
            b": OPENROUTER PROCESSING\n\n",
        ],
        [
            chunk(content="H"),
            chunk(role="assistant", content="H"),
            chunk(reasoning_content="H"),
            chunk(tool_calls=[{"index": 0}]),
            chunk(refusal="no"),
            event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
            event({"choices": [{"index": 0, "text": "H"}]}),
            event({"some": "other"}),
        ],
    ),
    (
        OPENAI,
        [
            event({"type": "response.created", "response": {"error": None}}, "response.created"),
            event({"type": "response.in_progress"}, "response.in_progress"),
            event({"type": "response.output_item.added"}, "response.output_item.added"),
            event({"type": "response.content_part.added"}, "response.content_part.added"),
        ],
        [
            event({"type": "response.output_text.delta", "delta": "H"}),
            event({"type": "response.completed"}),
            event({"type": "something.new"}),
        ],
    ),
    (
        ANTHROPIC,
        [
            event({"type": "message_start", "message": {"usage": {}}}, "message_start"),
            event({"type": "content_block_start", "index": 0}, "content_block_start"),
            event({"type": "ping"}, "ping"),
            b": hello\n\n",
        ],
        [
            event({"type": "content_block_delta", "delta": {}}, "content_block_delta"),
            event({"type": "message_delta", "delta": {}, "usage": {}}, "message_delta"),
            event({"type": "new_thing"}, "new_thing"),
            event({"no": "type"}),
        ],
    ),
    (
        GEMINI,
        [
            event({"usageMetadata": {"promptTokenCount": 3}}),
            event({"candidates": []}),
            event({"candidates": [{"content": {"role": "model"}, "index": 0}]}),
        ],
        [
            event({"candidates": [{"content": {"parts": [{"text": "H"}]}}]}),
            event({"candidates": [{"finishReason": "SAFETY"}]}),
            event({"promptFeedback": {"blockReason": "SAFETY"}}),
        ],
    ),
]
CASES = [
    pytest.param(dialect, beginning, content, id=f"{dialect.name}-{n}-{m}")
    for n, (dialect, beginning, contents) in enumerate(BEGINNINGS)
    for m, content in enumerate(contents)
]


@pytest.mark.parametrize(("dialect", "beginning", "content"), CASES)
def test_a_stream_is_held_until_its_first_content_and_is_unchanged(
    dialect: Dialect, beginning: list[bytes], content: bytes
) -> None:
    first_content, fake_response = opened(dialect, *beginning, content, b"data: after\n\n")
    assert first_content.first == b"".join(beginning) + content
    assert fake_response.pieces == [b"data: after\n\n"]


@pytest.mark.parametrize(("dialect", "beginning", "content"), CASES)
def test_the_sizes_of_reads_change_nothing(
    dialect: Dialect, beginning: list[bytes], content: bytes
) -> None:
    data = b"".join(beginning) + content
    first_content, _ = opened(dialect, *[data[n : n + 7] for n in range(0, len(data), 7)])
    assert first_content.first == data


@pytest.mark.parametrize(("dialect", "beginning", "content"), CASES)
def test_a_last_event_without_its_blank_line_counts(
    dialect: Dialect, beginning: list[bytes], content: bytes
) -> None:
    first_content, _ = opened(dialect, *beginning, content[:-2])
    assert first_content.first == b"".join(beginning) + content


ERRORS = [
    {"error": {"message": "Overloaded", "code": None}},
    {"error": {"code": 503, "message": "x", "status": "UNAVAILABLE"}},
    {"error": "bad data: x"},
    {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    {"type": "error", "code": "x", "message": "y"},
    {"error": {"message": "the data: half\n\nof it"}},
]


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(("dialect", "beginning", "content"), CASES[::6])
def test_an_error_before_any_content_is_a_failure(
    dialect: Dialect, beginning: list[bytes], content: bytes, error: Any
) -> None:
    for before in ([], beginning):
        with pytest.raises(ErrorFirst) as excinfo:
            opened(dialect, *before, event(error, "error"))
        assert excinfo.value.document == error


def test_a_failed_response_is_an_error_of_its_dialect_alone() -> None:
    failed = event({"type": "response.failed", "response": {"error": {"message": "x"}}})
    with pytest.raises(ErrorFirst):
        opened(OPENAI, failed)
    assert opened(ANTHROPIC, failed)[0].first == failed


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_after_content_is_relayed(error: Any) -> None:
    pieces = chunk(content="H") + event(error)
    assert opened(OPENAI, pieces)[0].first == pieces


@pytest.mark.parametrize(("dialect", "beginning", "content"), CASES[::6])
def test_an_end_without_content_is_a_failure(
    dialect: Dialect, beginning: list[bytes], content: bytes
) -> None:
    for pieces in ([], beginning, [*beginning, b"data:\n\n"]):
        with pytest.raises(ErrorFirst) as excinfo:
            opened(dialect, *pieces)
        assert "ended before any content" in excinfo.value.document["message"]


@pytest.mark.parametrize(("dialect", "beginning", "content"), CASES[::6])
def test_a_cut_before_content_is_a_failure(
    dialect: Dialect, beginning: list[bytes], content: bytes
) -> None:
    with pytest.raises(failures.Truncated):
        opened(dialect, *beginning, failure(failures.Truncated, response_started=True))


@MODELS
def test_the_number_of_held_events_is_limited(dialect: Dialect) -> None:
    beginning = next(b for d, b, _ in BEGINNINGS if d is dialect)[0]
    first_content, fake_response = opened(dialect, *[beginning] * 100)
    assert first_content.first == beginning * HELD_EVENTS
    assert len(fake_response.pieces) == 100 - HELD_EVENTS


def test_the_bytes_of_held_events_are_limited() -> None:
    large = event({"choices": [], "x": "y" * 40_000})
    first_content, fake_response = opened(OPENAI, *[large] * 5)
    assert HELD_BYTES < len(first_content.first) <= HELD_BYTES + len(large)
    assert len(fake_response.pieces) == 3


@pytest.mark.parametrize("nothing", [b"\n\n", b"id: 1\n\n", b"\r"])
def test_bytes_that_come_to_no_event_are_limited(
    monkeypatch: pytest.MonkeyPatch, nothing: bytes
) -> None:
    monkeypatch.setattr("engine.upstream.responses.first_content.MAX_EVENT", 1_000)
    few, content = [nothing * 40] * 3, event({"choices": [{"text": "H"}]})
    first_content, _ = opened(OPENAI, *few, content)
    assert first_content.first == content
    first_content, _ = opened(OPENAI, nothing * 600 + content)
    assert first_content.first == content
    with pytest.raises(EventTooLarge, match="1000 bytes before the first event"):
        opened(OPENAI, *few * 10, content)


@MODELS
@pytest.mark.parametrize("status", [200, 201])
def test_an_html_page_is_a_failure(dialect: Dialect, status: int) -> None:
    fake_response: Any = FakeResponse(
        status, [("content-type", "Text/HTML; charset=x")], [b"<html>"]
    )
    with pytest.raises(ErrorFirst):
        read_first_content(fake_response, dialect)


@MODELS
def test_a_body_waits_only_for_its_first_bytes(dialect: Dialect) -> None:
    first = json.dumps({"id": 1, "error": {"message": "x"}}).encode()
    first_content, fake_response = opened(dialect, first, b"more", headers=JSON)
    assert (first_content.first, first_content.events, fake_response.pieces) == (
        first,
        None,
        [b"more"],
    )


@pytest.mark.parametrize("status", [200, 202, 204])
def test_a_chat_without_a_body_has_no_answer(status: int) -> None:
    response: Any = FakeResponse(status, [], [])
    dialect = dialects.get("openai")
    with pytest.raises(ErrorFirst):
        read_first_content(response, dialect, chat_path="/v1/chat/completions")
    assert read_first_content(response, dialect, chat_path="/v1/files/f").first == b""


@pytest.mark.parametrize(
    "body", [b"\n\n", b"null", b"ok", b"<html></html>", b'"a"', b"\xef\xbb\xbf"]
)
def test_a_whole_body_that_is_no_json_is_no_answer_of_a_chat(body: bytes) -> None:
    def first(path: str, headers: Any = JSON) -> bytes:
        pieces = [body[:2], body[2:]] if body[2:] else [body]
        response: Any = FakeResponse(200, headers, pieces, has_length=not body[2:])
        content = FirstContent(b"", framing=Framing.UNKNOWN)
        read_first_content(response, OPENAI, content=content, chat_path=path)
        return content.first + b"".join(response.pieces)

    with pytest.raises(ErrorFirst):
        first("/v1/chat/completions")
    assert first("/v1/files/f") == body
    assert first("/v1/chat/completions", [*JSON, ("content-encoding", "br")]) == body


@each(
    ("name", "path", "body"),
    [
        ("openai", "/v1/embeddings", b'{"data":[{"embedding":[1]},{"embedding":%b}]}'),
        ("gemini", "/m:embedContent", b'{"embedding":{"values":%b}}'),
        ("gemini", "/m:batchEmbedContents", b'{"embeddings":[{"values":%b}]}'),
    ],
)
def test_a_vector_has_numbers(name: str, path: str, body: bytes) -> None:
    def first(vector: bytes) -> bytes:
        response: Any = FakeResponse(200, JSON, [body % vector])
        return read_first_content(response, dialects.get(name), chat_path=path).first

    assert first(b"[0.5]") == body % b"[0.5]"
    for vector in (b"[ ]", b'""') if name == "openai" else (b"[]",):
        with pytest.raises(ErrorFirst):
            first(vector)


CHAT = b'{"choices":[{"message":{"content":"Hi"}}]}'


@pytest.mark.parametrize("body", [b"\n\n" + CHAT, b"\xef\xbb\xbf" + CHAT, b"[%b]" % CHAT])
def test_white_space_and_a_mark_before_an_answer_pass(body: bytes) -> None:
    response: Any = FakeResponse(200, JSON, [body], has_length=True)
    content = FirstContent(b"", framing=Framing.UNKNOWN)
    path = "/v1/chat/completions"
    assert read_first_content(response, OPENAI, content=content, chat_path=path).first == body


LONG = {"notes": "x" * 5_000}


@pytest.mark.parametrize("pieces", [1, 3])
@each(
    "name,path,document,is_answer",
    [
        ("openai", "/v1/chat/completions", {}, False),
        ("openai", "/v1/chat/completions", {"id": "c", "usage": {"total_tokens": 1}}, False),
        ("openai", "/v1/chat/completions", {"id": "c", **LONG}, False),
        ("openai", "/v1/chat/completions", {"id": "c", "choices": []}, False),
        ("openai", "/v1/chat/completions", {"result": {"choices": [{"text": "Hi"}]}}, False),
        ("openai", "/v1/chat/completions", {"success": True, "data": {"choices": [1]}}, False),
        ("openai", "/v1/chat/completions", {"model": "m", "message": {"content": "Hi"}}, False),
        ("openai", "/v1/chat/completions", {"model": "m", "choices": [{"text": "Hi"}]}, True),
        ("openai", "/v1/chat/completions", {**LONG, "choices": [{"text": "Hi"}]}, True),
        ("openai", "/v1/chat/completions", {"request_id": "r"}, True),  # for later
        ("openai", "/v1/chat/completions", {"request_id": "r", "model": "m"}, False),
        ("openai", "/async/chat/completions", {"id": "c", "status": "CREATED"}, True),
        ("openai", "/v1/completions", {"id": "c", "object": "text_completion"}, False),
        ("openai", "/v1/responses", {"id": "r", "object": "response", "status": "queued"}, False),
        ("openai", "/v1/responses", {"id": "r", "status": "queued", "output": []}, True),
        ("openai", "/v1/responses", {"id": "r", "instructions": "x" * 5_000, "output": []}, True),
        ("openai", "/v1/embeddings", {"object": "list", "model": "m"}, False),
        ("openai", "/v1/embeddings", {"object": "list", "data": []}, False),
        ("openai", "/v1/embeddings", {"data": [{"embedding": [1.0]}]}, True),
        ("openai", "/v1/files", {"id": "f"}, True),
        ("anthropic", "/v1/messages", {"id": "m", "type": "message", "role": "assistant"}, False),
        ("anthropic", "/v1/messages", {"id": "m", "content": [], "stop_reason": "end_turn"}, True),
        ("anthropic", "/v1/messages/count_tokens", {"input_tokens": 5}, True),
        ("gemini", "/v1beta/models/m:generateContent", {"modelVersion": "m"}, False),
        ("gemini", "/v1beta/models/m:generateContent", {"candidates": []}, False),
        ("gemini", "/v1beta/models/m:generateContent", {"promptFeedback": {"x": 1}}, True),
        ("gemini", "/v1beta/models/m:embedContent", {"usageMetadata": {}}, False),
        ("gemini", "/v1beta/models/m:batchEmbedContents", {"embeddings": [{"values": [1]}]}, True),
        ("bedrock", "/model/m/converse", {"usage": {"inputTokens": 1}}, False),
        ("bedrock", "/model/m/converse", {"output": {"message": {"content": []}}}, True),
    ],
)
def test_an_answer_has_what_its_operation_needs(
    name: str, path: str, document: Any, is_answer: bool, pieces: int
) -> None:
    body = json.dumps(document).encode()
    size = -(-len(body) // pieces)
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    response: Any = FakeResponse(200, JSON, parts, has_length=True)
    if is_answer:
        content = read_first_content(response, dialects.get(name), chat_path=path)
        assert content.first + b"".join(response.pieces) == body
        return
    with pytest.raises(ErrorFirst):
        read_first_content(response, dialects.get(name), chat_path=path)


@each(
    "name,ends,is_complete",
    [
        ("openai", ["stop", "length"], True),
        ("openai", ["stop", None], False),
        ("openai", [None, "stop"], False),
        ("openai", [None, None], True),  # of a server that names no ends
        ("gemini", ["STOP", "STOP"], True),
        ("gemini", ["STOP", None], False),
    ],
)
def test_each_of_several_whole_answers_has_an_end(
    name: str, ends: list[str | None], is_complete: bool
) -> None:
    document = {
        "choices": [{"message": {"content": "x" * 3_000}, "finish_reason": end} for end in ends],
        "candidates": [
            {"content": {"parts": [{"text": "x" * 3_000}]}, "finishReason": end} for end in ends
        ],
    }
    body = json.dumps(document).encode()
    response: Any = FakeResponse(200, JSON, [body[:2_000], body[2_000:]])
    content = FirstContent(b"", several=True)
    if is_complete:
        read_first_content(response, dialects.get(name), content=content)
        assert content.first == body
        return
    with pytest.raises(ErrorFirst):
        read_first_content(response, dialects.get(name), content=content)


def test_what_was_read_to_find_the_framing_is_read_again() -> None:
    pieces = [b"\n", b"\n{", b'"choices": [1]}']
    response: Any = FakeResponse(200, JSON, pieces)
    with pytest.raises(Misframed) as raised:
        read_first_content(response, OPENAI, chat_path="/v1/chat/completions")
    assert raised.value.data + b"".join(response.pieces) == b"".join(pieces)


def test_a_long_body_without_a_framing_is_not_held() -> None:
    pieces = [b"x" * 40_000] * 4
    response: Any = FakeResponse(200, JSON, pieces)
    content = FirstContent(b"", framing=Framing.UNKNOWN)
    read_first_content(response, OPENAI, content=content, chat_path="/v1/chat/completions")
    assert (len(content.first), len(response.pieces)) == (80_000, 2)


def test_a_response_of_a_plain_api_is_not_parsed() -> None:
    raw = b"\xef\xbb\xbfid: 1\r\n" + event({"error": "x"})
    first_content, _ = opened(PLAIN, raw)
    assert (first_content.first, first_content.events) == (raw, None)
    assert opened(PLAIN)[0].first == b""
    assert opened(PLAIN, b"<html>", headers=[("content-type", "text/html")])[0].first == b"<html>"


KEYS = ["type", "error", "choices", "delta", "text", "finish_reason", "role", "x"]
KEYS += ["candidates", "content", "parts", "finishReason", "promptFeedback"]
ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


CHATS = [
    ("openai", "/v1/chat/completions", {"choices": [{"delta": {"content": "Hi"}}]}),
    ("openai", "/v1/responses", {"type": "response.output_text.delta", "delta": "Hi"}),
    ("anthropic", "/v1/messages", {"type": "content_block_delta", "delta": {"text": "Hi"}}),
    (
        "gemini",
        "/v1beta/models/g:streamGenerateContent",
        {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]},
    ),
]


@each(("name", "path", "answer"), CHATS)
def test_a_stream_of_a_chat_with_nothing_but_a_message_or_a_page_has_failed(
    name: str, path: str, answer: Any
) -> None:
    """Such as `data: {"message": "..."}` of servers behind a proxy: a caller took it for a complete
    stream."""
    dialect, message = dialects.get(name), {"message": "No model is loaded."}
    for document, error in ((message, message), ("<html></html>", NO_CONTENT)):
        response: Any = FakeResponse(200, EVENTS, [event(document)])
        with pytest.raises(ErrorFirst) as excinfo:
            read_first_content(response, dialect, chat_path=path)
        assert excinfo.value.document == error
        first = event(document), event(answer, answer["type"] if name == "anthropic" else "")
        response = FakeResponse(200, EVENTS, first)
        assert read_first_content(response, dialect, chat_path=path).first == b"".join(first)
    response = FakeResponse(200, EVENTS, [event(message)])
    assert read_first_content(response, dialect, chat_path="/v1/other").first == event(message)


@given(ANY)
def test_no_document_of_an_upstream_raises(document: Any) -> None:
    for name in dialects.names():
        dialects.get(name).is_error_event(document)
        dialects.get(name).has_content(document)


# A stream that is silent before its first content.


def beginning(dialect: Dialect, beat: float | None, *pieces: Any) -> tuple[bytes, list[Any]]:
    fake_response = FakeResponse(200, EVENTS, pieces)
    response: Any = fake_response
    return read_first_content(response, dialect, beat).first, list(fake_response.pieces)


@pytest.mark.parametrize(
    ("dialect", "first_event", "heartbeat"),
    [
        (OPENAI, chunk(role="assistant", content=""), b": keep-alive\n\n"),
        (
            ANTHROPIC,
            event({"type": "message_start", "usage": {}}, "message_start"),
            b'event: ping\ndata: {"type":"ping"}\n\n',
        ),
    ],
    ids=["openai", "anthropic"],
)
def test_silence_before_content_starts_the_stream_with_a_heartbeat(
    dialect: Dialect, first_event: bytes, heartbeat: bytes
) -> None:
    first, remaining = beginning(dialect, 10.0, first_event, 25.0, b"data: 2\n\n")
    assert first == first_event + heartbeat
    assert remaining[-1] == b"data: 2\n\n"


def test_without_a_heartbeat_the_first_content_is_awaited() -> None:
    first_event, content = chunk(role="assistant", content=""), chunk(content="H")
    assert beginning(OPENAI, None, first_event, 25.0, content) == (first_event + content, [])


def test_an_event_of_megabytes_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[int] = []
    monkeypatch.setattr(
        "engine.upstream.responses.first_content.event_document",
        lambda event: parsed.append(len(event)),
    )
    large = chunk(content="x" * 1_000_000)
    first_content, _ = opened(OPENAI, large, chunk(content="y"))
    assert (first_content.first, parsed) == (large, [])


LIKE_NO_ANSWER = b'{"choices": [], "finish_reason": "error", "content": null}'


def test_a_translated_body_is_not_judged_again():
    response: Any = FakeResponse(200, JSON, [LIKE_NO_ANSWER])
    path = "/v1/chat/completions"
    content = read_first_content(response, OPENAI, chat_path=path, is_translated=True)
    assert content.first == LIKE_NO_ANSWER
    response = FakeResponse(200, JSON, [LIKE_NO_ANSWER])
    with pytest.raises(ErrorFirst):
        read_first_content(response, OPENAI, chat_path=path)


def test_the_loop_turns_between_events_that_only_begin_a_stream() -> None:
    pieces = [chunk(role="assistant") * 300, chunk(content="H")]
    assert loop_turns(lambda: opened(OPENAI, *pieces)) >= 300
