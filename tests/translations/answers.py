"""Neutral answers and their events, for tests of what writes them."""

from __future__ import annotations

from typing import Any

from engine.translations.neutral.answer import Answer, Candidate
from engine.translations.neutral.content import (
    Block,
    Citation,
    Inline,
    Media,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
from engine.translations.neutral.events import (
    Cite,
    Close,
    Delta,
    End,
    Event,
    Finish,
    Open,
    Sign,
    Start,
    Stop,
    Tokens,
)
from engine.values.usage import Usage

USAGE = Usage(input=9, output=4, cached=3, cache_write=1, reasoning=2, source="upstream")


def blocks() -> list[Block]:
    """One block of each kind that an answer of OpenAI's can have."""
    return [
        Reasoning(text="hm", signature=Signature("messages", "s")),
        Text(text="I look.", citations=[Citation("https://a", "A", start=0, end=1)]),
        Media(kind="image", source=Inline("image/png", "iVBO")),
        Text(text="Well"),
        ToolCall(id="c1", name="look", arguments='{"a":1.0}'),
        ToolCall(id="c2", name="time"),
        Refusal(text="No."),
    ]


def answer(*content: Block, stop: Stop = "end", **finish: Any) -> Answer:
    """An answer with one candidate."""
    candidate = Candidate([*content], Finish(stop=stop, **finish))
    return Answer(id="a1", model="m", created=7, candidates=[candidate], usage=USAGE)


def events_of(full_answer: Answer, pieces: int = 3) -> list[Event]:
    """The events of an answer, its texts in pieces of so many characters."""
    events: list[Event] = [
        Start(id=full_answer.id, model=full_answer.model, created=full_answer.created)
    ]
    for index, candidate in enumerate(full_answer.candidates):
        for block in candidate.blocks:
            text = _text_of(block)
            events.append(Open(_empty(block), index))
            events += [Delta(text[at : at + pieces], index) for at in range(0, len(text), pieces)]
            if isinstance(block, Text):
                events += [Cite(each, index) for each in block.citations]
                if candidate.logprobs:
                    events.append(Tokens(candidate.logprobs, index))
            if isinstance(block, Reasoning) and block.signature is not None:
                events.append(Sign(block.signature, index))
            events.append(Close(index))
    finishes = {index: each.finish for index, each in enumerate(full_answer.candidates)}
    return [*events, End(finishes=finishes, usage=full_answer.usage)]


def _text_of(block: Block) -> str:
    if isinstance(block, ToolCall):
        return block.arguments
    return block.text if isinstance(block, Text | Refusal | Reasoning) else ""


def _empty(block: Block) -> Block:
    if isinstance(block, ToolCall):
        return ToolCall(id=block.id, name=block.name)
    return type(block)() if isinstance(block, Text | Refusal | Reasoning) else block
