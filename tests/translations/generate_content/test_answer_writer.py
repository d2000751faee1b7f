"""Answers in one piece, read by the SDK."""

from __future__ import annotations

from engine.translations.generate_content.answer_writer import write_answer
from engine.translations.neutral.answer import Answer, Candidate
from engine.translations.neutral.content import (
    Foreign,
    Inline,
    Link,
    Media,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    End,
    Event,
    Finish,
    TokenLogprob,
)
from engine.values.usage import Usage
from tests.support.each import each
from tests.translations.generate_content.answer_writing import (
    CALL,
    END,
    FOREIGN,
    MARK,
    MARKED_CALL,
    OWN,
    SEALED,
    Json,
    block,
    json_of,
    parts_of,
    pieces,
    request,
    whole_parts,
)
from tests.translations.generate_content.documents import response


def test_an_answer_has_its_candidates_and_its_usage() -> None:
    candidates = [
        Candidate([Text(text="a")], Finish(stop="end"), [TokenLogprob("a", -0.5)]),
        Candidate([], Finish(stop="length")),
    ]
    answer = Answer(id="", model="", created=0, candidates=candidates, usage=Usage(input=9))
    read = response(write_answer(answer, request()))
    first, second = read.candidates or []
    assert (first.index, second.index) == (0, 1)
    assert (first.finish_reason, second.finish_reason) == ("STOP", "MAX_TOKENS")
    assert first.logprobs_result is not None
    assert second.logprobs_result is None
    assert read.usage_metadata is not None
    assert (read.text, read.usage_metadata.prompt_token_count) == ("a", 9)
    assert (read.response_id, read.model_version) == ("q", "m")


def test_a_call_that_was_cut_off_at_the_limit_is_left_out() -> None:
    end = End(finishes={0: Finish(stop="length")})
    cut = [*block(Text(), "a"), *block(ToolCall(id="c", name="f"), '{"a":'), end]
    candidate = json_of(cut)["candidates"][0]
    assert candidate["content"]["parts"] == [{"text": "a"}]
    assert candidate["finishReason"] == "MAX_TOKENS"


def test_words_of_refusal_end_the_answer_for_safety() -> None:
    *_, last = pieces([*block(Refusal(), "no"), END])
    assert last["candidates"][0]["finishReason"] == "SAFETY"
    assert json_of([*block(Refusal(), "no"), END])["candidates"][0]["finishReason"] == "SAFETY"


@each(
    ("events", "parts"),
    [
        (block(Text(), "a"), [{"text": "a"}]),
        (block(Text(), "", ""), []),
        (block(Refusal(), "no"), [{"text": "no"}]),
        (block(ToolCall(id="c", name="f"), '{"a":1.0}'), [MARKED_CALL]),
        (
            block(ToolCall(id="c", name="f")),
            [
                {
                    "functionCall": {"id": "c", "name": "f", "args": {}},
                    "thoughtSignature": MARK,
                }
            ],
        ),
        (
            [
                *block(Text(), "a"),
                *block(ToolCall(id="b", name="f"), '{"a":1.0}'),
                *block(ToolCall(id="c", name="f"), '{"a":1.0}'),
            ],
            [
                {"text": "a"},
                {**MARKED_CALL, "functionCall": {**CALL["functionCall"], "id": "b"}},
                CALL,
            ],
        ),
        (block(Reasoning(), "hm"), [{"text": "hm", "thought": True}]),
        (
            [*block(Reasoning(), "hm", sign=OWN), *block(Text(), "a")],
            [{"text": "hm", "thought": True}, {"text": "a", "thoughtSignature": "UzE="}],
        ),
        (
            [*block(Reasoning(), sign=FOREIGN), *block(ToolCall(id="c", name="f"), '{"a":1.0}')],
            [{**CALL, "thoughtSignature": SEALED}],
        ),
        (
            [*block(Reasoning(), sign=OWN), *block(Reasoning(), sign=FOREIGN), *block(Text(), "a")],
            [{"text": "", "thoughtSignature": "UzE="}, {"text": "a", "thoughtSignature": SEALED}],
        ),
        (
            [*block(Text(), "a"), *block(Reasoning(), sign=FOREIGN)],
            [{"text": "a"}, {"text": "", "thoughtSignature": SEALED}],
        ),
        (
            block(Media(kind="image", source=Inline("image/png", "AA=="))),
            [{"inlineData": {"mimeType": "image/png", "data": "AA=="}}],
        ),
        (
            block(Media(kind="image", source=Link("https://x.test/a"))),
            [{"fileData": {"fileUri": "https://x.test/a"}}],
        ),
        (block(Foreign(kind="x", omissible=True)), []),
    ],
)
def test_blocks_are_parts(events: list[Event], parts: list[Json]) -> None:
    assert parts_of(events) == [part for each in parts for part in streamed(each)]
    assert whole_parts(events) == parts


def streamed(part: Json) -> list[Json]:
    """The parts of a stream for one of an answer in one piece. A text with a signature is two:
    clients end a text at its signature, and have another one behind it."""
    if not part.get("text") or "thoughtSignature" not in part:
        return [part]
    return [{**part, "text": ""}, {"text": part["text"]}]


@each("visible", [None, False])
def test_thoughts_that_were_not_wanted_leave_their_signature(visible: bool | None) -> None:
    events = [*block(Reasoning(), "hm", sign=OWN), *block(Text(), "a")]
    chat_request = request(visible=visible)
    streamed_parts = [{"text": "", "thoughtSignature": "UzE="}, {"text": "a"}]
    assert parts_of(events, chat_request) == streamed_parts
    assert whole_parts(events, chat_request) == [{"text": "a", "thoughtSignature": "UzE="}]
