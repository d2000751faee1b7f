"""The settings of an upstream that an explained request depends on: timeouts, retries, queue."""

from __future__ import annotations

from urllib.parse import urlsplit

from engine.config.upstreams import UpstreamConfig
from engine.upstream.client.deadlines import Timeouts
from engine.values.trees import Json

Report = Json


def upstream_report(upstream: UpstreamConfig) -> Report:
    """The timeouts (seconds), retries, breaker, bound of requests in flight, queue and source of
    addresses of an upstream."""
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


def addresses_text(addresses: Report) -> str:
    """The source of an upstream's addresses, in words."""
    if addresses["file"]:
        return f"file {addresses['file']}"
    name = f"service {addresses['srv']}" if addresses["srv"] else addresses["name"]
    server = f" at {addresses['server']}" if addresses["server"] else ""
    return f"{name} in DNS{server}, every {addresses['every']:g}s"


def _addresses(upstream: UpstreamConfig) -> Report:
    """The source of an upstream's addresses: a file, an SRV service, or a DNS name that is looked
    up at least every `every` seconds."""
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
