"""Responses answers -> neutral events, in one piece and in a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Raw

from engine.translations.neutral.content import (
    Block,
    Foreign,
    Reasoning,
    Refusal,
    Signature,
    Text,
    ToolCall,
)
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
    TokenLogprob,
    Tokens,
    UpstreamError,
    Usage,
)
from engine.translations.neutral.members import Members
from engine.translations.neutral.signatures import unseal
from engine.translations.responses.item_reader import NAME, read_citations


def read_answer(body: bytes) -> Iterator[Event]:
    """The events of an answer in one piece. Raises WrongType, BrokenAnswer or UpstreamError."""
    response = Members(body)
    if "error" in response and "status" not in response:
        raise error_of(response.members("error"))
    yield read_start(response)
    calls = False
    for raw, item in read_items(response):
        calls = calls or item.peek("type") == b'"function_call"'
        yield from read_item(raw, item)
    yield read_end(response, calls)


def read_items(response: Members) -> Iterator[tuple[Raw, Members]]:
    """The items of an answer, with their JSON texts."""
    for index, raw in enumerate(response.items("output") or ()):
        yield raw, response.child(raw, f"output[{index}]")


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
        yield Open(call_of(item))
        if arguments := item.text("arguments"):
            yield Delta(arguments)
        yield Close()
    elif kind == "reasoning":
        yield Open(Reasoning(id=item.text("id") or ""))
        if text := reasoning_text(item):
            yield Delta(text)
        if (signature := signature_of(item)) is not None:
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
    if tokens := read_tokens(part):
        yield Tokens(tokens)
    yield Close()


def call_of(item: Members) -> ToolCall:
    """The call of an item, without its arguments. Raises BrokenAnswer."""
    name = item.text("name")
    if not name:
        raise BrokenAnswer("the upstream's answer has a tool call without a name")
    return ToolCall(id=item.text("call_id") or item.text("id") or "", name=name)


def reasoning_text(item: Members) -> str:
    """The summary of an item of reasoning, or its text."""
    summary = [each.text("text") or "" for each in item.objects("summary")]
    text = "\n\n".join(summary)
    return text or "".join(each.text("text") or "" for each in item.objects("content"))


def signature_of(item: Members) -> Signature | None:
    """The signature of an item of reasoning."""
    sealed = item.text("encrypted_content")
    return unseal(sealed, NAME) if sealed else None


def read_tokens(part: Members) -> list[TokenLogprob]:
    """The log probabilities of a text."""
    return [
        TokenLogprob(
            each.text("token") or "",
            each.number("logprob") or 0.0,
            [
                (top.text("token") or "", top.number("logprob") or 0.0)
                for top in each.objects("top_logprobs")
            ],
        )
        for each in part.objects("logprobs")
    ]


def read_end(response: Members, calls: bool) -> End:
    """The end of an answer; `calls`: it has tool calls. Raises BrokenAnswer or UpstreamError."""
    status = response.text("status") or "completed"
    if status == "failed" or "error" in response:
        raise error_of(response.members("error"))
    if status == "completed":
        finish = Finish(stop="tool_calls" if calls else "end", native=status)
    elif status == "incomplete":
        details = response.members("incomplete_details")
        reason = details.text("reason") if details is not None else None
        filtered = reason == "content_filter"
        finish = Finish(stop="filter" if filtered else "length", native=reason or status)
    else:
        raise BrokenAnswer(f"the upstream's answer ended with the status '{status[:40]}'")
    return End(finishes={0: finish}, usage=_read_usage(response.members("usage")))


def _read_usage(counts: Members | None) -> Usage | None:
    if counts is None:
        return None
    inner, outer = counts.members("input_tokens_details"), counts.members("output_tokens_details")
    return Usage(
        input=counts.integer("input_tokens") or 0,
        output=counts.integer("output_tokens") or 0,
        cached=(inner.integer("cached_tokens") or 0) if inner is not None else 0,
        cache_write=(inner.integer("cache_write_tokens") or 0) if inner is not None else 0,
        reasoning=(outer.integer("reasoning_tokens") or 0) if outer is not None else 0,
    )


_STATUSES = {
    "invalid_prompt": 400,
    "invalid_request_error": 400,
    "invalid_image": 400,
    "insufficient_quota": 429,
    "rate_limit_exceeded": 429,
    "server_is_overloaded": 503,
}


def error_of(error: Members | None) -> UpstreamError:
    """The error inside an answer or an event."""
    if error is None:
        return UpstreamError(502, "")
    code = error.text("code") if error.is_text("code") else None
    code = code or (error.text("type") if error.is_text("type") else None) or ""
    return UpstreamError(_STATUSES.get(code, 502), error.text("message") or "", code)


def read_error(status: int, document: Any) -> UpstreamError:
    """The error in an error response; `document` is its JSON, None for none."""
    error = document.get("error", document) if isinstance(document, dict) else document
    if not isinstance(error, dict):
        return UpstreamError(status, error if isinstance(error, str) else "")
    message, code = error.get("message"), error.get("code") or error.get("type")
    return UpstreamError(
        status,
        message if isinstance(message, str) else "",
        code if isinstance(code, str) else "",
    )
