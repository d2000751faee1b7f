"""A response is read by what its bytes are, whatever its headers say."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import Any

import pytest

from engine.dialects.interface.streams import Framing
from engine.exchange.outcome import Outcome
from engine.upstream.client import failures
from engine.upstream.responses.first_content import FirstContent
from engine.upstream.responses.framed_response import framed
from tests.support.amazon_events import AMAZON_EVENTS, event
from tests.support.answering import KEY, Answered
from tests.support.each import each
from tests.support.upstreams import EVENTS, JSON, FakeResponse, failure

WORD = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "hi"}}]}
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
USAGE = {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 50}}
CHAT = [b"data: " + json.dumps(each).encode() + b"\n\n" for each in (WORD, STOP, USAGE)]
CHAT.append(b"data: [DONE]\n\n")
ANSWER = json.dumps(
    {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "hi"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
    }
).encode()
KINDS: list[list[tuple[str, str]]] = [
    [],
    [("content-type", "text/plain")],
    [("content-type", "text/plain; charset=utf-8")],
    [("content-type", "application/octet-stream")],
    [("content-type", "application/json")],
    [("content-type", "application/json; charset=utf-8")],
    [("content-type", "binary/octet-stream")],
    EVENTS,
]
ODD_JSON = [("content-type", "application/json, application/json")]
QUESTION = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}
STREAM = {**QUESTION, "stream": True}


def split(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def translated(
    headers: Any, *pieces: bytes, stream: bool, target: str = "chat_completions"
) -> Answered:
    """What a caller of messages gets of an answer in the language `target`."""
    return Answered(
        "anthropic",
        headers,
        *pieces,
        body=STREAM if stream else QUESTION,
        path="/v1/messages",
        crossing=("messages", target),
    )


FRAMES = {
    "as it is": b"".join(CHAT),
    "CRLF": b"".join(CHAT).replace(b"\n", b"\r\n"),
    "CR": b"".join(CHAT).replace(b"\n", b"\r"),
    "no space": b"".join(CHAT).replace(b"data: ", b"data:"),
    "comment first": b": hello\n\n" + b"".join(CHAT),
    "comments between": b"\n\n: x\n\n".join(b"".join(CHAT).split(b"\n\n")),
    "comment within": b"".join(CHAT).replace(b"data:", b": x\ndata:"),
    "blank lines first": b"\n\n" + b"".join(CHAT),
    "byte order mark": b"\xef\xbb\xbf" + b"".join(CHAT),
    "ids": b"".join(CHAT).replace(b"data:", b"id: 7\ndata:"),
    "retry first": b"retry: 100\n\n" + b"".join(CHAT),
    "event names": b"".join(CHAT).replace(b"data:", b"event: message\ndata:"),
}


@each("headers", KINDS)
@pytest.mark.parametrize("size", [1, 3, 50, 100_000])
@pytest.mark.parametrize("frame", FRAMES)
def test_events_of_any_name_are_a_stream(frame: str, size: int, headers: Any) -> None:
    answered = Answered("openai", headers, *split(FRAMES[frame], size))
    assert answered.kind.startswith("text/event-stream")
    assert answered.is_stream
    # The event with usage is ours: the caller did not ask for it.
    assert [event for event in answered.events if event != b"[DONE]"] == [WORD, STOP]
    assert b"usage" not in answered.data
    assert (answered.usage.input, answered.usage.output) == (100, 50)
    assert (answered.usage.source, answered.outcome) == ("upstream", Outcome.COMPLETE)


@each(
    "event",
    [
        {"choices": None, "usage": {"prompt_tokens": 100, "completion_tokens": 50}},
        {"id": "x", "usage": {"prompt_tokens": 100, "completion_tokens": 50}},
        {"id": "x", "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 50}},
    ],
)
def test_our_event_with_usage_is_hidden_in_any_form(event: Any) -> None:
    pieces = [*CHAT[:2], b"data: " + json.dumps(event).encode() + b"\n\n", CHAT[3]]
    answered = Answered("openai", EVENTS, b"".join(pieces))
    assert b"usage" not in answered.data
    assert answered.usage.input == 100


def test_a_caller_who_asks_for_usage_gets_it() -> None:
    body = {"stream": True, "stream_options": {"include_usage": True}}
    assert USAGE in Answered("openai", [], *CHAT, body=body).events


@each("headers", KINDS)
@pytest.mark.parametrize("error", [False, True])
def test_a_stream_of_any_name_that_fails_is_no_complete_one(error: bool, headers: Any) -> None:
    last = b'data: {"error":{"message":"boom %b","code":500}}\n\n' % KEY.encode()
    cut = failure(failures.Truncated, response_started=True)
    answered = Answered("openai", headers, CHAT[0], last if error else cut)
    assert (answered.outcome, answered.cut, answered.opened) == (Outcome.UPSTREAM_CUT, True, True)
    assert "error" in answered.events[-1]
    assert KEY.encode() not in answered.data


@each("headers", KINDS)
def test_an_error_in_place_of_a_stream_of_any_name_is_a_failed_attempt(headers: Any) -> None:
    error = b'data: {"error":{"message":"boom","code":500}}\n\n'
    assert Answered("openai", headers, error, CHAT[3]).failure == "error"


@each("kind", ["text/event-stream", "text/event-stream; charset=utf-8", "text/plain", ""])
@pytest.mark.parametrize("size", [1, 100_000])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_text_of_any_name_is_one(indent: int | None, size: int, kind: str) -> None:
    text = json.dumps({**json.loads(ANSWER), "choices": "none"}, indent=indent).encode()
    headers = [("content-type", kind)] if kind else []
    answered = Answered("openai", headers, *split(text, size))
    assert (answered.kind, answered.data) == ("application/json", text)
    assert (answered.usage.input, answered.usage.output) == (100, 50)
    assert answered.outcome == Outcome.COMPLETE
    assert not answered.is_stream


@each("headers", KINDS)
@pytest.mark.parametrize("size", [1, 100_000])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_text_in_place_of_a_stream_becomes_it(indent: Any, size: int, headers: Any) -> None:
    text = json.dumps(json.loads(ANSWER), indent=indent).encode()
    answered = Answered("openai", headers, *split(text, size))
    start, end, done = answered.events
    assert (answered.kind, answered.is_stream) == ("text/event-stream", True)
    assert start["choices"][0]["delta"] == {"role": "assistant", "content": "hi"}
    assert (end["choices"][0]["finish_reason"], done) == ("stop", b"[DONE]")
    assert (answered.usage.input, answered.usage.output) == (100, 50)
    assert answered.outcome == Outcome.COMPLETE


def test_usage_is_in_the_stream_of_a_json_text_if_the_caller_asks_for_it() -> None:
    body = {"stream": True, "stream_options": {"include_usage": True}}
    answered = Answered("openai", JSON, ANSWER, body=body)
    assert answered.events[2]["usage"]["completion_tokens"] == 50


def test_a_message_in_place_of_a_stream_becomes_it() -> None:
    message = {
        "type": "message",
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 100, "output_tokens": 50},
    }
    data = json.dumps(message).encode()
    answered = Answered("anthropic", JSON, data, body=STREAM, path="/v1/messages")
    assert [event["type"] for event in answered.events] == [
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
        *("message_delta", "message_stop"),
    ]
    assert (answered.kind, answered.usage.output) == ("text/event-stream", 50)


def test_an_encoded_json_text_in_place_of_a_stream_becomes_it() -> None:
    encoded = [*JSON, ("content-encoding", "gzip")]
    answered = Answered("openai", encoded, *split(gzip.compress(ANSWER), 9))
    assert (answered.kind, len(answered.events)) == ("text/event-stream", 3)
    assert "content-encoding" not in answered.headers


@each("text", [b'{"object":"list","choices":[{}]}', b'{"choices":', b"{" + b" " * 200])
def test_another_json_text_in_place_of_a_stream_passes(text: bytes) -> None:
    answered = Answered("openai", JSON, *split(text, 9))
    assert (answered.kind, answered.data) == ("application/json", text)


@each("bound", [{"MAX_EVENT": 100}, {"MAX_OBJECTS": 3}])
def test_a_large_json_text_in_place_of_a_stream_passes(bound: dict[str, int]) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name, most in bound.items():
            monkeypatch.setattr(f"engine.upstream.responses.framed_response.{name}", most)
        answered = Answered("openai", JSON, *split(ANSWER, 9))
    assert (answered.kind, answered.data) == ("application/json", ANSWER)


def test_a_json_text_that_breaks_off_in_place_of_a_stream_is_cut() -> None:
    cut = failure(failures.Truncated, response_started=True)
    begun = b'{"choices": ["' + b"x" * 2_000
    answered = Answered("openai", JSON, begun, cut)
    assert (answered.data, answered.outcome) == (begun, Outcome.UPSTREAM_CUT)
    assert Answered("openai", JSON, ANSWER[:99], cut).failure  # nothing has passed


def test_an_error_in_place_of_a_stream_is_a_failed_attempt() -> None:
    error = b'{"error":{"message":"boom","code":500}}'
    assert Answered("openai", JSON, error).failure == "error"


@each("kind", ["application/x-ndjson", "application/problem+json", "text/json; charset=utf-8"])
def test_another_type_of_json_is_left_as_it_is(kind: str) -> None:
    answered = Answered("openai", [("content-type", kind)], ANSWER)
    assert (answered.kind, answered.data) == (kind, ANSWER)


@each("headers", KINDS)
def test_events_of_any_name_are_edited(headers: Any) -> None:
    answered = Answered(
        "openai", headers, *CHAT, edits={"body": {"remove": ["$.choices[*].index"]}}
    )
    assert b'"hi"' in answered.data
    assert b'"index"' not in answered.data
    assert b"usage" not in answered.data  # it is ours
    assert answered.usage.output == 50


def test_usage_is_read_below_the_edits_of_a_translated_answer() -> None:
    answered = Answered(
        *("anthropic", JSON, ANSWER),
        body=QUESTION,
        path="/v1/messages",
        crossing=("messages", "chat_completions"),
        edits={"body": {"remove": ["usage"]}},
    )
    assert (answered.usage.input, answered.usage.output) == (100, 50)
    assert json.loads(answered.data)["usage"]["output_tokens"] == 0


VECTORS = {"data": [{"embedding": [0.5]}], "usage": {"prompt_tokens": 7, "total_tokens": 7}}
MISNAMED = [*(each for each in KINDS if "json" not in str(each) and each is not EVENTS), ODD_JSON]


@each("headers", MISNAMED)
@each("path", ["/v1/embeddings", "/v1/rerank", "/v1/images/edits", "/v1/audio/translations"])
@pytest.mark.parametrize("size", [1, 100_000])
def test_json_of_any_name_is_json_where_an_operation_has_no_other(
    size: int, path: str, headers: Any
) -> None:
    pieces = split(json.dumps(VECTORS).encode(), size)
    answered = Answered("openai", headers, *pieces, body={"model": "m", "input": "a"}, path=path)
    assert (answered.kind, json.loads(answered.data)) == ("application/json", VECTORS)
    assert (answered.usage.input, answered.usage.source) == (7, "upstream")


@each("body", [{"model": "m"}, {"model": "m", "response_format": "text"}])
def test_a_transcript_in_words_stays_text(body: Any) -> None:
    text = b"[laughs] Hi" if "response_format" in body else b"Hi"
    kind = [("content-type", "text/plain")]
    answered = Answered("openai", kind, text, body=body, path="/v1/audio/transcriptions")
    assert (answered.kind, answered.data) == ("text/plain", text)


def test_text_that_looks_like_events_is_text_where_no_stream_was_asked_for() -> None:
    text = [("content-type", "text/plain")]
    speech = {"body": {"model": "whisper"}, "path": "/v1/audio/transcriptions"}
    answered = Answered("openai", text, b"data: it was said", **speech)
    assert (answered.kind, answered.data) == ("text/plain", b"data: it was said")


@each("headers", [EVENTS, JSON, []])
@pytest.mark.parametrize("size", [7, 100_000])
@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress], ids=["gzip", "deflate"])
def test_an_encoded_stream_is_decoded(pack: Any, size: int, headers: Any) -> None:
    coding = "gzip" if pack is gzip.compress else "deflate"
    encoded = [*headers, ("content-encoding", coding), ("etag", "x")]
    answered = Answered("openai", encoded, *split(pack(b"".join(CHAT)), size))
    assert not {"content-encoding", "etag"} & set(answered.headers)
    assert answered.data == CHAT[0] + CHAT[1] + CHAT[3]
    assert answered.usage.output == 50


@pytest.mark.parametrize("whole", [True, False])
def test_an_encoded_stream_that_fails_is_no_complete_one(whole: bool) -> None:
    error = b'data: {"error":{"message":"boom","code":500}}\n\n'
    data = gzip.compress(CHAT[0] + (error if whole else CHAT[0]))
    encoded = [*EVENTS, ("content-encoding", "gzip")]
    answered = Answered("openai", encoded, data if whole else data[:-9])
    assert (answered.outcome, answered.cut, answered.opened) == (Outcome.UPSTREAM_CUT, True, True)
    assert answered.events[0] == WORD


@each("headers", [EVENTS, JSON, [], [*JSON, ("content-encoding", "identity")]])
@pytest.mark.parametrize("stream", [True, False])
def test_gzip_that_is_not_named_is_decoded(stream: bool, headers: Any) -> None:
    data = gzip.compress(b"".join(CHAT) if stream else ANSWER)
    answered = Answered("openai", headers, *split(data, 9), body={"model": "m", "stream": stream})
    assert answered.data == (CHAT[0] + CHAT[1] + CHAT[3] if stream else ANSWER)
    assert answered.usage.output == 50
    other = translated(headers, *split(data, 9), stream=stream)
    assert b'"hi"' in other.data


def test_an_encoded_answer_in_one_piece_passes_as_it_is() -> None:
    encoded = [*JSON, ("content-encoding", "gzip")]
    data = gzip.compress(ANSWER)
    answered = Answered("openai", encoded, data, body={"model": "m"})
    assert (answered.data, answered.headers["content-encoding"]) == (data, "gzip")
    assert answered.usage.output == 50


@each("headers", [*KINDS, [("content-type", "text/html")]])
@pytest.mark.parametrize("size", [1, 100_000])
def test_a_json_text_of_any_name_is_one_where_none_but_it_was_asked_for(
    size: int, headers: Any
) -> None:
    answered = Answered("openai", headers, *split(ANSWER, size), body={"model": "m"})
    assert (answered.kind.partition(";")[0], answered.data) == ("application/json", ANSWER)
    assert (answered.usage.input, answered.usage.output) == (100, 50)
    assert (answered.usage.source, answered.outcome) == ("upstream", Outcome.COMPLETE)


@each("coding", ["none", "utf-8", "identity"])
@pytest.mark.parametrize("stream", [True, False])
def test_a_coding_that_is_none_keeps_nobody_from_reading(stream: bool, coding: str) -> None:
    headers = [*(EVENTS if stream else JSON), ("content-encoding", coding)]
    pieces = CHAT if stream else [ANSWER]
    answered = Answered("openai", headers, *pieces, body={"model": "m", "stream": stream})
    assert stream == ("content-encoding" not in answered.headers)  # one JSON text is relayed as is
    assert (answered.usage.output, answered.usage.source) == (50, "upstream")


# Translated.


@each("headers", KINDS)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("frame", FRAMES)
def test_events_of_any_name_are_translated(frame: str, stream: bool, headers: Any) -> None:
    answered = translated(headers, *split(FRAMES[frame], 9), stream=stream)
    assert b'"hi"' in answered.data
    kind = "text/event-stream; charset=utf-8" if stream else "application/json"
    assert answered.kind == kind
    assert (answered.usage.input, answered.usage.output) == (100, 50)
    assert answered.outcome == Outcome.COMPLETE


@each("headers", KINDS)
@pytest.mark.parametrize("stream", [True, False])
def test_a_json_text_of_any_name_is_translated(stream: bool, headers: Any) -> None:
    answered = translated(headers, *split(ANSWER, 9), stream=stream)
    assert b'"hi"' in answered.data
    assert (b"event: message_stop" in answered.data) is stream
    assert (answered.usage.input, answered.usage.output) == (100, 50)


def encoded_and_translated(data: bytes, stream: bool) -> Answered:
    return translated([*EVENTS, ("content-encoding", "gzip")], *split(data, 9), stream=stream)


@pytest.mark.parametrize("stream", [True, False])
def test_an_encoded_stream_is_translated(stream: bool) -> None:
    data = gzip.compress(b"".join(CHAT))
    answered = encoded_and_translated(data, stream)
    assert b'"hi"' in answered.data
    assert "content-encoding" not in answered.headers
    assert (answered.usage.output, answered.outcome) == (50, Outcome.COMPLETE)
    # What is behind the last event need not arrive.
    assert encoded_and_translated(data[:-4], stream).outcome == Outcome.COMPLETE


@pytest.mark.parametrize("stream", [True, False])
def test_an_encoded_stream_that_cannot_be_read_is_a_failed_attempt(stream: bool) -> None:
    for data in (b"this is no gzip", gzip.compress(b"".join(CHAT))[:20]):
        assert encoded_and_translated(data, stream).failure in ("error", "reset")


@each("headers", KINDS)
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("data", [b"".join(CHAT), ANSWER])
def test_an_encoded_answer_of_any_name_is_translated(
    data: bytes, stream: bool, headers: Any
) -> None:
    answered = translated(
        [*headers, ("content-encoding", "gzip")], gzip.compress(data), stream=stream
    )
    assert (answered.status, answered.usage.output, answered.outcome) == (200, 50, "complete")
    assert b'"hi"' in answered.data


def test_messages_of_amazon_are_server_sent_events() -> None:
    headers = [*AMAZON_EVENTS, ("content-length", "9"), ("x-amzn-requestid", "r")]
    received: Any = FakeResponse(200, headers, [event("messageStop", {"stopReason": "x"})])
    read = framed(received, lambda: Framing.EVENTS, FirstContent(b""))
    assert read.headers == [("x-amzn-requestid", "r"), ("content-type", "text/event-stream")]
    assert (read.status, read.length) == (200, None)
    assert read.read() == b'data: {"messageStop":{"stopReason":"x"}}\n\n'


# Arrays of Gemini.

ARRAY = [("content-type", "application/json; charset=UTF-8")]
ITEMS = [
    {"candidates": [{"content": {"parts": [{"text": "hel[]{lo"}]}}]},
    {
        "candidates": [{"content": {"parts": [{"text": '\\"!'}]}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 100,
            "candidatesTokenCount": 50,
            "totalTokenCount": 150,
        },
    },
]
GOOGLE = (b"[" + b",\r\n".join(json.dumps(i, indent=2).encode() for i in ITEMS) + b"]\n").replace(
    b"\n", b"\r\n"
)
AS_EVENTS = b"".join(b"data: " + json.dumps(each).encode() + b"\r\n\r\n" for each in ITEMS)
PATH = "/v1beta/models/m:streamGenerateContent"
CONTENTS = {"contents": [{"parts": [{"text": "Hi"}]}]}


def gemini(headers: Any, *pieces: Any, query: str = "") -> Answered:
    return Answered("gemini", headers, *pieces, body=CONTENTS, path=PATH, query=query)


@each("headers", [ARRAY, [], EVENTS, [("content-type", "text/plain")]])
@pytest.mark.parametrize("size", [1, 11, 100_000])
def test_an_array_that_is_wanted_passes_unchanged(size: int, headers: Any) -> None:
    answered = gemini(headers, *split(GOOGLE, size))
    assert answered.data == GOOGLE
    assert answered.kind.startswith("application/json")
    assert (answered.usage.input, answered.usage.output) == (100, 50)
    assert answered.outcome == Outcome.COMPLETE


def test_an_array_in_an_encoding_that_cannot_be_read_passes_unchanged() -> None:
    answered = gemini([*ARRAY, ("content-encoding", "br")], b"\x8b\x02\x80[]\x03")
    assert answered.data == b"\x8b\x02\x80[]\x03"


def test_an_encoded_array_is_decoded() -> None:
    answered = gemini([*ARRAY, ("content-encoding", "gzip")], *split(gzip.compress(GOOGLE), 9))
    assert (answered.data, answered.usage.output) == (GOOGLE, 50)


def test_the_path_of_a_stream_may_be_encoded() -> None:
    path = PATH.replace(":", "%3A")
    answered = Answered("gemini", EVENTS, AS_EVENTS, body=CONTENTS, path=path)
    assert json.loads(answered.data) == ITEMS


@each("headers", [ARRAY, [], EVENTS, [("content-type", "text/plain")]])
@pytest.mark.parametrize("size", [1, 11, 100_000])
def test_events_in_place_of_an_array_become_one(size: int, headers: Any) -> None:
    answered = gemini(headers, *split(AS_EVENTS, size))
    assert json.loads(answered.data) == ITEMS
    assert answered.kind == "application/json"
    assert (answered.usage.input, answered.usage.output) == (100, 50)
    assert answered.outcome == Outcome.COMPLETE


@pytest.mark.parametrize("end", [b"\r\n", b""])
def test_the_last_event_in_place_of_an_item_may_lack_its_blank_line(end: bytes) -> None:
    answered = gemini(EVENTS, AS_EVENTS.rstrip() + end)
    assert json.loads(answered.data) == ITEMS
    assert (answered.usage.input, answered.usage.output) == (100, 50)


@each("headers", [ARRAY, [], EVENTS, [("content-type", "text/plain")]])
@pytest.mark.parametrize("size", [1, 11, 100_000])
@pytest.mark.parametrize("data", [GOOGLE, AS_EVENTS], ids=["array", "events"])
def test_an_array_in_place_of_events_becomes_them(data: bytes, size: int, headers: Any) -> None:
    answered = gemini(headers, *split(data, size), query="alt=sse")
    assert answered.events == ITEMS
    assert answered.kind == "text/event-stream"
    assert (answered.usage.input, answered.usage.output) == (100, 50)
    assert answered.outcome == Outcome.COMPLETE


@each("headers", [ARRAY, [], EVENTS, [("content-type", "text/plain")]])
@pytest.mark.parametrize("data", [GOOGLE, AS_EVENTS], ids=["array", "events"])
@pytest.mark.parametrize("stream", [True, False])
def test_an_array_is_translated(stream: bool, data: bytes, headers: Any) -> None:
    answered = translated(headers, *split(data, 11), stream=stream, target="generate_content")
    assert b"hel[]{lo" in answered.data
    assert (answered.usage.input, answered.usage.output) == (100, 50)
    assert answered.outcome == Outcome.COMPLETE


LINES = [{"id": "c1", "object": "chat.completion.chunk", **each} for each in (WORD, STOP, USAGE)]


@each("headers", [*KINDS, [("content-type", "application/x-ndjson")]])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n[DONE]\r\n"])
def test_lines_of_json_in_place_of_events_become_them(end: bytes, headers: Any) -> None:
    first, *others = [json.dumps(each).encode() for each in LINES]
    pieces = [first[:9], first[9:], *split(b"".join(b"\n" + each for each in others) + end, 7)]
    body = {**STREAM, "stream_options": {"include_usage": True}}
    answered = Answered("openai", headers, *pieces, body=body)
    assert answered.events[:3] == LINES
    assert (answered.usage.input, answered.usage.output) == (100, 50)
    assert answered.outcome == Outcome.COMPLETE
    answered = translated(headers, *pieces, stream=True)
    assert b'"text":"hi"' in answered.data
    assert answered.outcome == Outcome.COMPLETE


def test_a_silent_stream_of_unknown_bytes_has_its_heartbeat_in_time() -> None:
    answered = Answered("openai", EVENTS, 25.0, *CHAT, heartbeat=10.0)
    beats = answered.data.split(b"data:")[0]
    assert beats.count(b": keep-alive\n\n") == 2
    assert answered.events[0] == WORD


def test_a_text_that_ends_before_its_framing_is_known_is_json() -> None:
    response: Any = FakeResponse(200, EVENTS, [b'{"error": "to'])
    read = framed(response, lambda: Framing.EVENTS, FirstContent(b""))
    assert (read.header("content-type"), read.read()) == ("application/json", b'{"error": "to')


def test_an_empty_role_is_the_assistants() -> None:
    odd = [each.replace(b'"role": "assistant"', b'"role": ""') for each in CHAT]
    odd[1] = odd[1].replace(b'"delta": {}', b'"delta": {"role": ""}')
    roles = [
        event["choices"][0]["delta"]["role"] for event in Answered("openai", [], *odd).events[:2]
    ]
    assert roles == ["assistant", "assistant"]
