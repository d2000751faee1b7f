"""The usage of a request, estimated before it is sent."""

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dialects
from engine.dialects.interface.usage_counts import MAX_COUNT
from engine.exchange.spooled_body import receive
from engine.metering.estimate import (
    DEFAULT_OUTPUT,
    MAX_FILE,
    estimate,
    input_tokens,
    with_request_counts,
)
from engine.spec.bodies.multipart import boundary_of, parse
from engine.values.usage import Takes, Usage
from tests.support.documents import exchange, form_data
from tests.support.exchanges import set_content

CHAT = Takes(usage_option=True, output=dialects.get("openai").request_fields.output)
GEMINI = Takes(output=dialects.get("gemini").request_fields.output)


def estimate_of(body, takes=CHAT, media_type="application/json"):
    request = exchange(body, media_type)
    set_content(request, value=body)
    return estimate(request, takes)


def test_text_counts_by_its_bytes():
    usage = estimate_of({"model": "m", "messages": [{"role": "user", "content": "x" * 4000}]})
    assert 1000 <= usage.input <= 1020
    assert usage.source == "estimated"


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({}, DEFAULT_OUTPUT),
        ({"n": 3}, 3 * DEFAULT_OUTPUT),
        ({"max_tokens": 5}, 5),
        ({"max_tokens": 0}, 0),
        ({"max_completion_tokens": 7, "max_tokens": 5}, 7),
        ({"max_output_tokens": 9}, 9),
        ({"max_tokens": None}, DEFAULT_OUTPUT),
        ({"max_tokens": -1}, DEFAULT_OUTPUT),
        ({"max_tokens": "5"}, DEFAULT_OUTPUT),
        ({"max_tokens": "5000"}, 5000),
        ({"max_tokens": 5, "n": "3"}, 15),
        ({"max_tokens": 5, "n": "0"}, 5),
        ({"max_tokens": 5.0}, 5),
        ({"max_tokens": 10**30}, DEFAULT_OUTPUT),
        ({"max_tokens": MAX_COUNT, "n": 128}, MAX_COUNT),
        ({"max_tokens": 5, "n": 3}, 15),
        ({"max_tokens": 5, "n": 0}, 5),
        ({"max_tokens": 5, "n": 10**6}, 640),
        ({"max_tokens": 5, "n": []}, 5),
        ({"generationConfig": {"maxOutputTokens": 11}}, DEFAULT_OUTPUT),
    ],
)
def test_the_output_is_the_limit_of_the_request(fields, output):
    assert estimate_of(fields).output == output


@pytest.mark.parametrize(
    ("fields", "output"),
    [
        ({"generationConfig": {"maxOutputTokens": 11}}, 11),
        ({"generation_config": {"max_output_tokens": 11}}, 11),
        ({"generationConfig": {"maxOutputTokens": 11, "candidateCount": 2}}, 22),
        ({"generationConfig": []}, DEFAULT_OUTPUT),
        ({"generationConfig": {}}, DEFAULT_OUTPUT),
        ({"max_tokens": 5}, DEFAULT_OUTPUT),
    ],
)
def test_the_output_may_be_bounded_within_an_object(fields, output):
    assert estimate_of(fields, GEMINI).output == output


def test_an_operation_without_output_tokens_reserves_none():
    assert estimate_of({"input": "x", "max_tokens": 5}, Takes()).output == 0


def test_text_to_be_spoken_is_counted_by_characters():
    usage = estimate_of({"input": "häh?", "voice": "alloy"}, Takes(speech="input"))
    assert usage.characters == 4
    assert estimate_of({"input": ["x"]}, Takes(speech="input")).characters == 0
    assert estimate_of({"input": "xyz"}, Takes()).characters == 0


@pytest.mark.parametrize(
    ("n", "images"), [(None, 1), (3, 3), ("3", 3), ("x", 1), (0, 1), (10**9, 1), ([], 1)]
)
def test_images_count_by_their_number(n, images):
    assert estimate_of({"prompt": "p", "n": n}, Takes(images="n")).images == images


def test_an_image_in_base64_is_not_counted_as_text():
    data = base64.b64encode(random.Random(1).randbytes(2_000_000)).decode()
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    text = {"type": "text", "text": "what is this " * 100}
    usage = estimate_of({"messages": [{"role": "user", "content": [text, url]}]})
    assert 300 < usage.input < MAX_FILE + 3000
    both = estimate_of({"messages": [{"role": "user", "content": [url, text, *[text] * 9, url]}]})
    assert MAX_FILE * 2 < both.input < MAX_FILE * 2 + 6000


@pytest.mark.parametrize("text", ["some words here ", "日本語のテキスト。", "x, "])
def test_long_text_is_counted_completely(text):
    data = (text * 400_000).encode()[:1_000_000]
    assert input_tokens(data) == pytest.approx(250_000, abs=5)


def test_a_body_on_disk_counts_too():
    class Source:
        def __init__(self):
            self.data = b"some words " * 200_000

        def read(self, size, /):
            piece, self.data = self.data[:size], self.data[size:]
            return piece

    body = receive(Source(), None, 10_000_000)
    assert input_tokens(body.buffer) == pytest.approx(550_000, abs=5)
    body.close()


def test_a_form_counts_its_texts_and_its_files():
    data, media_type = form_data(
        [["prompt", "a cat " * 100], ["image", "B" * 500_000, "a.png", "image/png"], ["n", "2"]]
    )
    request = exchange(data, media_type)
    parts = list(parse(data, boundary_of(media_type)))
    set_content(request, value={"prompt": "a cat " * 100, "image": b"", "n": "2"}, parts=parts)
    usage = estimate(request, Takes(images="n"))
    assert (usage.input, usage.images) == (150 + 500_000 // 256, 2)


@pytest.mark.parametrize(
    ("body", "searches"),
    [
        ({"query": "q", "documents": ["a"]}, 1),
        ({"query": "q", "documents": ["a"] * 100}, 1),
        ({"query": "q", "documents": ["a"] * 101}, 2),
        ({"query": "q", "texts": ["a"] * 201}, 3),
        ({"query": "q", "documents": {"content": []}}, 1),
        ({}, 1),
    ],
)
def test_a_reranking_counts_its_search_units(body, searches):
    assert estimate_of(body, Takes(searches="query")).searches == searches
    assert estimate_of(body, Takes()).searches == 0


@pytest.mark.parametrize(
    ("reported", "usage"),
    [
        (Usage(input=56, source="upstream"), Usage(input=56, searches=2, source="upstream")),
        (Usage(searches=3, source="upstream"), Usage(input=7, searches=3, source="upstream")),
        (Usage(5, searches=3, source="upstream"), Usage(5, searches=3, source="upstream")),
    ],
)
def test_a_reranking_has_tokens_and_search_units(reported, usage):
    assert with_request_counts(reported, Usage(input=7, searches=2, source="estimated")) == usage


def test_a_recording_counts_its_seconds():
    data, media_type = form_data(
        [
            ["model", "m"],
            ["file", "B" * 80_000, "a.m4a", "audio/mp4"],
            ["other", "B" * 8_000, "b", "a/b"],
        ]
    )
    request = exchange(data, media_type)
    parts = list(parse(data, boundary_of(media_type)))
    set_content(request, value={"model": "m", "file": b"", "other": b""}, parts=parts)
    assert estimate(request, Takes(audio="file")).seconds == 10
    assert estimate(request, Takes()).seconds == 0


def test_a_form_counts_the_texts_in_its_lists_and_objects():
    data, media_type = form_data([["prompt[]", "a cat " * 100], ["meta[note]", "a cat " * 100]])
    request = exchange(data, media_type)
    parts = list(parse(data, boundary_of(media_type)))
    set_content(
        request, value={"prompt": ["a cat " * 100], "meta": {"note": "a cat " * 100}}, parts=parts
    )
    assert estimate(request, Takes(images="n")).input == 300


@pytest.mark.parametrize(
    ("body", "tokens"), [(b"\xff\xfb" * 50_000, 390), (b'{"a":"%s"}' % (b"b c " * 1000), 1002)]
)
def test_a_body_that_was_not_parsed(body, tokens):
    assert estimate(exchange(body, "audio/mpeg"), CHAT).input == tokens


def test_a_request_without_a_body():
    request = exchange(b"")
    assert estimate(request, CHAT) == Usage(output=DEFAULT_OUTPUT, source="estimated")


@given(value=st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda below: st.lists(below, max_size=2)
    | st.dictionaries(
        st.sampled_from(["n", "max_tokens", "generationConfig", "candidateCount", "input"]), below
    ),
    max_leaves=8,
))  # fmt: skip
def test_any_value_is_estimated(value):
    request = exchange(b"x")
    set_content(request, value=value)
    for takes in (CHAT, GEMINI, Takes(speech="input", images="n")):
        assert 0 <= estimate(request, takes).output <= MAX_COUNT
