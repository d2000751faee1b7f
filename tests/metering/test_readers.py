"""Usage read from answers as they pass: streams are tests/cases/usage/*.sse, which begin with a
comment that says what is to be found."""

import json
import time
import tracemalloc

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dialects
from engine.metering.json_reader import BUFFERED_BODY, PARSED_BODY
from engine.metering.readers import SizeReader, reader
from engine.metering.sse_reader import BUFFERED_EVENT
from engine.relay.sse import Cleaner
from engine.values.usage import Usage
from tests.support import paths

CASES = sorted((paths.CASES / "usage").glob("*.sse"))
EXPECTED = Usage(input=40, output=1000, characters=0, source="estimated")
SSE, JSON = "text/event-stream", "application/json"


def case(path):
    """What is expected, and the events."""
    head, *events = path.read_bytes().removesuffix(b"\n\n").split(b"\n\n")
    return json.loads(head[1:]), [event + b"\n\n" for event in events]


def said(usage):
    return None if usage is None else Usage(**usage, source="upstream")


def read(name, pieces, media_type=SSE):
    made = reader(dialects.get(name).meter, media_type)
    for piece in pieces:
        made.feed(piece)
    return made


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
@given(data=st.data())
def test_a_stream_says_the_same_however_its_events_arrive(path, data):
    facts, events = case(path)
    ends = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=4)))
    pieces = [b"".join(events[a:b]) for a, b in zip([0, *ends], [*ends, len(events)], strict=True)]
    made = read(facts["dialect"], [piece for piece in pieces if piece])
    assert made.usage() == said(facts["usage"])
    assert made.usage() == said(facts["usage"])  # asking changes nothing
    whole = read(facts["dialect"], events)
    assert made.complete(EXPECTED) == whole.complete(EXPECTED)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_cleaner_gives_what_the_reader_takes(path):
    facts, events = case(path)
    dialect = dialects.get(facts["dialect"])
    cleaner = Cleaner(dialect.stream)
    raw = b"".join(events).replace(b"\n", b"\r\n")
    pieces = [cleaner.feed(raw[at : at + 7]) for at in range(0, len(raw), 7)]
    made = read(facts["dialect"], [*filter(None, pieces), cleaner.finish()])
    assert made.usage() == said(facts["usage"])


def chunk(text):
    return b'data: {"choices":[{"index":0,"delta":{"content":%s}}]}\n\n' % orjson.dumps(text)


def test_a_stream_that_said_nothing_is_counted_by_its_text():
    used = read("openai", [chunk("four") for _ in range(5000)]).complete(EXPECTED)
    assert used == Usage(input=40, output=pytest.approx(5000, rel=0.02), source="estimated")


def test_text_that_is_not_ascii_is_counted_by_its_bytes():
    escaped = b'data: {"choices":[{"delta":{"content":"\\u65e5\\u672c\\u8a9e\\u6587"}}]}\n\n'
    plain = b'data: {"choices":[{"delta":{"content":"\xe6\x97\xa5\xe6\x9c\xac"}}]}\n\n'
    assert read("openai", [escaped] * 10).complete(EXPECTED).output == 30
    assert read("openai", [plain] * 10).complete(EXPECTED).output == 15


def test_a_stream_that_broke_before_any_text_has_no_output():
    assert read("openai", [b": keep-alive\n\n"]).complete(EXPECTED).output == 0
    assert read("openai", []).complete(EXPECTED).output == 0


def test_images_are_not_counted_as_text():
    image = b'data: {"image":"%s"}\n\n' % (b"A" * 3_000_000)
    words = [chunk("four") for _ in range(1000)]
    for events in ([image, *words], [*words, image], [b"".join([*words, image])]):
        output = read("openai", events).complete(EXPECTED).output
        assert output == pytest.approx(1000, rel=0.02)


def test_a_cut_message_keeps_the_input_that_was_said():
    _, events = case(CASES[0].with_name("messages.sse"))
    words = (
        b'event: content_block_delta\ndata: {"delta":{"type":"text_delta","text":"12345678"}}\n\n'
    )
    made = read("anthropic", [events[0], *[words] * 100])
    used = made.complete(EXPECTED)
    assert (used.input, used.cached, used.source) == (35, 20, "estimated")
    assert 180 <= used.output <= 200


def test_a_cut_gemini_stream_has_said_all_that_was_used():
    _, events = case(CASES[0].with_name("generate.sse"))
    used = read("gemini", events[:1]).complete(EXPECTED)
    assert used == Usage(input=8, output=47, reasoning=44, source="upstream")


def test_the_characters_read_aloud_stay_known():
    aloud = Usage(input=3, characters=12, source="estimated")
    _, events = case(CASES[0].with_name("speech.sse"))
    assert read("openai", events).complete(aloud) == Usage(
        14, 101, characters=12, source="upstream"
    )
    sound = read("openai", [b"\x00" * 5000], "audio/mpeg")
    assert sound.complete(aloud) == Usage(input=3, characters=12, source="estimated")
    assert sound.usage() is None


def test_plain_text_is_counted_by_its_bytes():
    assert (
        read("openai", [b"1\n00:00 --> 00:01\nHi\n"], "text/plain").complete(EXPECTED).output == 5
    )


def test_an_api_that_has_no_dialect_is_counted_by_size_alone():
    assert isinstance(reader(None, JSON), SizeReader)
    assert reader(None, SSE).complete(EXPECTED).output == 0


@pytest.mark.parametrize("size", [10, BUFFERED_EVENT - 200, BUFFERED_EVENT + 1, 3_000_000])
def test_images_of_any_size(size):
    facts, events = case(CASES[0].with_name("images.sse"))
    grown = [event.replace(b"iVBO", b"A" * size) for event in events]
    assert read("openai", grown).usage() == said(facts["usage"])
    assert read("openai", [b"".join(grown)]).usage() == said(facts["usage"])


@pytest.mark.parametrize("size", [10, BUFFERED_EVENT + 1])
@pytest.mark.parametrize("where", ["front", "end"])
def test_usage_at_either_end_of_an_event_of_any_size(size, where):
    usage = b'"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":3}'
    rest = b'"candidates":[{"content":{"parts":[{"inlineData":{"data":"%s"}}]}}]' % (b"A" * size)
    members = [usage, rest] if where == "front" else [rest, usage]
    event = b"data: {" + b",".join(members) + b"}\n\n"
    assert read("gemini", [event]).usage() == Usage(8, 3, source="upstream")


def test_a_completed_response_of_any_size():
    output = [{"type": "message", "usage": {"input_tokens": 1}, "text": "w" * 100}] * 2000
    usage = {"input_tokens": 36, "output_tokens": 87, "total_tokens": 123}
    for metadata in ({}, {"metadata": {"usage": "x"}, "user": "u"}):
        response = {"id": "r", "output": output, "usage": usage} | metadata
        event = orjson.dumps({"type": "response.completed", "response": response})
        made = read("openai", [b"event: response.completed\ndata: " + event + b"\n\n"])
        assert made.usage() == Usage(36, 87, source="upstream")


def test_memory_stays_small_however_long_the_stream():
    made = reader(dialects.get("gemini").meter, SSE)
    event = b'data: {"x":"%s","usageMetadata":{"promptTokenCount":8}}\n\n' % (b"A" * 50_000)
    tracemalloc.start()
    for _ in range(200):
        made.feed(bytes(bytearray(event)))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 4 * BUFFERED_EVENT


# Answers that are one JSON text

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
def test_usage_inside_an_answer_is_not_the_answers(size):
    """What a model calls a tool with may be named like anything."""
    block = {"type": "tool_use", "input": {"usage": {"input_tokens": 999}, "x": ["y" * size]}}
    data = {"content": [block], "usage": {"input_tokens": 5, "output_tokens": 3}}
    assert read("anthropic", [orjson.dumps(data)], JSON).usage() == READ
    turned = dict(reversed(data.items()))  # usage first
    assert read("anthropic", [orjson.dumps(turned)], JSON).usage() == READ


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("piece", [65_536, 10_000_000])
def test_images_in_a_body_of_any_size(size, piece):
    data = {"created": 1, "data": [{"b64_json": "A" * size}] * 3, "usage": {"total_tokens": 9}}
    made = read("openai", pieces(orjson.dumps(data), piece), JSON)
    assert made.usage() == Usage(9, images=3, source="upstream")
    del data["usage"]
    made = read("openai", pieces(orjson.dumps(data), piece), JSON)
    assert made.usage() == Usage(images=3, source="upstream")


@given(cut=st.integers(1, 30_000))
def test_every_image_is_counted_once_wherever_the_pieces_end(cut):
    item = b'{"b64_json":"' + b"A" * 2_000 + b'"}'
    data = b'{"data":[' + b",".join([item] * 400) + b"]}"
    made = read("openai", [data[:cut], *pieces(data[cut:], 300_000 - cut)], JSON)
    assert made.usage() == Usage(images=400, source="upstream")


@pytest.mark.parametrize("size", SIZES)
def test_the_duration_at_the_front_of_a_long_transcript(size):
    segments = [{"text": "w" * 80, "duration": 2}] * (size // 100)
    data = {"task": "transcribe", "duration": 8.47, "text": "Hi", "segments": segments}
    assert read("openai", pieces(orjson.dumps(data), 9_000), JSON).usage().seconds == 8.47


def test_a_duration_of_a_part_is_not_the_whole_ones():
    segments = [{"text": "w" * 80, "duration": 2}] * 1000
    data = orjson.dumps({"segments": segments, "text": "Hi"})
    assert read("openai", [data], JSON).usage() is None


def test_usage_in_the_middle_of_a_long_body():
    data = orjson.dumps({"a": "x" * 50_000, "usage": USAGE, "b": "y" * 50_000})
    assert read("openai", [data], JSON).usage() == READ


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ending", [b"\r\n]", b"", b",\r\n", b',{"candidates":[{"content":{"par'])
def test_a_streamed_array_whole_or_cut(size, ending):
    one = {"candidates": [{"content": {"parts": [{"text": "w" * (size // 4)}]}}]}
    counts = [{"promptTokenCount": 5, "candidatesTokenCount": n} for n in (1, 2, 3)]
    items = [orjson.dumps(one | {"usageMetadata": said}) for said in counts]
    data = b"[" + b"\n,\n".join(items) + ending
    assert read("gemini", pieces(data, 5_000), JSON).usage() == READ


def test_a_body_without_usage_is_counted_by_its_text():
    data = orjson.dumps({"choices": [{"message": {"content": "word" * 1000}}]})
    assert 990 <= read("openai", [data], JSON).complete(EXPECTED).output <= 1010
    assert read("openai", [data], "application/vnd.x+json").complete(EXPECTED).output > 0


def test_an_image_in_a_body_without_usage_is_not_counted_as_text():
    message = {"content": "word" * 1000, "images": [{"data": "A" * 3_000_000}]}
    data = orjson.dumps({"choices": [{"message": message}]})
    assert read("openai", [data], JSON).complete(EXPECTED).output <= BUFFERED_BODY // 4


def test_a_body_in_small_pieces_is_kept_within_bounds():
    made = reader(dialects.get("openai").meter, JSON)
    tracemalloc.start()
    for at in range(BUFFERED_BODY // 8):
        made.feed(at.to_bytes(16))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2 * BUFFERED_BODY


def test_a_body_with_usage_is_believed():
    data = orjson.dumps({"choices": [], "usage": USAGE})
    assert read("openai", [data], JSON).complete(EXPECTED) == READ


def test_an_answer_that_repeats_the_key_without_end_costs_little():
    data = b'{"a":[' + b'{"usage":{"x":1}},' * 40_000 + b"1]}"
    made = read("openai", [data], JSON)
    before = time.process_time()
    assert made.usage() is None
    assert time.process_time() - before < 0.1


BYTES = st.lists(
    st.sampled_from(
        [
            *(b'"usage"', b'"usageMetadata"', b":", b"{", b"}", b"[", b"]", b",", b'"', b"\\"),
            *(b"data: ", b"event: x\n", b"\n\n", b"1", b'"input_tokens":', b'"type":', b"null"),
            *(b'"message_delta"', b'"b64_json"', b"\xff", b"\xe6\x97", b"-1", b"1e999", b" "),
        ]
    )
    | st.binary(max_size=8),
    max_size=60,
)


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
@pytest.mark.parametrize("media_type", [SSE, JSON])
@given(given_=st.lists(BYTES, max_size=4), grown=st.booleans())
def test_no_bytes_make_a_reader_fail(name, media_type, given_, grown):
    padding = b" " * (BUFFERED_EVENT + 1) if grown else b""
    made = read(name, [padding + b"".join(piece) for piece in given_], media_type)
    made.usage()
    used = made.complete(EXPECTED)
    assert used.input >= 0
    assert used.output >= 0
