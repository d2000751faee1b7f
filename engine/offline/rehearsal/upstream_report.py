"""What an explained request may have to wait for at an upstream: timeouts, retries, places."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from engine.config.upstreams import UpstreamConfig
from engine.upstream.client.deadlines import Timeouts

Report = dict[str, Any]


def upstream_report(upstream: UpstreamConfig) -> Report:
    """Timeouts (seconds), retries, breaker, bound of requests in flight with its queue, and source
    of addresses of an upstream."""
    retry, breaker, queue = upstream.retry, upstream.breaker, upstream.queue
    health = upstream.health
    return {
        "timeouts": Timeouts(**upstream.timeouts)._asdict(),
        "attempts": retry.attempts,
        "retries": sorted(retry.on),
        "breaker": {"failures": breaker.failures, "cooldown": breaker.cooldown},
        "health": health and {"path": health.path, "every": health.every},
        "max_in_flight": upstream.max_in_flight,
        "queue": None if queue is None else {"size": queue.size, "wait": queue.wait},
        "addresses": None if upstream.resolve is None else _addresses(upstream),
    }


def _addresses(upstream: UpstreamConfig) -> Report:
    """Where the addresses of an upstream come from: a file, a service or a name of DNS, which is
    looked up after `every` seconds at most."""
    resolve = upstream.resolve
    assert resolve is not None
    name = None if resolve.file or resolve.srv else urlsplit(upstream.url).hostname
    return {
        "name": name,
        "srv": resolve.srv or None,
        "file": resolve.file,
        "server": resolve.server or None,
        "every": resolve.every,
    }
