"""`stream_options.include_usage`: the gateway sets it where the caller did not, and then removes
the event that only reports usage from the stream."""

from __future__ import annotations

import re

from engine.dialects.interface.usage import Edit, UsageOption
from engine.values.event_json import event_json
from engine.values.json_edit import Ambiguous, Buffer, span
from engine.values.trees import Json

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
