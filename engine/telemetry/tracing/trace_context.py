"""W3C Trace Context (https://www.w3.org/TR/trace-context-2/): the trace that a request belongs to,
and the headers that pass it on to upstreams.

Ids are lower-case hexadecimal as in the header: 32 digits for a trace, 16 for a span.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass

_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_KEY = r"[a-z0-9][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13}"
_VALUE = r"[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]"
_MEMBER = re.compile(f"({_KEY})={_VALUE}")
_MAX_MEMBERS = 32
_HEADERS = frozenset({"traceparent", "tracestate"})
_NO_TRACE, _NO_SPAN = "0" * 32, "0" * 16
_SAMPLED = 0x01
_RANDOM = 0x02  # the trace id is random
_KNOWN_FLAGS = _SAMPLED | _RANDOM
_FLAGS = ("00", "01", "02", "03")


@dataclass(slots=True)
class Trace:
    """The trace context of a request: its span, its parent ("" for none), and the `state` of other
    vendors (`tracestate`). `attempts` are the span ids sent to upstreams, with their start on the
    monotonic clock; a trace that is not `sampled` has none."""

    trace_id: str
    span_id: str
    parent_id: str = ""
    flags: int = 0
    state: str = ""
    attempts: tuple[tuple[str, float], ...] = ()

    @property
    def sampled(self) -> bool:
        """Whether its spans are exported."""
        return bool(self.flags & _SAMPLED)

    def attempt_headers(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The request headers of the next attempt, with its trace context in place of the
        caller's."""
        span_id = self.span_id
        if self.flags & _SAMPLED:
            span_id = os.urandom(8).hex()  # zeros, which are invalid, come once in 2**64 times
            self.attempts = (*self.attempts, (span_id, time.monotonic()))
        fields = [*headers]
        if not _HEADERS.isdisjoint(dict(headers)):
            fields = [pair for pair in headers if pair[0] not in _HEADERS]
        fields.append(("traceparent", f"00-{self.trace_id}-{span_id}-{_FLAGS[self.flags]}"))
        if self.state:
            fields.append(("tracestate", self.state))
        return fields


class Sampler:
    """Begins traces. Of traces that begin here, the `ratio` (0 to 1) is sampled; for those of
    callers, the caller decided."""

    def __init__(self, ratio: float) -> None:
        # As OpenTelemetry's TraceIdRatioBased: gateways in one trace decide alike.
        bound = round(ratio * 2**64)
        self._bound = f"{bound:016x}" if bound < 2**64 else "g"  # greater than every digit

    def begin(self, parent: str | None, state: str | None) -> Trace:
        """The trace of a request with the headers `traceparent` and `tracestate`; a new one if
        they are absent or invalid."""
        ids = os.urandom(24).hex()
        context = _parse_parent(parent) if parent else None
        if context is not None:
            trace_id, parent_id, flags = context
            return Trace(trace_id, ids[32:], parent_id, flags, _valid_state(state) if state else "")
        sampled = ids[16:32] < self._bound
        return Trace(ids[:32], ids[32:], "", _KNOWN_FLAGS if sampled else _RANDOM)


def _parse_parent(header: str) -> tuple[str, str, int] | None:
    """Trace, span and flags of a `traceparent`. A later version may have more fields at its end
    (section 4.3); version ff is invalid."""
    match = _PARENT.fullmatch(header.strip(" \t"))
    if match is None:
        return None
    version, trace_id, span_id, flags, more = match.groups()
    if (
        version == "ff"
        or (version == "00" and more)
        or trace_id == _NO_TRACE
        or span_id == _NO_SPAN
    ):
        return None
    return trace_id, span_id, int(flags, 16) & _KNOWN_FLAGS


def _valid_state(header: str) -> str:
    """A `tracestate` to pass on; "" for an invalid one (section 3.3.1)."""
    members = [member for part in header.split(",") if (member := part.strip(" \t"))]
    matches = [_MEMBER.fullmatch(member) for member in members]
    keys = {match[1] for match in matches if match is not None}
    if len(members) > _MAX_MEMBERS or len(keys) < len(members):
        return ""
    return ",".join(members)
