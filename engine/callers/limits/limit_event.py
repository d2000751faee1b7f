"""What a warning of a limit says: a line of the log, and the event that webhooks get."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from engine.values.calendar import Calendar
from engine.values.limit_warning import LimitWarning
from engine.values.quota import KINDS, QuotaRule, amount_text, unit_text, window_text
from engine.values.quota_sharers import NOBODY, OTHERS, Sharer, Sharing
from engine.values.redaction import redact_keys
from engine.values.units import format_nano

EVENT_TYPE = "limit.warning"

_UNNAMED = {NOBODY: "none", OTHERS: "further values"}


def holder_text(by: Sharing, name: str) -> str:
    """Whose limit it is, for operators: `team 'search'`, `token 'ann' with model 'gpt-5'`. `name`
    is that under which it is counted."""
    if not by.sharers:
        return "all callers together"
    texts = zip(by.sharers, names_of(by, name), strict=True)
    return " with ".join(_sharer_text(sharer, text) for sharer, text in texts)


def names_of(by: Sharing, name: str) -> list[str]:
    """The name of each sharer of a limit, without what looks like a token or a key."""
    count = len(by.sharers)
    names = name.split("|", count - 1) if count > 1 else [name][:count]
    return [redact_keys(text) for text in names]


def _sharer_text(sharer: Sharer, name: str) -> str:
    place = f"{sharer.kind} {sharer.name}" if sharer.name else sharer.kind
    return f"{place} ({_UNNAMED[name]})" if name in _UNNAMED else f"{place} '{name}'"


def warning_text(warning: LimitWarning, currency: str, now: float) -> str:
    """The line of the log; `now` in Unix seconds."""
    quota = warning.rule.quota
    kind = KINDS[quota.kind]
    unit, holder = unit_text(kind, currency), holder_text(warning.rule.by, warning.sharer)
    has_end = isinstance(quota.window, Calendar)
    end = "the window ends at" if has_end else "all of it is free again at"
    return (
        f"limit warning: {warning.percent}% of {amount_text(kind, quota.amount)} {unit} per "
        f"{window_text(quota.window)} of {holder}: {amount_text(kind, warning.used)} {unit} are "
        f"used; {end} {_time(now + warning.reset)}"
    )


def limit_fields(
    rule: QuotaRule, sharer: str, used: int, reset: float, currency: str, now: float
) -> dict[str, Any]:
    """A limit with what is used of it; amounts of money are decimal texts, others are numbers. It
    has a `window` and the time of its end, `resets_at`, unless it is of requests at one time.
    `reset` is in seconds, `now` in Unix seconds."""
    quota, by = rule.quota, rule.by
    kind = KINDS[quota.kind]
    names = zip(by.sharers, names_of(by, sharer), strict=True)
    amounts = {"amount": quota.amount, "used": used, "left": max(quota.amount - used, 0)}
    return {
        "kind": kind.header or quota.kind,
        "by": {str(sharer): None if name in _UNNAMED else name for sharer, name in names},
        "window": window_text(quota.window) if quota.window else None,
        "unit": unit_text(kind, currency),
        **{k: format_nano(v) if kind.money else v for k, v in amounts.items()},
        "resets_at": _time(now + reset) if quota.window else None,
    }


def warning_event(warning: LimitWarning, currency: str, now: float) -> dict[str, Any]:
    """The event as webhooks get it; `now` in Unix seconds."""
    limit = limit_fields(warning.rule, warning.sharer, warning.used, warning.reset, currency, now)
    return {
        "type": EVENT_TYPE,
        "timestamp": _time(now),
        "data": {"percent": warning.percent, "limit": limit},
    }


def _time(seconds: float) -> str:
    """A time in RFC 3339, UTC, to the second."""
    return datetime.fromtimestamp(round(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
