"""Hypothesis strategies for neutral answers, and writers of them in every language."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

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
    TokenLogprob,
    Tokens,
)
from engine.translations.neutral.language import Language, TargetLanguage
from engine.translations.neutral.request import ChatRequest, Message, Thinking
from engine.values.usage import Usage
from tests.support import converse_answers

WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
ARGUMENTS = st.dictionaries(WORDS, NUMBERS | WORDS | st.lists(NUMBERS), max_size=3)

CITATIONS = st.builds(Citation, url=WORDS.map("https://a.example/{}".format), title=WORDS)
TEXTS = st.builds(Text, text=WORDS, citations=st.lists(CITATIONS, max_size=2))
REASONINGS = st.builds(
    Reasoning,
    text=WORDS,
    signature=st.none() | st.builds(Signature, st.just("other"), st.just("c2lnbmF0dXJl")),
)
IMAGES = st.just(Media(kind="image", source=Inline("image/png", "iVBORw0KGgo=")))
CALLS = st.builds(
    ToolCall,
    id=st.integers(0, 99).map("call_{}".format),
    name=st.sampled_from(["f", "get_weather"]),
    arguments=ARGUMENTS.map(lambda o: json.dumps(o) if o else ""),
)
LOGPROBS = st.builds(
    TokenLogprob, WORDS, st.sampled_from([-0.5, -2.0]), st.lists(st.just(("x", -1.5)), max_size=2)
)
STOPS: tuple[Stop, ...] = ("end", "length", "filter")


def unique_calls(blocks: list[Block]) -> list[Block]:
    """The blocks with an id of its own for each call."""
    return [
        ToolCall(id=f"call_{number}", name=block.name, arguments=block.arguments)
        if isinstance(block, ToolCall)
        else block
        for number, block in enumerate(blocks)
    ]


BLOCKS = st.lists(
    st.one_of(TEXTS, REASONINGS, CALLS, st.builds(Refusal, text=WORDS)), max_size=5
).map(unique_calls)


def _candidate(blocks: list[Block], stop: Stop, logprobs: list[TokenLogprob]) -> Candidate:
    calls = any(isinstance(block, ToolCall) for block in blocks)
    texts = any(isinstance(block, Text) for block in blocks)
    finish = Finish(stop="tool_calls" if calls and stop == "end" else stop)
    return Candidate(blocks, finish, logprobs if texts else [])


CANDIDATES = st.builds(_candidate, BLOCKS, st.sampled_from(STOPS), st.lists(LOGPROBS, max_size=2))
USAGES = st.builds(
    Usage,
    input=st.integers(10, 99),
    output=st.integers(10, 99),
    cached=st.integers(0, 9),
    reasoning=st.integers(0, 9),
    source=st.just("upstream"),
)
ANSWERS = st.builds(
    Answer,
    id=st.sampled_from(["a1", "chatcmpl-7"]),
    model=st.just("m"),
    created=st.just(1_700_000_000),
    candidates=st.lists(CANDIDATES, min_size=1, max_size=2),
    usage=USAGES,
)


def request_in(language: TargetLanguage, *, stream: bool = False) -> ChatRequest:
    """A request that asks for log probabilities and visible reasoning."""
    return ChatRequest(
        language=language.name,
        model="m",
        messages=[Message(role="user", blocks=[Text(text="Hi")])],
        stream=stream,
        logprobs=True,
        thinking=Thinking(visible=True),
        id="req1",
        time=1_700_000_000,
    )


def events_of(answer: Answer, size: int) -> list[Event]:
    """The events of an answer, its texts in pieces of `size` characters, candidates in turn."""
    answer = copy.deepcopy(answer)
    events: list[Event] = [Start(id=answer.id, model=answer.model, created=answer.created)]
    for index, candidate in enumerate(answer.candidates):
        logprobs = candidate.logprobs
        for block in candidate.blocks:
            if isinstance(block, Text) and logprobs:
                events += _block_events(block, index, size, Tokens(logprobs, index))
                logprobs = []
            else:
                events += _block_events(block, index, size)
    finishes = {index: each.finish for index, each in enumerate(answer.candidates)}
    return [*events, End(finishes=finishes, usage=answer.usage)]


def _block_events(block: Block, index: int, size: int, *more: Event) -> Iterator[Event]:
    text, citations, signature = "", [], None
    if isinstance(block, Text):
        text, citations = block.text, block.citations
        block = Text()
    elif isinstance(block, Reasoning):
        text, signature = block.text, block.signature
        block = Reasoning()
    elif isinstance(block, Refusal):
        text, block = block.text, Refusal()
    elif isinstance(block, ToolCall):
        text, block = block.arguments, ToolCall(id=block.id, name=block.name)
    yield Open(block, index)
    for at in range(0, len(text), size):
        yield Delta(text[at : at + size], index)
    yield from more
    for citation in citations:
        yield Cite(citation, index)
    if signature is not None:
        yield Sign(signature, index)
    yield Close(index)


def write_answer(language: TargetLanguage, answer: Answer) -> bytes:
    """An answer in one piece, in a language (Converse: as its vendor writes it)."""
    if not isinstance(language, Language):
        return json.dumps(converse_answers.as_json(answer)).encode()
    return language.write_answer(copy.deepcopy(answer), request_in(language))


def write_stream(language: TargetLanguage, events: Sequence[Event]) -> bytes:
    """The stream of events, in a language."""
    if not isinstance(language, Language):
        return converse_answers.server_sent(events)
    writer = language.stream_writer(request_in(language, stream=True))
    return b"".join(map(writer.write, events))


ORDER = (Reasoning, Text, Refusal, ToolCall)
"""The order of blocks in chat completions, which have one member for each kind."""


def sorted_by_kind(answer: Answer) -> Answer:
    """The answer with its blocks in the order of chat completions."""
    answer = copy.deepcopy(answer)
    for candidate in answer.candidates:
        candidate.blocks.sort(key=lambda block: ORDER.index(type(block)))
    return answer


def without_late_citations(answer: Answer) -> Answer:
    """The answer without citations of texts that other blocks follow: some languages give them at
    the end of a stream, and others have no place for them then."""
    answer = copy.deepcopy(answer)
    for candidate in answer.candidates:
        for block in candidate.blocks[:-1]:
            if isinstance(block, Text):
                block.citations = []
    return answer


def content_of(answer: Answer, *, ordered: bool = True, usage: bool = True) -> list[object]:
    """The content of an answer for comparison; if not `ordered`, by kind of block."""
    contents: list[object] = [answer.id, answer.model, answer.usage if usage else None]
    for candidate in answer.candidates:
        blocks = [(type(block).__name__, *_content(block)) for block in candidate.blocks]
        finish = (candidate.finish.stop, candidate.finish.explanation)
        contents += [blocks if ordered else _by_kind(blocks), finish, candidate.logprobs]
    return contents


def _content(block: Block) -> tuple[str, list[Any]]:
    if isinstance(block, Text):
        return block.text, [(each.url, each.title) for each in block.citations]
    if isinstance(block, ToolCall):
        return block.name, [block.id, block.arguments or "{}"]
    if isinstance(block, Reasoning):
        return block.text, [] if block.signature is None else [block.signature]
    return (block.text, []) if isinstance(block, Refusal) else ("", [block])


def _by_kind(blocks: list[tuple[str, str, list[Any]]]) -> dict[str, tuple[str, list[Any]]]:
    kinds: dict[str, tuple[str, list[Any]]] = {}
    for kind, text, more in blocks:
        before = kinds.get(kind, ("", []))
        kinds[kind] = (before[0] + text, [*before[1], *more])
    return kinds
