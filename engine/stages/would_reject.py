"""What would have been refused where a route only reports: counted and logged, never gating.

Places are counted without indexes; what a caller wrote (values, and names that no document knows)
is in neither the count nor the log. The metric has the codes, of which there are few; the log names
a place when it first comes up and then at most once a minute, with how often.
"""

from __future__ import annotations

import re
from collections import Counter

from engine.values.errors import GatewayError
from engine.values.throttle import LogThrottle

counted: Counter[tuple[str, str]] = Counter()
"""Refusals that were not made in this process, by operation and place."""

codes: Counter[tuple[str, str, str]] = Counter()
"""The same by operation, part (`request` or `response`) and code."""

complaints: dict[tuple[str, str], LogThrottle] = {}
"""What the log has said, by operation and place."""

MOST_PLACES = 2000
OTHER = "other"

_INDEX = re.compile(r"\[\d+\]")
_NAMES_OF_CALLERS = frozenset({"unknown_parameter"})


def note(
    request_id: str, operation: str, code: str, place: str | None, part: str = "request"
) -> None:
    """Count and log one refusal that is not made. `place` is within the `part`."""
    said = _INDEX.sub("[]", place or "")
    if code in _NAMES_OF_CALLERS:
        said = said.rpartition(".")[0]
    key = (operation, said or "body")
    if key not in counted and len(counted) >= MOST_PLACES:
        key = (operation, OTHER)
    counted[key] += 1
    codes[operation, part, code] += 1
    complaint = complaints.setdefault(key, LogThrottle())
    complaint.say(
        "request %s: %s would refuse it (%s at %r)", request_id, operation, code, said or "body"
    )


def note_error(request_id: str, operation: str, error: GatewayError) -> None:
    """As `note`, for the error that a strict route would have raised."""
    note(request_id, operation, error.code, error.param)
