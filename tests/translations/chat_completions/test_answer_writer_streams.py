"""Neutral events -> the chunks of a stream, as the SDK puts them together."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from openai.lib.streaming.chat import ChatCompletionStreamState

from engine.translations.chat_completions.answer_reader import Reader
from engine.translations.chat_completions.answer_writer import Writer, write_answer
from engine.translations.neutral.answer import Answer, Candidate, collect
from engine.translations.neutral.content import Block, Citation, Reasoning, Text, ToolCall
from engine.translations.neutral.events import End, Finish, TokenLogprob
from engine.translations.neutral.request import ChatRequest
from tests.support.each import each
from tests.support.translations import event_data
from tests.translations.answers import answer, blocks, events_of
from tests.translations.openai_sdk import chat_chunk

Json = dict[str, Any]


def request(*, usage: bool = True) -> ChatRequest:
    return ChatRequest(
        language="chat_completions", model="alias", messages=[], stream_usage=usage, id="req1"
    )


def data_of(full_answer: Answer, pieces: int = 3, *, usage: bool = True) -> list[bytes]:
    writer = Writer(request(usage=usage))
    return event_data(b"".join(writer.write(event) for event in events_of(full_answer, pieces)))


def chunks(full_answer: Answer, pieces: int = 3, *, usage: bool = True) -> list[Json]:
    """The chunks, each of which the SDK accepts."""
    *data, end = data_of(full_answer, pieces, usage=usage)
    assert end == b"[DONE]"
    for document in data:
        chat_chunk(document)
    return [json.loads(each) for each in data]


def deltas(*content: Block) -> list[Json]:
    return [o["choices"][0]["delta"] for o in chunks(answer(*content)) if o["choices"]]


@each("pieces", [1, 3, 100])
def test_the_sdk_comes_to_the_answer_in_one_piece(pieces: int) -> None:
    full_answer = answer(*blocks(), stop="tool_calls")
    state: ChatCompletionStreamState[None] = ChatCompletionStreamState()
    for data in data_of(full_answer, pieces)[:-1]:
        state.handle_chunk(chat_chunk(data))
    message = state.get_final_completion().choices[0].message
    expected = json.loads(write_answer(full_answer, request()))["choices"][0]["message"]
    assert (message.content, message.refusal) == (expected["content"], expected["refusal"])
    calls = [(o.id, o.function.name, o.function.arguments) for o in message.tool_calls or ()]
    assert calls == [("c1", "look", '{"a":1.0}'), ("c2", "time", "{}")]


def test_calls_are_counted_and_named_once() -> None:
    fragments = [call for delta in deltas(*blocks()) for call in delta.get("tool_calls", ())]
    assert [each["index"] for each in fragments] == [0, 0, 0, 0, 1, 1]
    assert [each["id"] for each in fragments if "id" in each] == ["c1", "c2"]


def test_the_first_chunk_has_the_role_and_the_last_the_reason() -> None:
    first, *_, last = chunks(answer(Text(text="Hi")), usage=False)
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert last["choices"] == [{"index": 0, "logprobs": None, "finish_reason": "stop", "delta": {}}]


def test_usage_comes_last_and_only_if_it_is_wanted() -> None:
    *others, last = chunks(answer(Text(text="Hi")))
    assert last["choices"] == []
    assert last["usage"]["total_tokens"] == 13
    assert all(each["usage"] is None for each in others)
    assert all("usage" not in each for each in chunks(answer(Text(text="Hi")), usage=False))


def test_thoughts_are_streamed_with_their_signature_at_the_end() -> None:
    first, *_ = blocks()
    _, thought, signature, _ = deltas(first)
    detail = {"type": "reasoning.text", "index": 0}
    assert thought == {
        "reasoning_content": "hm",
        "reasoning_details": [{**detail, "text": "hm"}],
    }
    assert signature == {
        "reasoning_details": [{**detail, "text": "", "signature": "modelway:messages:s"}]
    }


def test_spans_of_citations_are_those_of_the_whole_content() -> None:
    cited = Text(text="6789", citations=[Citation("https://a", start=1, end=2), Citation("b")])
    spans = [
        (each["url_citation"]["start_index"], each["url_citation"]["end_index"])
        for delta in deltas(Text(text="12345"), cited)
        for each in delta.get("annotations", ())
    ]
    assert spans == [(6, 7), (5, 9)]


def test_why_an_answer_was_filtered_is_a_refusal() -> None:
    last = chunks(answer(stop="filter", explanation="Not this."), usage=False)[-1]["choices"][0]
    assert (last["delta"], last["finish_reason"]) == ({"refusal": "Not this."}, "content_filter")


def test_every_candidate_begins_with_its_role() -> None:
    full_answer = answer()
    full_answer.candidates = [
        Candidate([Text(text="a")], Finish(stop="end")),
        Candidate([ToolCall(id="c", name="f")], Finish(stop="tool_calls")),
    ]
    choices = [each["choices"][0] for each in chunks(full_answer, usage=False)]
    roles = [each["index"] for each in choices if "role" in each["delta"]]
    assert roles == [0, 1]
    assert [o["index"] for o in choices if o["finish_reason"]] == [0, 1]


def test_log_probabilities_follow_their_text() -> None:
    full_answer = answer(Text(text="a"))
    full_answer.candidates[0].logprobs = [TokenLogprob("a", -0.5, [("x", -2.0)])]
    (tokens,) = [
        choice["logprobs"]["content"]
        for each in chunks(full_answer)
        for choice in each["choices"]
        if choice["logprobs"]
    ]
    assert [each["token"] for each in tokens] == ["a"]


WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
PLAIN_BLOCKS = st.lists(
    st.one_of(
        st.builds(Text, text=WORDS),
        st.builds(ToolCall, id=st.just("c"), name=WORDS, arguments=st.just('{"a":1.0}')),
        st.builds(Reasoning, text=WORDS),
    ),
    max_size=4,
)


@given(content=PLAIN_BLOCKS, pieces=st.integers(1, 5))
def test_a_stream_says_the_same_as_an_answer_in_one_piece(
    content: list[Block], pieces: int
) -> None:
    full_answer = answer(*content)
    reader = Reader()
    events = [e for data in data_of(full_answer, pieces) for e in reader.read(data)]
    assert isinstance(events[-1], End)
    (streamed,) = collect(events).candidates
    message = json.loads(write_answer(full_answer, request()))["choices"][0]["message"]
    text = "".join(b.text for b in streamed.blocks if isinstance(b, Text))
    thoughts = "".join(b.text for b in streamed.blocks if isinstance(b, Reasoning))
    calls = [(b.name, b.arguments) for b in streamed.blocks if isinstance(b, ToolCall)]
    assert text == (message["content"] or "")
    assert thoughts == message.get("reasoning_content", "")
    assert calls == [(o.name, o.arguments) for o in content if isinstance(o, ToolCall)]
