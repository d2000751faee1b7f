"""`stream_options.include_usage`: asked of the upstream when the caller did not, and the event that
it then adds kept from the caller."""

from __future__ import annotations

import re
from typing import Any

from engine.metering.sse_reader import document_of
from engine.values.json_edit import Ambiguous, Buffer, span

Edit = tuple[int, int, bytes]
"""Start and end of what is replaced in a body, and what stands there instead."""

_ASKED = b'{"include_usage":true}'
_NO_CHOICES = re.compile(rb'"choices"\s*+:\s*+\[\s*+\]')
_LARGEST = 65_536


def edit(buffer: Buffer, value: Any) -> Edit | None:
    """What to change in a JSON body, parsed as `value`, so that its stream tells the usage.

    None where nothing is to be changed: no stream is asked for, the caller has asked already, or
    said what no upstream will understand.
    """
    if not isinstance(value, dict) or value.get("stream") is not True:
        return None
    options = value.get("stream_options")
    if options is None and "stream_options" not in value:
        at = buffer.find(b"{") + 1
        return at, at, b'"stream_options":' + _ASKED + b","
    if options is not None and not isinstance(options, dict):
        return None
    if options and options.get("include_usage") not in (None, False):
        return None
    return _within(buffer, options)


def _within(buffer: Buffer, options: dict[str, Any] | None) -> Edit | None:
    """The change to options that are there."""
    try:
        found = span(buffer, ("stream_options",))
        asked = span(buffer, ("stream_options", "include_usage")) if options else None
    except Ambiguous:
        return None
    if found is not None and not options:
        return *found, _ASKED
    if found is not None and options and "include_usage" not in options:
        return found[0] + 1, found[0] + 1, b'"include_usage":true,'
    return None if asked is None else (*asked, b"true")


def moved(at: tuple[int, int], change: Edit) -> tuple[int, int]:
    """Where a span of the body stands after the change, which it does not touch."""
    start, end, new = change
    by = len(new) - (end - start) if at[0] >= end else 0
    return at[0] + by, at[1] + by


def without_usage_event(events: bytes) -> bytes:
    """Whole clean events without the one that only tells the usage; `b""` when nothing is left."""
    if b'"usage"' not in events or _NO_CHOICES.search(events) is None:
        return events
    every = [event for event in events.split(b"\n\n") if event]
    kept = [event for event in every if not _only_tells_usage(event)]
    if len(kept) == len(every):
        return events
    return b"".join(event + b"\n\n" for event in kept)


def _only_tells_usage(event: bytes) -> bool:
    if len(event) > _LARGEST or _NO_CHOICES.search(event) is None:
        return False
    document = document_of(event)
    return (
        isinstance(document, dict)
        and document.get("choices") == []
        and isinstance(document.get("usage"), dict)
        and "error" not in document
    )
