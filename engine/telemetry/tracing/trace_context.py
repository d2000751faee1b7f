"""W3C Trace Context: which trace a request belongs to, and what its upstreams are told of that.

https://www.w3.org/TR/trace-context-2/. Ids are lower-case hexadecimal, 32 digits for a trace and
16 for a span, as they stand in the header.
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
_MEMBERS = 32
_HEADERS = frozenset({"traceparent", "tracestate"})
_NO_TRACE, _NO_SPAN = "0" * 32, "0" * 16
_SAMPLED = 0x01
_RANDOM = 0x02  # the trace id is
_KNOWN_FLAGS = _SAMPLED | _RANDOM
_FLAGS = ("00", "01", "02", "03")

# An id of zeros would be none; that is drawn once in 2**64 times.


def _draw_span() -> str:
    return os.urandom(8).hex()


@dataclass(slots=True)
class Trace:
    """A request's place in a trace: its own span, its parent's ("" for none), the `state` of others
    (`tracestate`). `attempts` are the spans told to upstreams, with when on the steady clock; none
    are kept of a trace that is not `sampled`."""

    trace_id: str
    span_id: str
    parent_id: str = ""
    flags: int = 0
    state: str = ""
    attempts: tuple[tuple[str, float], ...] = ()

    @property
    def sampled(self) -> bool:
        """Whether its spans are kept."""
        return bool(self.flags & _SAMPLED)

    def sent(self, fields: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """The request headers of one more attempt: with this trace in place of the caller's."""
        span_id = self.span_id
        if self.flags & _SAMPLED:
            span_id = _draw_span()
            self.attempts = (*self.attempts, (span_id, time.monotonic()))
        kept = [*fields]
        if not _HEADERS.isdisjoint(dict(fields)):
            kept = [pair for pair in fields if pair[0] not in _HEADERS]
        kept.append(("traceparent", f"00-{self.trace_id}-{span_id}-{_FLAGS[self.flags]}"))
        if self.state:
            kept.append(("tracestate", self.state))
        return kept


class Sampler:
    """Begins traces. `share`, from 0 to 1, of those that begin here are kept; of those that came
    with a request, what their caller keeps."""

    def __init__(self, share: float) -> None:
        # As OpenTelemetry's TraceIdRatioBased: gateways that share a trace agree on it.
        bound = round(share * 2**64)
        self._bound = f"{bound:016x}" if bound < 2**64 else "g"  # which comes after every digit

    def begin(self, parent: str | None, state: str | None) -> Trace:
        """The trace of a request with these headers `traceparent` and `tracestate`; a new one if
        they are absent or not valid."""
        ids = os.urandom(24).hex()
        known = _read(parent) if parent else None
        if known is not None:
            trace_id, parent_id, flags = known
            return Trace(trace_id, ids[32:], parent_id, flags, _state(state) if state else "")
        kept = ids[16:32] < self._bound
        return Trace(ids[:32], ids[32:], "", _KNOWN_FLAGS if kept else _RANDOM)


def _read(header: str) -> tuple[str, str, int] | None:
    """Trace, span and flags of a `traceparent`. A later version than ours may say more at its end
    (section 4.3); version ff is none."""
    found = _PARENT.fullmatch(header.strip(" \t"))
    if found is None:
        return None
    version, trace_id, span_id, flags, more = found.groups()
    if (
        version == "ff"
        or (version == "00" and more)
        or trace_id == _NO_TRACE
        or span_id == _NO_SPAN
    ):
        return None
    return trace_id, span_id, int(flags, 16) & _KNOWN_FLAGS


def _state(header: str) -> str:
    """A `tracestate` to pass on; "" for one that breaks its rules, as section 3.3.1 has it."""
    members = [member for part in header.split(",") if (member := part.strip(" \t"))]
    found = [_MEMBER.fullmatch(member) for member in members]
    keys = {match[1] for match in found if match is not None}
    if len(members) > _MEMBERS or len(keys) < len(members):
        return ""
    return ",".join(members)
