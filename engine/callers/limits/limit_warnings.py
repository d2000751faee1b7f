"""Warnings before limits end: each is reported once in a window, by one worker of all machines that
share counters.

Theory of operation. A request queues a warning that is due, which costs it a look into a table, and
a greenlet claims it: it takes 1 of 1 from a limit that is counted beside the real one, over the
same window and in the same store. So the claim is exact where the count is, outlives the processes,
and ends with the window. Of a limit that slides, a threshold is reported again when its window has
passed since the last report.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Protocol

import gevent
from cachetools import LRUCache

from engine.process.log_throttle import LogThrottle
from engine.values.calendar import Calendar
from engine.values.counters import Counters, CountersAway, Limit, LimitWarning
from engine.values.metric import Sample, counter
from engine.values.quota import KINDS, QuotaRule, amount_text, unit_text
from engine.values.quota_sharers import NOBODY, OTHERS, Sharer, Sharing
from engine.values.quota_window import window_text
from engine.values.redaction import redact_keys
from engine.values.units import format_nano

log = logging.getLogger("modelway")

LIMIT_WARNINGS = counter(
    "modelway_limit_warnings_total",
    "kind by percent",
    "Warnings of warn_at: a limit of this kind, shared by this, has reached the share in percent.",
)
WARNINGS_DROPPED = counter(
    "modelway_limit_warnings_dropped_total",
    "",
    "Warnings that were put off because too many waited: the next request tries again.",
)

_RETRY_SECONDS = 5.0
_MAX_CLAIMS = 10_000


class Report(Protocol):
    """What a warning leads to. `prepare` is called before the claim, so that a worker that is
    killed after it leaves a trace; then the function that it returned, with whether the claim
    succeeded."""

    def prepare(self, warning: LimitWarning) -> Callable[[bool], None]: ...


class LimitWarnings:
    """Queues warnings (`__call__`), claims them in the `counters`, and reports those that no other
    worker has reported. At most `queue_size` wait. `counts` counts reports by the labels of the
    metric."""

    def __init__(
        self,
        counters: Counters,
        report: Report,
        *,
        queue_size: int = 1_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.dropped = 0
        self._counters = counters
        self._report = report
        self._clock = clock
        self._queue_size = queue_size
        self._queue: deque[LimitWarning] = deque()
        self._known_until: LRUCache[tuple[str, int], float] = LRUCache(_MAX_CLAIMS)
        self._greenlet: gevent.Greenlet[[], None] | None = None
        self._throttle = LogThrottle()

    def __call__(self, warning: LimitWarning) -> None:
        """Queue a warning, unless this worker knows that it was reported."""
        key = warning.limit.key, warning.percent
        if self._known_until.get(key, 0.0) > self._clock():
            return
        if len(self._queue) >= self._queue_size:
            self.dropped += 1
            return
        self._known_until[key] = self._clock() + _RETRY_SECONDS
        self._queue.append(warning)
        if self._greenlet is None or self._greenlet.dead:
            self._greenlet = gevent.spawn(self._claim_all)

    def close(self, timeout: float = 1.0) -> None:
        """Claim the queued warnings within `timeout` seconds."""
        if self._greenlet is not None:
            self._greenlet.join(timeout)
            self._greenlet.kill()

    def collect(self) -> Iterator[Sample]:
        """The samples of the metrics."""
        for labels, count in self.counts.items():
            yield LIMIT_WARNINGS, labels, count
        yield WARNINGS_DROPPED, (), self.dropped

    def _claim_all(self) -> None:
        while self._queue:
            warning = self._queue.popleft()
            try:
                self._claim(warning)
            except CountersAway as error:
                self._throttle.log("warnings of limits wait: the counters are away: %s", error)
            except Exception:
                log.exception("a warning of the limit %s failed", warning.limit.key)

    def _claim(self, warning: LimitWarning) -> None:
        """Report a warning if this worker is the first that takes it from its window."""
        decide = self._report.prepare(warning)
        is_first = False
        try:
            result = self._counters.take((claim_of(warning),), (1,))
            is_first = result.denied is None
        finally:
            decide(is_first)
        key = warning.limit.key, warning.percent
        self._known_until[key] = self._clock() + max(result.resets[0], _RETRY_SECONDS)
        if is_first:
            rule = warning.rule
            self.counts[KINDS[rule.quota.kind].header, str(rule.by), str(warning.percent)] += 1


def claim_of(warning: LimitWarning) -> Limit:
    """The limit whose one unit is the right to report a warning. Its key ends as that of the real
    limit, so that a Redis Cluster keeps both in one slot."""
    limit = warning.limit
    return Limit(f"warned {warning.percent}/{limit.key}", 1, limit.window)


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
