"""What the official SDKs join of the deltas of a stream is the answer in one piece."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.translations import language, languages
from engine.translations.neutral.answer import Answer, Candidate
from engine.translations.neutral.content import (
    Citation,
    Inline,
    Media,
    Reasoning,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import Finish, TokenLogprob
from engine.translations.neutral.language import Language
from tests.support.sayings import Json, saying_of
from tests.support.sdk_accumulators import as_sdk
from tests.support.thorough import examples
from tests.support.translation_strategies import (
    ANSWERS,
    events_of,
    sorted_by_kind,
    write_answer,
    write_stream,
)
from tests.support.translations import event_data

EXAMPLES = examples(8)
NAMES = [each.name for each in languages()]


def _joined(caller: Language, answer: Answer, size: int = 3) -> list[Json]:
    return as_sdk(caller.name, write_stream(caller, events_of(answer, size)), stream=True)


def _whole(caller: Language, answer: Answer) -> list[Json]:
    return as_sdk(caller.name, write_answer(caller, answer), stream=False)


def _answer(*candidates: Candidate) -> Answer:
    return Answer(id="a1", model="m", created=7, candidates=[*candidates], usage=None)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=EXAMPLES)
@given(answer=ANSWERS, size=st.integers(1, 9))
def test_the_sdk_joins_a_stream_to_the_answer_in_one_piece(
    name: str, answer: Answer, size: int
) -> None:
    caller = language(name)
    answer = sorted_by_kind(answer)
    answer.candidates = answer.candidates[:1]
    streamed = saying_of(name, _joined(caller, answer, size))
    assert streamed == saying_of(name, _whole(caller, answer))


TWO_CITED = [
    Text(text="The cat sat. ", citations=[Citation("https://a", "A", "", 4, 7)]),
    ToolCall(id="c1", name="look"),
    Text(text="Then it ran.", citations=[Citation("https://b", "B"), Citation("https://c")]),
]


@pytest.mark.parametrize("name", NAMES)
def test_citations_lie_in_the_whole_text(name: str) -> None:
    answer = _answer(Candidate(TWO_CITED, Finish(stop="tool_calls")))
    said = saying_of(name, _joined(language(name), answer))
    assert (said.text, said.urls) == (
        "The cat sat. Then it ran.",
        {"https://a", "https://b", "https://c"},
    )
    spans = [] if name == "messages" else [(4, 7), (13, 25), (13, 25)]  # it has no places
    assert said.spans == spans


def test_all_annotations_of_a_choice_are_in_one_delta_behind_its_text() -> None:
    answer = _answer(Candidate(TWO_CITED, Finish(stop="tool_calls")))
    stream = write_stream(language("chat_completions"), events_of(answer, 100))
    chunks = [data for data in event_data(stream) if b"annotations" in data]
    assert len(chunks) == 1
    places = [b'"Then it ran."', chunks[0], b'"finish_reason":"tool_calls"']
    assert sorted(places, key=stream.index) == places


def _message(answer: Answer) -> Any:
    [document] = _joined(language("chat_completions"), answer)
    return document["choices"][0]


def test_every_list_of_a_chat_completions_stream_is_joined_by_its_indexes() -> None:
    image = Media(kind="image", source=Inline("image/png", "iVBO"))
    blocks = [
        Reasoning(text="hmm", signature=Signature("other", "s1")),
        Reasoning(text="oh", signature=Signature("other", "s2")),
        Text(text="ab"),
        image,
        image,
        ToolCall(id="c1", name="look", arguments='{"a":1}'),
        ToolCall(id="c2", name="time"),
    ]
    tokens = [TokenLogprob("a", -0.5, [("b", -1.0)]), TokenLogprob("b", -0.25)]
    answer = _answer(Candidate([*blocks], Finish(stop="tool_calls"), tokens))
    choice = _message(answer)
    message = choice["message"]
    details = [(each["text"], each["signature"]) for each in message["reasoning_details"]]
    assert [text for text, _ in details] == ["hmm", "oh"]
    assert [signature.rpartition(":")[2] for _, signature in details] == ["s1", "s2"]
    assert len(message["images"]) == 2
    assert [each["id"] for each in message["tool_calls"]] == ["c1", "c2"]
    assert [each["token"] for each in choice["logprobs"]["content"]] == ["a", "b"]
