"""How long an upstream is waited for, how often it is asked again, when it is left alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.config.model import Upstream
from engine.diff.compare import span
from engine.diff.difference import Difference, Level, Side
from engine.upstream.client import Timeouts


def differences(old: Side, new: Side) -> Iterator[Difference]:
    for name, upstream in new.config.upstreams.items():
        was = old.config.upstreams.get(name)
        if was is None:
            continue
        before, after = _facts(was), _facts(upstream)
        for key, value in after.items():
            if before[key] != value:
                kind = key.partition(".")[0]
                words = f"{key} is {value}, was {before[key]}"
                place = new.place((*upstream.at, *key.split(".")))
                subject = (f"upstream {name}",)
                yield Difference(Level.CHANGED, f"{kind}-changed", place, subject, words)


def _facts(upstream: Upstream) -> dict[str, Any]:
    timeouts = Timeouts(**upstream.timeouts)._asdict()
    retry, breaker = upstream.retry, upstream.breaker
    return {
        **{f"timeouts.{key}": span(value) for key, value in timeouts.items()},
        "retry.attempts": retry.attempts,
        "retry.on": ", ".join(sorted(retry.on)) or "nothing",
        "retry.budget": f"{retry.budget:g}",
        "retry.max_wait": span(retry.max_wait),
        "breaker.failures": breaker.failures,
        "breaker.window": span(breaker.window),
        "breaker.cooldown": span(breaker.cooldown),
        "heartbeat": span(upstream.heartbeat) if upstream.heartbeat else "none",
        "pool": upstream.pool,
    }
