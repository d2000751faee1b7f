"""Streams of the OpenAI dialect: a whole answer as the stream that the request wanted, as SDKs read
an empty stream of its JSON; and `stream_options.include_usage`, which the gateway sets where the
caller did not, and then removes the event that only reports usage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.dialects.interface.streams import END_MARKER, objects_in, write_stream
from engine.dialects.interface.usage import Edit, UsageOption
from engine.values.event_json import event_json
from engine.values.json_spans import Ambiguous, Buffer, span
from engine.values.trees import Json

_ENDS = {
    "completed": "response.completed",
    "incomplete": "response.incomplete",
    "failed": "response.failed",
}
"""The last event of a stream by the status of its response."""


def events_of(answer: object) -> bytes:
    """The server-sent events of an answer of Chat Completions, Completions or Responses, `b""` of
    any other."""
    if not isinstance(answer, dict):
        return b""
    if answer.get("object") == "response":
        end = _ENDS.get(str(answer.get("status")), "")
        return write_stream(_named(_response(answer, end))) if end else b""
    choices = objects_in(answer.get("choices"))
    if choices and all(isinstance(choice.get("message"), dict) for choice in choices):
        chunks = _chunks(answer, choices)
    elif choices and all(isinstance(choice.get("text"), str) for choice in choices):
        chunks = iter((answer,))
    else:
        return b""
    events = write_stream(("", chunk) for chunk in chunks)
    return b"%bdata: %b\n\n" % (events, END_MARKER) if events else b""


def _chunks(answer: Json, choices: list[Json]) -> Iterator[Json]:
    """The messages, their finish reasons, and the usage, in the order of the vendor."""
    chunk = {**answer, "object": "chat.completion.chunk"}
    usage, starts, ends = chunk.pop("usage", None), [], []
    for position, choice in enumerate(choices):
        start = {"index": position, **choice, "finish_reason": None}
        start["delta"] = _delta(start.pop("message"))
        starts.append(start)
        reason = choice.get("finish_reason")
        ends.append({"index": start["index"], "delta": {}, "finish_reason": reason})
    yield {**chunk, "choices": starts}
    yield {**chunk, "choices": ends}
    if usage is not None:
        yield {**chunk, "choices": [], "usage": usage}


def _delta(message: Json) -> Json:
    calls = objects_in(message.get("tool_calls"))
    numbered = [{"index": index, **call} for index, call in enumerate(calls)]
    return {**message, "tool_calls": numbered} if numbered else message


def _named(events: Iterator[Json]) -> Iterator[tuple[str, Json]]:
    for number, event in enumerate(events):
        yield event["type"], {**event, "sequence_number": number}


def _response(answer: Json, end: str) -> Iterator[Json]:
    head = {**answer, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": head}
    for index, item in enumerate(objects_in(answer.get("output"))):
        at = {"output_index": index, "item_id": item.get("id", "")}
        yield from _item(item, at)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": end, "response": answer}


def _item(item: Json, at: Json) -> Iterator[Json]:
    """The beginning of an item, and the text or the arguments in it; others are whole at once."""
    added = {"type": "response.output_item.added", "output_index": at["output_index"]}
    if item.get("type") == "message":
        yield {**added, "item": {**item, "status": "in_progress", "content": []}}
        for index, part in enumerate(objects_in(item.get("content"))):
            yield from _part(part, {**at, "content_index": index})
    elif item.get("type") == "function_call":
        yield {**added, "item": {**item, "status": "in_progress", "arguments": ""}}
        arguments = item.get("arguments", "")
        kind = "response.function_call_arguments"
        yield {**at, "type": f"{kind}.delta", "delta": arguments}
        yield {**at, "type": f"{kind}.done", "name": item.get("name"), "arguments": arguments}
    else:
        yield {**added, "item": item}


def _part(part: Json, at: Json) -> Iterator[Json]:
    """The part of a message: a text or a refusal."""
    member = "refusal" if part.get("type") == "refusal" else "text"
    kind = "response.refusal" if member == "refusal" else "response.output_text"
    more: Json = {} if member == "refusal" else {"logprobs": []}
    text = part.get(member, "")
    yield {**at, "type": "response.content_part.added", "part": {**part, member: ""}}
    yield {**at, "type": f"{kind}.delta", "delta": text, **more}
    yield {**at, "type": f"{kind}.done", member: text, **more}
    yield {**at, "type": "response.content_part.done", "part": part}


_ENABLED = b'{"include_usage":true}'
_KEY = b'"usage"'
_CHOICES = re.compile(rb'"choices"\s*+:\s*+\[\s*+\{')
_MAX_EVENT = 65_536


def enable(buffer: Buffer, value: object) -> Edit | None:
    """The change to a JSON body, parsed as `value`, that makes its stream report usage.

    None if no change is needed: the request is not for a stream, the option is set, or it has a
    value that no upstream accepts.
    """
    if not isinstance(value, dict) or value.get("stream") is not True:
        return None
    options = value.get("stream_options")
    if options is None and "stream_options" not in value:
        at = buffer.find(b"{") + 1
        return at, at, b'"stream_options":' + _ENABLED + b","
    if options is not None and not isinstance(options, dict):
        return None
    if options and options.get("include_usage") not in (None, False):
        return None
    return _enable_in(buffer, options)


def _enable_in(buffer: Buffer, options: Json | None) -> Edit | None:
    """The change to a body that already has `stream_options`."""
    try:
        options_span = span(buffer, ("stream_options",))
        flag_span = span(buffer, ("stream_options", "include_usage")) if options else None
    except Ambiguous:
        return None
    if options_span is not None and not options:
        return *options_span, _ENABLED
    if options_span is not None and options and "include_usage" not in options:
        return options_span[0] + 1, options_span[0] + 1, b'"include_usage":true,'
    return None if flag_span is None else (*flag_span, b"true")


def without_usage_event(events: bytes) -> bytes:
    """Clean events without the event that only reports usage; `b""` if there is no other."""
    all_events = [event for event in events.split(b"\n\n") if event]
    other_events = [event for event in all_events if not _is_usage_event(event)]
    if len(other_events) == len(all_events):
        return events
    return b"".join(event + b"\n\n" for event in other_events)


def _is_usage_event(event: bytes) -> bool:
    """Whether an event has usage and no choices: an empty list, null, or none at all."""
    if event.find(_KEY) < 0 or len(event) > _MAX_EVENT or _CHOICES.search(event) is not None:
        return False
    document = event_json(event)
    return (
        isinstance(document, dict)
        and not document.get("choices")
        and isinstance(document.get("usage"), dict)
        and "error" not in document
    )


USAGE_OPTION = UsageOption(
    path=("stream_options", "include_usage"),
    chunk_member="choices",
    key=_KEY,
    enable=enable,
    hide=without_usage_event,
)
