"""Usage read from streams: the cases are tests/cases/usage/*.sse."""

import tracemalloc

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dialects
from engine.metering.readers import reader
from engine.metering.sse_reader import BUFFERED_EVENT
from engine.relay.sse import Cleaner
from engine.values.usage import NO_USAGE, Usage
from tests.support.each import each
from tests.support.loop_turns import loop_turns
from tests.support.metering import CASES, ESTIMATE, SSE, case, read, upstream_usage


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
@given(data=st.data())
def test_the_usage_of_a_stream_does_not_depend_on_the_pieces(path, data):
    facts, events = case(path)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=4)))
    pieces = [b"".join(events[a:b]) for a, b in zip([0, *cuts], [*cuts, len(events)], strict=True)]
    usage_reader = read(facts["dialect"], [piece for piece in pieces if piece])
    assert usage_reader.usage() == upstream_usage(facts["usage"])
    assert usage_reader.usage() == upstream_usage(facts["usage"])  # a second call changes nothing
    separate = read(facts["dialect"], events)
    assert usage_reader.complete(ESTIMATE) == separate.complete(ESTIMATE)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_reader_reads_what_the_cleaner_writes(path):
    facts, events = case(path)
    dialect = dialects.get(facts["dialect"])
    cleaner = Cleaner(dialect.stream)
    raw = b"".join(events).replace(b"\n", b"\r\n")
    pieces = [cleaner.feed(raw[at : at + 7]) for at in range(0, len(raw), 7)]
    usage_reader = read(facts["dialect"], [*filter(None, pieces), cleaner.finish()])
    assert usage_reader.usage() == upstream_usage(facts["usage"])


def chunk(text):
    return b'data: {"choices":[{"index":0,"delta":{"content":%s}}]}\n\n' % orjson.dumps(text)


def test_a_stream_without_usage_is_estimated_by_its_text():
    usage = read("openai", [chunk("four") for _ in range(5000)]).complete(ESTIMATE)
    assert usage == Usage(input=40, output=pytest.approx(5000, rel=0.02), source="estimated")


EMPTY = {
    "openai": [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]},
    ],
    "anthropic": [{"type": "content_block_start", "content_block": {"type": "text", "text": ""}}],
    "gemini": [{"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}}]}],
    "bedrock": [{"messageStart": {"role": "assistant"}}],
}
WORDS = {
    "openai": {"choices": [{"index": 0, "delta": {"content": "four by four"}}]},
    "anthropic": {"delta": {"type": "text_delta", "text": "four by four"}},
    "gemini": {"candidates": [{"content": {"parts": [{"text": "four by four"}]}}]},
    "bedrock": {"contentBlockDelta": {"delta": {"text": "four by four"}}},
}


@each("name", list(WORDS))
def test_chunks_without_text_before_it_are_no_sample_of_it(name):
    """More of them than the sample holds: as many as a request for 100 answers begins with."""
    usage = read(name, events(*EMPTY[name] * 200, *[WORDS[name]] * 500)).complete(ESTIMATE)
    assert usage == Usage(input=40, output=pytest.approx(1_500, rel=0.02), source="estimated")


def test_text_that_is_not_ascii_is_estimated_by_its_bytes():
    escaped = b'data: {"choices":[{"delta":{"content":"\\u65e5\\u672c\\u8a9e\\u6587"}}]}\n\n'
    plain = b'data: {"choices":[{"delta":{"content":"\xe6\x97\xa5\xe6\x9c\xac"}}]}\n\n'
    assert read("openai", [escaped] * 10).complete(ESTIMATE).output == 30
    assert read("openai", [plain] * 10).complete(ESTIMATE).output == 15


def test_a_stream_that_broke_before_any_text_has_no_output():
    assert read("openai", [b": keep-alive\n\n"]).complete(ESTIMATE).output == 0
    assert read("openai", []).complete(ESTIMATE).output == 0


def test_images_are_not_counted_as_text():
    image = b'data: {"image":"%s"}\n\n' % (b"A" * 3_000_000)
    words = [chunk("four") for _ in range(1000)]
    for events in ([image, *words], [*words, image], [b"".join([*words, image])]):
        output = read("openai", events).complete(ESTIMATE).output
        assert output == pytest.approx(1000, rel=0.02)


def test_a_truncated_message_has_the_input_that_was_reported():
    _, events = case(CASES[0].with_name("messages.sse"))
    words = (
        b'event: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"12345678"}}\n\n'
    )
    usage_reader = read("anthropic", [events[0], *[words] * 100])
    usage = usage_reader.complete(ESTIMATE)
    assert (usage.input, usage.cached, usage.source) == (35, 20, "estimated")
    assert 180 <= usage.output <= 200


def test_a_truncated_gemini_stream_has_reported_its_usage():
    _, events = case(CASES[0].with_name("generate.sse"))
    usage = read("gemini", events[:1]).complete(ESTIMATE)
    assert usage == Usage(input=8, output=47, reasoning=44, source="upstream")


def test_the_characters_to_be_spoken_are_those_of_the_request():
    aloud = Usage(input=3, characters=12, source="estimated")
    _, events = case(CASES[0].with_name("speech.sse"))
    assert read("openai", events).complete(aloud) == Usage(
        14, 101, characters=12, source="upstream", audio_output=101
    )
    sound = read("openai", [b"\x00" * 5000], "audio/mpeg")
    assert sound.complete(aloud) == Usage(input=3, characters=12, source="estimated")
    assert sound.usage() is None


@pytest.mark.parametrize("size", [10, BUFFERED_EVENT - 200, BUFFERED_EVENT + 1, 3_000_000])
def test_images_of_any_size(size):
    facts, events = case(CASES[0].with_name("images.sse"))
    grown = [event.replace(b"iVBO", b"A" * size) for event in events]
    assert read("openai", grown).usage() == upstream_usage(facts["usage"])
    assert read("openai", [b"".join(grown)]).usage() == upstream_usage(facts["usage"])


@pytest.mark.parametrize("size", [100_000, 3_000_000])
def test_the_output_of_a_long_event_is_estimated_by_its_size(size):
    event = b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % (b"word " * (size // 5))
    estimate = read("openai", [event]).complete(NO_USAGE).output
    assert estimate == pytest.approx(size // 4, rel=0.01)


@pytest.mark.parametrize("size", [10, BUFFERED_EVENT + 1])
@pytest.mark.parametrize("where", ["front", "end"])
def test_usage_at_either_end_of_an_event_of_any_size(size, where):
    usage = b'"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":3}'
    image = b'"candidates":[{"content":{"parts":[{"inlineData":{"data":"%s"}}]}}]' % (b"A" * size)
    members = [usage, image] if where == "front" else [image, usage]
    event = b"data: {" + b",".join(members) + b"}\n\n"
    assert read("gemini", [event]).usage() == Usage(8, 3, source="upstream")


def test_a_completed_response_of_any_size():
    output = [{"type": "message", "usage": {"input_tokens": 1}, "text": "w" * 100}] * 2000
    usage = {"input_tokens": 36, "output_tokens": 87, "total_tokens": 123}
    for metadata in ({}, {"metadata": {"usage": "x"}, "user": "u"}):
        response = {"id": "r", "output": output, "usage": usage} | metadata
        event = orjson.dumps({"type": "response.completed", "response": response})
        usage_reader = read("openai", [b"event: response.completed\ndata: " + event + b"\n\n"])
        assert usage_reader.usage() == Usage(36, 87, source="upstream")


def test_memory_stays_small_however_long_the_stream():
    usage_reader = reader(dialects.get("gemini").meter, SSE)
    event = b'data: {"x":"%s","usageMetadata":{"promptTokenCount":8}}\n\n' % (b"A" * 50_000)
    tracemalloc.start()
    for _ in range(200):
        usage_reader.feed(bytes(bytearray(event)))
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert memory < 4 * BUFFERED_EVENT


ARGUMENTS = '{"path": "notes.md", "text": "' + "word " * 200 + '"}'
PIECES = [ARGUMENTS[at : at + 20] for at in range(0, len(ARGUMENTS), 20)]


def events(*documents):
    return [b"data: %s\n\n" % orjson.dumps(document) for document in documents]


def openai_call(arguments):
    call = {"index": 0, "function": {"arguments": arguments}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}


def responses_call(kind):
    return [{"type": f"response.{kind}.delta", "delta": piece} for piece in PIECES]


def anthropic_delta(piece):
    delta = {"type": "input_json_delta", "partial_json": piece}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def gemini(*parts):
    return {"candidates": [{"content": {"role": "model", "parts": parts}}]}


def gemini_piece(piece):
    partial = {"jsonPath": "$.text", "stringValue": piece}
    return gemini({"functionCall": {"partialArgs": [partial], "willContinue": True}})


def converse_delta(piece):
    return {"contentBlockDelta": {"delta": {"toolUse": {"input": piece}}, "contentBlockIndex": 0}}


CALLS = {
    "chat completions": ("openai", [openai_call(piece) for piece in PIECES]),
    "responses": ("openai", responses_call("function_call_arguments")),
    "responses, a plain text": ("openai", responses_call("custom_tool_call_input")),
    "messages": (
        "anthropic",
        [{"type": "content_block_start", "content_block": {"type": "tool_use", "input": {}}}]
        + [anthropic_delta(piece) for piece in PIECES],
    ),
    "generate content": (
        "gemini",
        [gemini({"functionCall": {"name": "f", "args": orjson.loads(ARGUMENTS)}})],
    ),
    "generate content, in pieces": ("gemini", [gemini_piece(piece) for piece in PIECES]),
    "converse": ("bedrock", [converse_delta(piece) for piece in PIECES]),
}
"""Streams that end early, with nothing but the arguments of a call, in each format."""


@each("name", list(CALLS))
def test_the_arguments_of_calls_are_output(name):
    dialect, documents = CALLS[name]
    usage = read(dialect, events(*documents)).complete(ESTIMATE)
    assert usage.source == "estimated"
    assert usage.output == pytest.approx(len(ARGUMENTS) // 4, rel=0.15)


def test_events_that_repeat_output_do_not_count():
    done = [
        {"type": "response.output_text.done", "text": ARGUMENTS},
        {"type": "response.output_item.done", "item": {"content": [{"text": ARGUMENTS}]}},
    ]
    deltas = responses_call("output_text")
    usage = read("openai", events(*deltas, *done)).complete(ESTIMATE)
    assert usage.output == pytest.approx(len(ARGUMENTS) // 4, rel=0.15)


NO_ARGUMENTS = {
    "openai": openai_call("{}"),
    "anthropic": {"content_block": {"type": "tool_use", "name": "get_the_time", "input": {}}},
    "gemini": gemini({"functionCall": {"name": "get_the_time", "args": {}}}),
    "bedrock": {"contentBlockStart": {"start": {"toolUse": {"name": "get_the_time"}}}},
}


@each("dialect", list(NO_ARGUMENTS))
def test_a_call_without_arguments_is_output(dialect):
    usage = read(dialect, events(NO_ARGUMENTS[dialect])).complete(ESTIMATE)
    assert 0 < usage.output < 10


def test_what_a_stream_says_of_its_request_is_not_its_output():
    """A stream of responses begins with the instructions and the tools, twice."""
    request = {"instructions": "Be kind. " * 4_000, "tools": [{"parameters": {"text": {}}}]}
    head = [{"type": f"response.{kind}", "response": request} for kind in ("created", "queued")]
    usage = read("openai", events(*head, *responses_call("output_text"))).complete(ESTIMATE)
    assert usage.output == pytest.approx(len(ARGUMENTS) // 4, rel=0.15)


def test_the_arguments_in_a_large_event_are_output():
    call = gemini({"functionCall": {"name": "f", "args": {"text": "word " * 20_000}}})
    image = gemini({"inlineData": {"mimeType": "image/png", "data": "A" * 100_000}})
    text = gemini({"text": "word " * 100})
    usage = read("gemini", events(call, image, text)).complete(ESTIMATE)
    assert usage.output == pytest.approx(25_000 + 125, rel=0.02)


def test_a_report_of_the_input_alone_is_no_report_of_the_answer():
    counts = {"promptTokenCount": 9, "totalTokenCount": 9}
    first = gemini({"functionCall": {"args": {"text": "word " * 100}}}) | {"usageMetadata": counts}
    usage = read("gemini", events(first)).complete(ESTIMATE)
    assert usage == Usage(input=9, output=pytest.approx(128, rel=0.05), source="estimated")
    last = {"candidates": [{"finishReason": "STOP"}], "usageMetadata": counts}
    assert read("gemini", events(last)).reported() == Usage(input=9, source="upstream")


def test_the_loop_turns_between_events_that_are_many():
    usage_reader = reader(dialects.get("openai").meter, "text/event-stream")
    data = chunk("x") * (BUFFERED_EVENT // len(chunk("x")) + 2)
    assert loop_turns(lambda: usage_reader.feed(data)) >= data.count(b"\n\n")
