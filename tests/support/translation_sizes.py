"""Requests, answers and streams of any size in any language, to measure growth of the cost.

They are made in the neutral form and written by the language itself. `REQUESTS` and `ANSWERS` are
the kinds: each is a function of the number of parts. `REQUEST_WORKS` and `ANSWER_WORKS` are what is
done with them: each takes a language, a kind and the number of parts, and returns work to be done
once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from msgspec import Raw

from engine.translations import languages
from engine.translations.neutral.answer import collect
from engine.translations.neutral.content import (
    Block,
    Citation,
    Inline,
    Media,
    PlainText,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
    ToolResult,
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
    TokenLogprob,
    Tokens,
)
from engine.translations.neutral.language import Language, RequestLine, TargetLanguage
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.refusals import LossRules
from engine.translations.neutral.request import ChatRequest, Message, Role, Tool, ToolChoice
from engine.translations.translation import Translation
from engine.values.wildcard import Patterns
from tests.support import converse_answers
from tests.support.translations import event_data

IMAGE = Media(kind="image", source=Inline("image/png", "iVBORw0KGgo="))


def _message(role: Role, *blocks: Block) -> Message:
    return Message(role=role, blocks=list(blocks))


def _words(number: int) -> str:
    """About 200 characters, so that copying them again and again is seen."""
    return f"{number} words " * 20


def _text(number: int) -> Text:
    return Text(text=_words(number))


def _call(number: int) -> ToolCall:
    return ToolCall(id=f"call_{number}", name=f"f{number % 7}", arguments='{"a":1}')


def _result(number: int) -> ToolResult:
    return ToolResult(id=f"call_{number}", content=[_text(number)])


def _request(messages: list[Message], tools: int = 1) -> ChatRequest:
    schema = Raw(b'{"type":"object","properties":{}}')
    return ChatRequest(
        language="",
        model="m",
        messages=messages,
        tools=[Tool(name=f"f{number}", schema=schema) for number in range(tools)],
    )


def _one_role(count: int) -> ChatRequest:
    return _request([_message("user", _text(number)) for number in range(count)])


def _alternating(count: int) -> ChatRequest:
    roles: tuple[Role, Role] = ("user", "assistant")
    return _request([_message(roles[number % 2], _text(number)) for number in range(count + 1)])


def _rounds(count: int) -> ChatRequest:
    messages = [_message("user", _text(0))]
    for number in range(count):
        messages += [_message("assistant", _call(number)), _message("user", _result(number))]
    return _request(messages)


def _parts(count: int) -> ChatRequest:
    return _request([_message("user", *map(_text, range(count)))])


def _tools(count: int) -> ChatRequest:
    request = _request([_message("user", _text(0))], count)
    names = tuple(tool.name for tool in request.tools)
    request.tool_choice = ToolChoice("any", names)
    return request


def _parallel_calls(count: int) -> ChatRequest:
    calls, results = map(_call, range(count)), map(_result, reversed(range(count)))
    turns = [_message("assistant", *calls), _message("user", *results)]
    return _request([_message("user", _text(0)), *turns])


def _images_of_results(count: int) -> ChatRequest:
    request = _parallel_calls(count)
    for result in request.messages[-1].blocks:
        assert isinstance(result, ToolResult)
        result.content.append(IMAGE)
    return request


def _instructions(count: int) -> ChatRequest:
    return _request(
        [_message("user", _text(0)), *(_message("system", _text(n)) for n in range(count))]
    )


def _assistants_first(count: int) -> ChatRequest:
    messages = []
    for number in range(count):
        messages += [_message("assistant", _text(number)), _message("user", Text(text=""))]
    return _request([*messages, _message("user", _text(0))])


def _thoughts(count: int) -> ChatRequest:
    thoughts = [
        Reasoning(text=_words(number), signature=Signature("other", "c2ln"))
        for number in range(count)
    ]
    turns = [_message("assistant", *thoughts, _text(1)), _message("user", _text(2))]
    return _request([_message("user", _text(0)), *turns])


def _documents(count: int) -> ChatRequest:
    return _request(
        [_message("user", *(Media(kind="document", source=PlainText("x")) for _ in range(count)))]
    )


def _marks(count: int) -> ChatRequest:
    return _request([_message("user", *(Text(text="x", cache="5m") for _ in range(count)))])


REQUESTS: dict[str, Callable[[int], ChatRequest]] = {
    "messages of one role": _one_role,
    "alternating messages": _alternating,
    "rounds of tool calls": _rounds,
    "parts of a message": _parts,
    "tools": _tools,
    "parallel calls": _parallel_calls,
    "images in results": _images_of_results,
    "instructions between turns": _instructions,
    "assistants first": _assistants_first,
    "thoughts": _thoughts,
    "documents": _documents,
    "marks for the cache": _marks,
}


def request_body(language: Language, kind: str, count: int) -> bytes:
    """A request of a kind with `count` parts, in a language."""
    request = REQUESTS[kind](count)
    request.language = language.name
    for message in request.messages:
        for block in message.blocks:
            if isinstance(block, Reasoning):
                block.signature = Signature(language.name, "reasoning_content")
    return language.write_request(request, "m", Losses(Patterns(()))).body


def _block(block: Block, *contents: Event) -> Iterator[Event]:
    yield Open(block)
    yield from contents
    yield Close()


def _many(block: Callable[[int], Block], count: int) -> Iterator[Event]:
    for number in range(count):
        yield from _block(block(number), Delta('{"a":1}'))


def _citations(count: int) -> Iterator[Event]:
    cites = [Cite(Citation(url=f"https://a.b/{number}", title="t")) for number in range(count)]
    return _block(Text(), Delta("text"), *cites)


def _late_citations(count: int) -> Iterator[Event]:
    texts = (_block(Text(), Delta("text")) for _ in range(count))
    yield from chain.from_iterable(texts)
    for start in range(0, 4 * count, 4):
        yield Cite(Citation(url="https://a.b", title="t", start=start, end=start + 4), late=True)


def _tokens(count: int) -> Iterator[Event]:
    for number in range(count):
        yield Delta(f"t{number} ")
        yield Tokens([TokenLogprob(f"t{number} ", -0.5, [("x", -1.5)])])


ANSWERS: dict[str, Callable[[int], Iterator[Event]]] = {
    "pieces of text": lambda n: _block(Text(), *(Delta(_words(i)) for i in range(n))),
    "pieces of thoughts": lambda n: _block(
        Reasoning(), *(Delta(_words(i)) for i in range(n)), Sign(Signature("other", "c2ln"))
    ),
    "pieces of arguments": lambda n: _block(
        ToolCall(id="call_1", name="f"),
        *(Delta(p) for p in ('{"a":["', *map(_words, range(n)), '"]}')),
    ),
    "texts": lambda n: _many(lambda _: Text(), n),
    "refusals": lambda n: _many(lambda _: Refusal(), n),
    "thoughts": lambda n: _many(lambda _: Reasoning(), n),
    "calls": lambda n: _many(lambda i: ToolCall(id=f"call_{i}", name="f"), n),
    "citations": _citations,
    "late citations": _late_citations,
    "tokens": lambda n: _block(Text(), *_tokens(n)),
}


def answer_events(kind: str, count: int) -> list[Event]:
    """The events of an answer of a kind with `count` parts."""
    finish = Finish(stop="end")
    return [Start(id="a1", model="m"), *ANSWERS[kind](count), End(finishes={0: finish})]


def answer_stream(language: TargetLanguage, kind: str, count: int) -> list[bytes]:
    """An answer as the events of a stream in a language."""
    if not isinstance(language, Language):
        return [converse_answers.server_sent(answer_events(kind, count))]
    writer = language.stream_writer(ChatRequest(language=language.name, model="m", messages=[]))
    return [writer.write(event) for event in answer_events(kind, count)]


def answer_body(language: TargetLanguage, kind: str, count: int) -> bytes:
    """An answer in one piece, in a language."""
    if not isinstance(language, Language):
        return json.dumps(converse_answers.as_json(collect(answer_events(kind, count)))).encode()
    request = ChatRequest(language=language.name, model="m", messages=[])
    return language.write_answer(collect(answer_events(kind, count)), request)


Work = Callable[[], object]
SizedWork = Callable[[Any, str, int], Work]
MODELS = {
    "generate_content": "gemini-3-pro",
    "messages": "claude-opus-4-1",
    "converse": "anthropic.claude-opus-4-1-20250805-v1:0",
}


def write_request(language: TargetLanguage, kind: str, count: int) -> Work:
    request = REQUESTS[kind](count)
    model = MODELS.get(language.name, "gpt-5")
    return lambda: language.write_request(request, model, Losses(Patterns(())))


def read_request(language: Language, kind: str, count: int) -> Work:
    body = request_body(language, kind, count)
    return lambda: language.read_request(body, RequestLine(model="m"))


def read_answer(language: TargetLanguage, kind: str, count: int) -> Work:
    body = answer_body(language, kind, count)
    return lambda: collect(language.read_answer(body))


def read_stream(language: TargetLanguage, kind: str, count: int) -> Work:
    data = event_data(b"".join(answer_stream(language, kind, count)))

    def read() -> None:
        reader = language.stream_reader()
        for each in data:
            for _ in reader.read(each):
                pass
        list(reader.end())

    return read


def write_stream(language: Language, kind: str, count: int) -> Work:
    events = answer_events(kind, count)
    writer = language.stream_writer(ChatRequest(language="", model="m", messages=[]))
    return lambda: [writer.write(event) for event in events]


def write_answer(language: Language, kind: str, count: int) -> Work:
    answer = collect(answer_events(kind, count))
    request = ChatRequest(language="", model="m", messages=[])
    return lambda: language.write_answer(answer, request)


def translate_to_stream(language: Language, kind: str, count: int) -> Work:
    """An answer in one piece for a caller that asked for a stream, from the next language."""
    names = [each.name for each in languages()]
    target = languages()[(names.index(language.name) + 1) % len(names)]
    body, request = (
        answer_body(target, kind, count),
        request_body(language, "parts of a message", 1),
    )
    line = RequestLine(model="m")
    exchange = Translation(language, target).request(request, line, "m", LossRules(lossy=True))
    exchange.request.stream = True
    return lambda: exchange.answer(body)


REQUEST_WORKS: list[SizedWork] = [read_request, write_request]
ANSWER_WORKS: list[SizedWork] = [
    read_answer,
    write_answer,
    read_stream,
    write_stream,
    translate_to_stream,
]
