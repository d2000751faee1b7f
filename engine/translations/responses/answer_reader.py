"""Responses answers -> neutral events, in one piece and in a stream."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Raw

from engine.translations.neutral.content import Block, Foreign, Reasoning, Refusal, Text, ToolCall
from engine.translations.neutral.events import (
    BrokenAnswer,
    Cite,
    Close,
    Delta,
    End,
    Event,
    Finish,
    Open,
    Sign,
    Start,
    Tokens,
    UpstreamError,
)
from engine.translations.neutral.members import Members
from engine.translations.openai_answer_fields import error_inside, read_logprobs, read_usage
from engine.translations.responses.answer_fields import (
    NAME,
    USAGE,
    read_citations,
    read_signature,
    read_thoughts,
)


def read_answer(body: bytes) -> Iterator[Event]:
    """The events of an answer in one piece. Raises WrongType, BrokenAnswer or UpstreamError."""
    response = Members(body)
    if "error" in response and "status" not in response:
        raise error_inside(msgspec.json.decode(body))
    if "output" not in response and "error" not in response:
        raise BrokenAnswer("the upstream's answer has no output")
    yield read_start(response)
    calls = False
    for raw, item in read_items(response):
        calls = calls or is_call(item)
        yield from read_item(raw, item)
    yield read_end(response, calls)


def read_items(response: Members) -> Iterator[tuple[Raw, Members]]:
    """The items of an answer, with their JSON texts."""
    for index, raw in enumerate(response.items("output") or ()):
        yield raw, response.child(raw, f"output[{index}]")


def is_call(item: Members) -> bool:
    """Whether an item calls a function."""
    return item.peek("type") == b'"function_call"'


def read_start(response: Members) -> Start:
    """The beginning of an answer."""
    return Start(
        id=response.text("id") or "",
        model=response.text("model") or "",
        created=int(response.number("created_at") or 0),
    )


def read_item(raw: Raw, item: Members) -> Iterator[Event]:
    """The events of a complete item."""
    kind = item.text("type")
    if kind == "message":
        for part in item.objects("content"):
            yield from _read_part(part)
    elif kind == "function_call":
        yield Open(read_call(item))
        if arguments := item.text("arguments"):
            yield Delta(arguments)
        yield Close()
    elif kind == "reasoning":
        item_id = item.text("id") or ""
        yield Open(Reasoning(id=item_id))
        if text := read_thoughts(item):
            yield Delta(text)
        if (signature := read_signature(item, item_id)) is not None:
            yield Sign(signature)
        yield Close()
    else:
        yield Open(Foreign(language=NAME, kind=kind or "", raw=raw))
        yield Close()


def _read_part(part: Members) -> Iterator[Event]:
    kind = part.text("type")
    block: Block = Refusal() if kind == "refusal" else Text()
    yield Open(block)
    if text := part.text("refusal" if kind == "refusal" else "text"):
        yield Delta(text)
    for citation in read_citations(part):
        yield Cite(citation)
    if tokens := read_logprobs(part, "logprobs"):
        yield Tokens(tokens)
    yield Close()


def read_call(item: Members) -> ToolCall:
    """The call of an item, without its arguments. Raises BrokenAnswer."""
    name = item.text("name")
    if not name:
        raise BrokenAnswer("the upstream's answer has a tool call without a name")
    return ToolCall(id=item.text("call_id") or item.text("id") or "", name=name)


def read_end(response: Members, calls: bool) -> End:
    """The end of an answer; `calls`: it has tool calls. Raises BrokenAnswer or UpstreamError."""
    status = response.text("status") or "completed"
    if status == "failed" or "error" in response:
        raise _error(response)
    if status == "completed":
        finish = Finish(stop="tool_calls" if calls else "end", native=status)
    elif status == "incomplete":
        details = response.members("incomplete_details")
        reason = details.text("reason") if details is not None else None
        filtered = reason == "content_filter"
        finish = Finish(stop="filter" if filtered else "length", native=reason or status)
    else:
        raise BrokenAnswer(f"the upstream's answer ended with the status '{status[:40]}'")
    return End(finishes={0: finish}, usage=read_usage(response.members("usage"), USAGE))


def _error(response: Members) -> UpstreamError:
    error = response.raw("error")
    return error_inside({"error": None if error is None else msgspec.json.decode(error)})
