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
)
from engine.translations.neutral.shapes import read_shape
from engine.translations.openai_answer_fields import error_inside, read_logprobs
from engine.translations.responses.answer_fields import (
    NAME,
    read_citations,
    read_counts,
    read_signature,
    thoughts,
)
from engine.translations.responses.answer_shapes import (
    HEAD,
    INCOMPLETE_DETAILS,
    ITEM,
    ITEM_ID,
    MESSAGE,
    RESPONSE,
    THOUGHTS,
    WHOLE_CALL,
    Call,
    Head,
    Part,
    Response,
    TextPart,
    Thoughts,
)

NULL = Raw(b"null")
FUNCTION_CALL = "function_call"


def read_answer(body: bytes) -> Iterator[Event]:
    """The events of an answer in one piece. Raises WrongType, BrokenAnswer or UpstreamError."""
    response = read_shape(RESPONSE, body)
    if response.error != NULL and response.status is None:
        raise error_inside(msgspec.json.decode(body))
    if response.output is None and response.error == NULL:
        raise BrokenAnswer("the upstream's answer has no output")
    yield read_start(read_shape(HEAD, body))
    calls = False
    for kind, raw, place in read_items(response):
        calls = calls or kind == FUNCTION_CALL
        yield from read_item(kind, raw, place)
    yield read_end(response, calls)


def read_items(response: Response) -> Iterator[tuple[str, Raw, str]]:
    """The items of an answer: their types ("" for none), JSON texts and places."""
    for index, raw in enumerate(response.output or ()):
        place = f"output[{index}]"
        yield read_shape(ITEM, raw, place).type or "", raw, place


def read_start(head: Head) -> Start:
    """The beginning of an answer."""
    return Start(id=head.id or "", model=head.model or "", created=int(head.created_at or 0))


def read_item(kind: str, raw: Raw, place: str) -> list[Event]:
    """The events of a complete item of a type. Raises BrokenAnswer."""
    if kind == "message":
        message = read_shape(MESSAGE, raw, place)
        return [event for part in message.content or () for event in _read_part(part)]
    if kind == FUNCTION_CALL:
        call = read_shape(WHOLE_CALL, raw, place)
        delta: list[Event] = [Delta(call.arguments)] if call.arguments else []
        return [Open(read_call(call, raw, place)), *delta, Close()]
    if kind == "reasoning":
        return _read_reasoning(read_shape(THOUGHTS, raw, place))
    return [Open(Foreign(language=NAME, kind=kind, raw=raw)), Close()]


def _read_part(part: Part) -> list[Event]:
    is_refusal = part.type == "refusal"
    block: Block = Refusal() if is_refusal else Text()
    events: list[Event] = [Open(block)]
    if text := part.refusal if is_refusal else part.text:
        events.append(Delta(text))
    events += map(Cite, read_citations(part.annotations))
    if tokens := read_logprobs(part.logprobs):
        events.append(Tokens(tokens))
    events.append(Close())
    return events


def _read_reasoning(item: Thoughts) -> list[Event]:
    events: list[Event] = [Open(Reasoning(id=item.id or ""))]
    if text := read_thoughts(item):
        events.append(Delta(text))
    signature = read_signature(item.encrypted_content or "", item.id or "")
    if signature is not None:
        events.append(Sign(signature))
    events.append(Close())
    return events


def read_thoughts(item: Thoughts) -> str:
    """The text of an item of reasoning."""
    return thoughts(_texts(item.summary), _texts(item.content))


def _texts(parts: list[TextPart] | None) -> list[str]:
    return [part.text or "" for part in parts or ()]


def read_call(call: Call, raw: Raw, place: str) -> ToolCall:
    """The call of an item, without its arguments. Raises BrokenAnswer."""
    if not call.name:
        raise BrokenAnswer("the upstream's answer has a tool call without a name")
    return ToolCall(id=call.call_id or read_shape(ITEM_ID, raw, place).id or "", name=call.name)


def read_end(response: Response, calls: bool) -> End:
    """The end of an answer; `calls`: it has tool calls. Raises BrokenAnswer or UpstreamError."""
    status = response.status or "completed"
    if status == "failed" or response.error != NULL:
        raise error_inside({"error": msgspec.json.decode(response.error)})
    if status == "completed":
        finish = Finish(stop="tool_calls" if calls else "end", native=status)
    elif status == "incomplete":
        details = read_shape(INCOMPLETE_DETAILS, response.incomplete_details, "incomplete_details")
        reason = None if details is None else details.reason
        filtered = reason == "content_filter"
        finish = Finish(stop="filter" if filtered else "length", native=reason or status)
    else:
        raise BrokenAnswer(f"the upstream's answer ended with the status '{status[:40]}'")
    return End(finishes={0: finish}, usage=read_counts(response.usage))
