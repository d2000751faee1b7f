"""Counts of tokens that upstreams report."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import dialects
from engine.dialects.interface.usage import Meter
from engine.dialects.interface.usage_counts import (
    MAX_COUNT,
    MAX_SECONDS,
    count,
    object_in,
    seconds,
)
from engine.mock.examples import examples, fill
from engine.values.usage import Usage
from tests.support import paths, yaml_text
from tests.support.documents import shipped
from tests.support.each import each


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0),
        (7, 7),
        (12.0, 12),
        (MAX_COUNT, MAX_COUNT),
        (MAX_COUNT + 1, None),
        (float(MAX_COUNT + 1), None),
        (-1, None),
        (-1.0, None),
        (1.5, None),
        (True, None),
        ("7", 7),
        (" 12 ", 12),
        ("12.0", None),
        ("x", None),
        ("9" * 21, None),
        (None, None),
        (float("nan"), None),
        (float("inf"), None),
    ],
)
def test_a_count_is_a_whole_number_within_bounds(value, expected):
    assert count(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, 0.0),
        (1.5, 1.5),
        (MAX_SECONDS, MAX_SECONDS),
        (MAX_SECONDS * 2, None),
        (-0.1, None),
        (True, None),
        ("1.5", 1.5),
        ("8 seconds", None),
        ("9" * 10, None),
        (float("nan"), None),
    ],
)
def test_seconds_are_a_number_within_bounds(value, expected):
    assert seconds(value) == expected


def test_the_first_member_that_is_an_object_counts_and_others_are_logged_once(caplog):
    holder = {"odd_details": "x", "empty_details": [], "null_details": None, "details": {"a": 1}}
    for _ in range(3):
        assert object_in(holder, *holder) == {"a": 1}
    assert object_in(holder, "empty_details") == {}
    assert caplog.messages == [
        "usage: 'odd_details' in an upstream's answer is a string and is ignored"
    ]


CASES = paths.CASES / "usage"
NAMES = ("openai", "anthropic", "gemini")
FACTS = {"text": "a b", "model": "m", "now": 5, "id": "x", "n": 0, "word": "w"}
COUNTS = {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18}


def cases():
    for name in NAMES:
        for title, case in yaml_text.load((CASES / f"{name}.yaml").read_text()).items():
            yield pytest.param(name, case["answer"], case["usage"], id=f"{name}: {title}")


def meter(name) -> Meter:
    usage_meter = dialects.get(name).meter
    assert usage_meter is not None
    return usage_meter


def expected(usage):
    return None if usage is None else Usage(**usage, source="upstream")


@each(("name", "answer", "usage"), list(cases()))
def test_the_usage_of_a_response(name, answer, usage):
    assert meter(name).usage_of(answer) == expected(usage)


@each(("name", "answer", "usage"), list(cases()))
def test_a_tally_of_one_document_has_the_same_usage(name, answer, usage):
    tally = meter(name).tally()
    tally.take(answer)
    assert tally.usage() == expected(usage)


def document_examples():
    """Every JSON example of the shipped documents that has a count in it."""
    for name in NAMES:
        specification, _ = shipped(name)
        for operation in specification.operations.values():
            for example in examples(specification.node(operation)):
                if "json" in example.media_type and "{{input_tokens}}" in str(example.value):
                    filled = fill(example.value, FACTS | COUNTS)
                    yield pytest.param(name, filled, id=f"{operation.id} {example.name}")


@pytest.mark.parametrize(("name", "answer"), list(document_examples()))
def test_the_examples_of_the_documents_have_usage(name, answer):
    usage = meter(name).usage_of(answer)
    if "totalTokens" in answer or ("input_tokens" in answer and len(answer) <= 2):
        assert usage is None  # a count of tokens uses none
        return
    assert usage is not None
    assert usage.input == 11
    assert usage.output in (0, 7)


def test_the_plain_dialect_has_no_meter():
    assert dialects.get("plain").meter is None


KEYS = st.sampled_from(
    [
        *("usage", "usageMetadata", "response", "message", "type", "data", "duration", "choices"),
        *("meta", "billed_units", "x_groq", "iterations", "cache_creation", "seconds", "b64_json"),
        *("prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens"),
        *("prompt_tokens_details", "output_tokens_details", "cached_tokens", "thinking_tokens"),
        *("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"),
        *("cache_read_input_tokens", "cachedContentTokenCount", "cache_creation_input_tokens"),
        *("ephemeral_1h_input_tokens", "cached_tokens_details", "cache_write_tokens"),
        *("audio_tokens", "image_tokens", "reasoning_tokens", "completion_tokens_details"),
        *("promptTokensDetails", "cacheTokensDetails", "candidatesTokensDetails", "modality"),
        "tokenCount",
    ]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(
        ["message_start", "message_delta", "compaction", "image_edit.completed", "", "AUDIO"]
    )
)
DOCUMENTS = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=3) | st.dictionaries(KEYS, below), max_leaves=25
)


@pytest.mark.parametrize("name", NAMES)
@given(documents=st.lists(DOCUMENTS, max_size=4))
def test_any_document_is_read_within_bounds(name, documents):
    tally = meter(name).tally()
    for document in documents:
        meter(name).usage_of(document)
        tally.take(document)
    usage = tally.usage()
    if usage is not None:
        assert 0 <= usage.cached + usage.cache_write <= usage.input <= 400 * MAX_COUNT
        assert 0 <= usage.audio_input + usage.image_input <= usage.input
        assert 0 <= usage.cache_write_1h <= usage.cache_write
        assert 0 <= usage.cached_audio + usage.cached_image <= usage.cached
        assert usage.cached_audio <= usage.audio_input
        assert usage.cached_image <= usage.image_input
        assert 0 <= usage.output <= 400 * MAX_COUNT
        assert 0 <= usage.reasoning + usage.audio_output + usage.image_output <= usage.output
        assert usage.seconds >= 0
        assert usage.source == "upstream"
