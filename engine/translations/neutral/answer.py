"""An answer in one piece: what the events of one come to."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from engine.translations.neutral.arguments import arguments_object
from engine.translations.neutral.content import Block, Extra, Reasoning, Refusal, Text, ToolCall
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    Delta,
    End,
    Event,
    Finish,
    Law,
    Open,
    Sign,
    Start,
    TokenLogprob,
    Tokens,
    Usage,
)
from engine.translations.neutral.members import WrongType


class Candidate(Struct):
    """One of the answers to a request, most often the only one."""

    blocks: list[Block]
    finish: Finish
    logprobs: list[TokenLogprob] = []


class Answer(Struct, kw_only=True):
    """An answer. `extra` are members that only its own language knows."""

    id: str
    model: str
    created: int
    candidates: list[Candidate]
    usage: Usage | None
    extra: Extra = {}


def complete_blocks(candidate: Candidate) -> list[Block]:
    """The blocks without a call whose arguments were cut off at the limit of tokens."""
    blocks = candidate.blocks
    last = blocks[-1] if blocks else None
    if candidate.finish.stop == "length" and isinstance(last, ToolCall):
        try:
            arguments_object(last)
        except WrongType:
            return blocks[:-1]
    return blocks


def collect(events: Iterable[Event]) -> Answer:
    """The answer that complete events come to. Raises BrokenAnswer for events against the law."""
    law, checked = Law(), []
    for event in events:
        law.check(event)
        checked.append(event)
    return assemble(checked)


def assemble(events: Iterable[Event]) -> Answer:
    """The answer that complete events come to, which were held against the law before. Raises
    BrokenAnswer if the last is missing."""
    start, end = Start(), None
    blocks: dict[int, list[Block]] = {}
    logprobs: dict[int, list[TokenLogprob]] = {}
    pieces: dict[int, list[str]] = {}
    for event in events:
        if isinstance(event, Start):
            start = event
        elif isinstance(event, End):
            end = event
        elif isinstance(event, Open):
            blocks.setdefault(event.candidate, []).append(event.block)
            pieces[event.candidate] = []
        elif isinstance(event, Delta):
            pieces[event.candidate].append(event.text)
        elif isinstance(event, Tokens):
            logprobs.setdefault(event.candidate, []).extend(event.logprobs)
        else:
            block = blocks[event.candidate][-1]
            if isinstance(event, Sign):
                _as_reasoning(block).signature = event.signature
            elif isinstance(event, Cite):
                _as_text(block).citations.append(event.citation)
            else:
                _add_text(block, "".join(pieces[event.candidate]))
    if end is None:
        raise BrokenAnswer("the upstream's answer ended before it was complete")
    return Answer(
        id=start.id,
        model=start.model,
        created=start.created,
        candidates=[
            Candidate(blocks.get(index, []), finish, logprobs.get(index, []))
            for index, finish in sorted(end.finishes.items())
        ],
        usage=end.usage or start.usage,
        extra={**start.extra, **end.extra},
    )


def _add_text(block: Block, text: str) -> None:
    if isinstance(block, Text | Refusal | Reasoning):
        block.text += text
    elif isinstance(block, ToolCall):
        block.arguments += text
    elif text:
        raise BrokenAnswer(f"the upstream's answer has text in a {type(block).__name__}")


def _as_reasoning(block: Block) -> Reasoning:
    if isinstance(block, Reasoning):
        return block
    raise BrokenAnswer(f"the upstream's answer signs a {type(block).__name__}")


def _as_text(block: Block) -> Text:
    if isinstance(block, Text):
        return block
    raise BrokenAnswer(f"the upstream's answer has a citation in a {type(block).__name__}")
