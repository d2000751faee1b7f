"""Usage read from a JSON body of any size, in pieces of any size."""

import time
import tracemalloc

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dialects
from engine.metering.json_reader import BUFFERED_BODY, PARSED_BODY, near_end, near_start, type_of
from engine.metering.readers import reader
from engine.values.usage import Usage
from tests.support.each import each
from tests.support.growth import steps
from tests.support.metering import ESTIMATE, JSON, read

USAGE = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
READ = Usage(5, 3, source="upstream")
SIZES = [
    10,
    PARSED_BODY - 200,
    PARSED_BODY + 1,
    BUFFERED_BODY - 500,
    BUFFERED_BODY + 1,
    3 * BUFFERED_BODY,
]
PIECES = [1_000, 65_536, 10_000_000]


def pieces(data, size):
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("piece", PIECES)
def test_a_body_of_any_size_in_pieces_of_any_size(size, piece):
    content = 'say "usage":{"prompt_tokens":99} ' * (size // 33 + 1)
    data = orjson.dumps({"choices": [{"message": {"content": content}}], "usage": USAGE, "x": {}})
    assert read("openai", pieces(data, piece), JSON).usage() == READ


@pytest.mark.parametrize("size", SIZES)
def test_usage_within_a_body_is_not_its_usage(size):
    """The arguments of a tool call may have any names."""
    block = {"type": "tool_use", "input": {"usage": {"input_tokens": 999}, "x": ["y" * size]}}
    data = {"content": [block], "usage": {"input_tokens": 5, "output_tokens": 3}}
    assert read("anthropic", [orjson.dumps(data)], JSON).usage() == READ
    usage_first = dict(reversed(data.items()))
    assert read("anthropic", [orjson.dumps(usage_first)], JSON).usage() == READ


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("piece", [65_536, 10_000_000])
def test_images_in_a_body_of_any_size(size, piece):
    data = {"created": 1, "data": [{"b64_json": "A" * size}] * 3, "usage": {"total_tokens": 9}}
    usage_reader = read("openai", pieces(orjson.dumps(data), piece), JSON)
    assert usage_reader.usage() == Usage(9, images=3, source="upstream")
    del data["usage"]
    usage_reader = read("openai", pieces(orjson.dumps(data), piece), JSON)
    assert usage_reader.usage() == Usage(images=3, source="upstream")


@given(cut=st.integers(1, 30_000))
def test_every_image_is_counted_once_with_any_pieces(cut):
    image = b'{"b64_json":"' + b"A" * 2_000 + b'"}'
    data = b'{"data":[' + b",".join([image] * 400) + b"]}"
    usage_reader = read("openai", [data[:cut], *pieces(data[cut:], 300_000 - cut)], JSON)
    assert usage_reader.usage() == Usage(images=400, source="upstream")


@pytest.mark.parametrize("size", SIZES)
def test_the_duration_at_the_front_of_a_long_transcript(size):
    segments = [{"text": "w" * 80, "duration": 2}] * (size // 100)
    data = {"task": "transcribe", "duration": 8.47, "text": "Hi", "segments": segments}
    assert read("openai", pieces(orjson.dumps(data), 9_000), JSON).usage().seconds == 8.47


def test_the_duration_of_a_segment_is_not_that_of_the_transcript():
    segments = [{"text": "w" * 80, "duration": 2}] * 1000
    data = orjson.dumps({"segments": segments, "text": "Hi"})
    assert read("openai", [data], JSON).usage() is None


def test_usage_in_the_middle_of_a_long_body():
    data = orjson.dumps({"a": "x" * 50_000, "usage": USAGE, "b": "y" * 50_000})
    assert read("openai", [data], JSON).usage() == READ


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ending", [b"\r\n]", b"", b",\r\n", b',{"candidates":[{"content":{"par'])
def test_a_streamed_array_complete_or_truncated(size, ending):
    item = {"candidates": [{"content": {"parts": [{"text": "w" * (size // 4)}]}}]}
    counts = [{"promptTokenCount": 5, "candidatesTokenCount": n} for n in (1, 2, 3)]
    items = [orjson.dumps(item | {"usageMetadata": count}) for count in counts]
    data = b"[" + b"\n,\n".join(items) + ending
    assert read("gemini", pieces(data, 5_000), JSON).usage() == READ


def test_a_body_without_usage_is_estimated_by_its_text():
    data = orjson.dumps({"choices": [{"message": {"content": "word" * 1000}}]})
    assert 990 <= read("openai", [data], JSON).complete(ESTIMATE).output <= 1010
    assert read("openai", [data], "application/vnd.x+json").complete(ESTIMATE).output > 0


def test_an_image_in_a_body_without_usage_is_not_counted_as_text():
    message = {"content": "word" * 1000, "images": [{"data": "A" * 3_000_000}]}
    data = orjson.dumps({"choices": [{"message": message}]})
    assert read("openai", [data], JSON).complete(ESTIMATE).output <= BUFFERED_BODY // 4


def test_a_body_in_small_pieces_needs_little_memory():
    usage_reader = reader(dialects.get("openai").meter, JSON)
    tracemalloc.start()
    for at in range(BUFFERED_BODY // 8):
        usage_reader.feed(at.to_bytes(16))
    memory, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert memory < 2 * BUFFERED_BODY


def test_the_usage_of_a_body_is_reported():
    data = orjson.dumps({"choices": [], "usage": USAGE})
    assert read("openai", [data], JSON).complete(ESTIMATE) == READ


def test_a_body_of_nothing_but_the_key_costs_as_much_as_one_with_some_at_its_ends():
    some, other = b'{"usage":{"x":1}},' * 8, b'{"other":{"x":1}},' * 40_000

    def cost(items):
        usage_reader = read("openai", [b'{"a":[' + items + b"1]}"], JSON)
        assert usage_reader.usage() is None
        return steps(usage_reader.usage)

    assert cost(some * 5_000) < 2 * cost(some + other + some)


@pytest.mark.parametrize(
    ("tail", "deepest", "value"),
    [
        (b'"x": 1, "usage": {"a": 1}}', 1, {"a": 1}),
        (b'"usage": {"a": 1}}}', 1, None),
        (b'"usage": {"a": 1}}}', 2, {"a": 1}),
        (b'{"usage": {"a": 1}}, "usage": {"a": 2}}', 2, {"a": 2}),
        (b'"usage": 7}', 1, 7),
        (b'"usage": null}', 1, None),
        (b'"other": {"a": 1}}', 1, None),
    ],
)
def test_a_member_near_the_end(tail, deepest, value):
    assert near_end(tail, "usage", deepest) == value


@pytest.mark.parametrize(
    ("head", "value"),
    [
        (b'{"usage": {"a": 1}, "x": [', {"a": 1}),
        (b'{"x": {"usage": {"a": 1}}, "usage": {"a": 2}, ', {"a": 2}),
        (b'{"x": {"usage": {"a": 1}', None),
        (b'{"usage": {"a": ', None),
    ],
)
def test_a_member_near_the_start(head, value):
    assert near_start(head, "usage") == value


def test_the_type_of_the_outermost_object():
    assert type_of(b'{"item": {"type": "x.y"}, "type": "response.completed", "z": [') == (
        "response.completed"
    )
    assert type_of(b'{"item": {"type": "x.y"}, ') == ""


ARGUMENTS = {"text": "word " * 300, "body": "word " * 300}
TEXT = orjson.dumps(ARGUMENTS).decode()
CALLS = {
    "chat completions": (
        "openai",
        {"choices": [{"message": {"tool_calls": [{"function": {"arguments": TEXT}}]}}]},
    ),
    "chat completions, an object": (
        "openai",
        {"choices": [{"message": {"tool_calls": [{"function": {"arguments": ARGUMENTS}}]}}]},
    ),
    "responses": (
        "openai",
        {
            "instructions": "Be kind. " * 4_000,
            "output": [{"type": "function_call", "arguments": TEXT}],
        },
    ),
    "messages": ("anthropic", {"content": [{"type": "tool_use", "input": ARGUMENTS}]}),
    "generate content": (
        "gemini",
        {"candidates": [{"content": {"parts": [{"functionCall": {"args": ARGUMENTS}}]}}]},
    ),
    "converse": (
        "bedrock",
        {"output": {"message": {"content": [{"toolUse": {"input": ARGUMENTS}}]}}},
    ),
}
"""Answers with nothing but a call, in each format."""


@each("name", list(CALLS))
def test_the_arguments_of_calls_in_an_answer_that_is_cut_off_are_output(name):
    dialect, document = CALLS[name]
    data = orjson.dumps(document)
    for cut in (len(data) - 5, len(data) - 1_500):
        usage = read(dialect, [data[:cut]], JSON).complete(ESTIMATE)
        written = len(TEXT) - (len(data) - cut)
        assert usage.source == "estimated"
        assert usage.output == pytest.approx(written / 4, rel=0.1)


def test_the_output_in_many_small_objects_costs_what_their_size_costs():
    def cost(number):
        data = orjson.dumps({"candidates": [{"args": {"a": [{}, "b"]}}] * number})
        usage_reader = read("gemini", [data], JSON)
        return steps(lambda: usage_reader.complete(ESTIMATE))

    assert cost(4_000) < 5 * cost(1_000)


def test_a_string_that_is_cut_off_is_read_once() -> None:
    seconds = []
    for size in (1_000, 16_000):
        rest = rb"\"" * size
        begin = time.thread_time()
        assert near_end(b'{"usage": {"a": 1}, "b": "}' + rest, "usage", 1) is None
        assert near_start(b'{"usage": {"a": "' + rest, "usage") is None
        seconds.append(time.thread_time() - begin)
    assert seconds[1] < 100 * max(seconds[0], 0.0005)
