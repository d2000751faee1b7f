"""What a change of each key of gateway.yaml means: one table, one line for a key.

The paths are those of the file, `*` for a name or an index. `kinds/settings.py` compares every key
by its rule; one that a module of `kinds/` compares in more detail has `compared_by(...)`. A test
fails for a key of the schema, or a field of the config, without a rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.offline.diff.compare import network_covers, origin_covers, span
from engine.offline.diff.difference import Level
from engine.offline.diff.rules import (
    CHANGES,
    NEUTRAL,
    Rule,
    compared_by,
    gaining_weakens,
    higher_weakens,
    losing_weakens,
    lower_weakens,
    plainer_weakens,
    reached_by_more_weakens,
    removing_weakens,
    size,
    weaker_towards,
)

_DURATION = Rule(lambda old, new: Level.CHANGED, show=span)
_HIDDEN = Rule(lambda old, new: Level.CHANGED, show=lambda value: "another")
_BREAKER = _DURATION.named("breaker-changed")
_TIMEOUT = _DURATION.named("timeouts-changed")
_RETRY = CHANGES.named("retry-changed")


def _counters(old: str, new: str) -> str:
    return "limits are counted " + ("by each machine alone" if new == "memory" else "elsewhere")


def _records(old: str | None, new: str | None) -> str:
    return "usage is kept nowhere" if new is None else "tokens and usage are kept elsewhere"


def _journal(old: Path, new: Path) -> str:
    return f"the journal is {new}: rows that still wait in {old} are not shipped any more"


def _per_million(value: int) -> str:
    return f"{value / 10**12:g} a million"


def _each(value: int) -> str:
    return f"{value / 10**18:g} each"


LEVELS: Mapping[str, Rule] = {
    "version": NEUTRAL,
    "include": NEUTRAL,
    "tests": NEUTRAL,
    # How the gateway listens.
    "server.listen": reached_by_more_weakens().named("server-listen"),
    "server.workers": CHANGES,
    "server.connections": CHANGES,
    "server.max_body": higher_weakens(size),
    "server.body_timeout": higher_weakens(span),
    "server.request_timeout": higher_weakens(span),
    "server.keepalive": _DURATION,
    "server.grace": _DURATION,
    "server.debug_headers": weaker_towards(False, True),
    "server.trusted_proxies": gaining_weakens(network_covers).named("trusted-proxies"),
    "server.watch": CHANGES,
    "server.base_url": CHANGES,
    # Who sees what from a browser.
    "console.enabled": weaker_towards(False, True),
    "console.playground": weaker_towards(False, True),
    "console.docs": weaker_towards(False, True),
    "cors.origins": gaining_weakens(origin_covers, lost=Level.BREAKING),
    # Where things are kept.
    "stores.records": removing_weakens(tell=_records).named("store-records"),
    "stores.counters": weaker_towards(..., "memory", tell=_counters).named("store-counters"),
    "stores.counters_timeout": _DURATION.named("store-counters-timeout"),
    "stores.machines": lower_weakens().named("store-machines"),
    "stores.on_store_failure": weaker_towards("deny", "local", "allow").named("store-on-failure"),
    "stores.token_ttl": higher_weakens(span).named("store-token-ttl"),
    "stores.journal": Rule(lambda old, new: Level.WEAKER, tell=_journal),
    "stores.retention": lower_weakens(span, "for ever"),
    # What is told of the requests, and to whom.
    "telemetry.access_log.format": weaker_towards(..., "off"),
    "telemetry.access_log.fields": losing_weakens(also=("query",)),
    "telemetry.access_log.sample": lower_weakens(),
    "telemetry.access_log.path": weaker_towards(..., "/dev/null"),
    "telemetry.log.format": CHANGES,
    "telemetry.log.level": weaker_towards("debug", "info", "warning", "error"),
    "telemetry.listen": reached_by_more_weakens(),
    "telemetry.metrics": weaker_towards(..., ""),
    "telemetry.allow_ips": gaining_weakens(network_covers),
    "telemetry.traces": CHANGES,
    "telemetry.traces.endpoint": plainer_weakens(),
    "telemetry.traces.sample": CHANGES,
    "telemetry.traces.headers": _HIDDEN,
    # Documents: what they come to is compared operation by operation.
    "specs.*.document": NEUTRAL,
    "specs.*.overlays": NEUTRAL,
    "specs.*.dialect": compared_by("targets"),
    "specs.*.mount": compared_by("routes"),
    "specs.*.token": compared_by("authentication"),
    # Whom requests go to.
    "upstreams.*.url": plainer_weakens().named("upstream-url", weaker="upstream-plain-http"),
    "upstreams.*.dialect": compared_by("upstreams"),
    "upstreams.*.credential": compared_by("upstreams"),
    "upstreams.*.credentials": compared_by("upstreams"),
    "upstreams.*.headers": compared_by("upstreams"),
    "upstreams.*.forward_headers": compared_by("upstreams"),
    "upstreams.*.proxy": compared_by("upstreams"),
    "upstreams.*.timeouts.connect": _TIMEOUT,
    "upstreams.*.timeouts.first_byte": _TIMEOUT,
    "upstreams.*.timeouts.idle": _TIMEOUT,
    "upstreams.*.timeouts.total": _TIMEOUT,
    "upstreams.*.retry.attempts": _RETRY,
    "upstreams.*.retry.on": _RETRY,
    "upstreams.*.retry.budget": _RETRY,
    "upstreams.*.retry.max_wait": _DURATION.named("retry-changed"),
    "upstreams.*.breaker.failures": CHANGES.named("breaker-changed"),
    "upstreams.*.breaker.window": _BREAKER,
    "upstreams.*.breaker.cooldown": _BREAKER,
    "upstreams.*.heartbeat": _DURATION.named("heartbeat-changed"),
    "upstreams.*.pool": CHANGES.named("pool-changed"),
    "upstreams.*.ask_usage": weaker_towards(True, False),
    "upstreams.*.tls.verify": weaker_towards(True, False).named(
        "upstream-tls", weaker="upstream-tls-unverified"
    ),
    "upstreams.*.tls.ca": removing_weakens().named("upstream-tls"),
    "upstreams.*.tls.certificate": CHANGES.named("upstream-tls"),
    "upstreams.*.tls.key": CHANGES.named("upstream-tls"),
    # What callers may ask for, and what it costs.
    "models.*.to": compared_by("models"),
    "models.*.fallback": compared_by("models"),
    "models.*.operations": compared_by("models"),
    "models.*.title": CHANGES,
    "models.*.owner": CHANGES,
    "models.*.created": CHANGES,
    "currency": CHANGES.named("currency-changed"),
    "prices.*.input": lower_weakens(_per_million).named("price-changed"),
    "prices.*.output": lower_weakens(_per_million).named("price-changed"),
    "prices.*.cached_input": lower_weakens(_per_million).named("price-changed"),
    "prices.*.image": lower_weakens(_each).named("price-changed"),
    "prices.*.second": lower_weakens(_each).named("price-changed"),
    "prices.*.character": lower_weakens(_each).named("price-changed"),
    # What guards an operation.
    "policies": compared_by("limits"),
    "routes.*.operation": compared_by("routes"),
    "routes.*.operations": compared_by("routes"),
    "routes.*.model.from": compared_by("targets"),
    "routes.*.model.default": compared_by("targets"),
    "routes.*.model.also": losing_weakens(),
    "routes.*.to": compared_by("targets"),
    "routes.*.answer": compared_by("targets"),
    "routes.*.auth": compared_by("authentication"),
    "routes.*.policies": compared_by("limits"),
    "routes.*.validate": weaker_towards(
        "strict", "lenient", "report", "off", back=Level.BREAKING
    ).named("validate-stricter", weaker="validate-weaker"),
    "routes.*.unknown_fields": weaker_towards("reject", "drop", "pass", back=Level.BREAKING).named(
        "unknown-fields-stricter", weaker="unknown-fields-weaker"
    ),
    "routes.*.validate_responses": weaker_towards("report", "off"),
    "routes.*.websocket": CHANGES,
    "routes.*.websocket.max_message": higher_weakens(size),
    "routes.*.websocket.idle": higher_weakens(span),
    "routes.*.websocket.session": higher_weakens(span),
    "routes.*.websocket.ping": higher_weakens(span),
    "routes.*.websocket.max_pings": higher_weakens(),
    "routes.*.websocket.compression": CHANGES,
    # Who may call.
    "tokens.*.sha256": compared_by("tokens"),
    "tokens.*.expires": compared_by("tokens"),
    "tokens.*.models": compared_by("tokens"),
    "tokens.*.operations": compared_by("tokens"),
    "tokens.*.ips": compared_by("tokens"),
    "tokens.*.rate": compared_by("tokens"),
    "tokens.*.token_budget": compared_by("tokens"),
    "tokens.*.budget": compared_by("tokens"),
    "tokens.*.concurrency": compared_by("tokens"),
}


def rule_of(pattern: str) -> Rule:
    """The rule of a key, or of the key above it that is compared as a whole.

    Raises KeyError for a key without one.
    """
    steps = pattern.split(".")
    for end in range(len(steps) - 1, 0, -1):
        above = LEVELS.get(".".join(steps[:end]))
        if above is not None and above.level is None:
            return above
    return LEVELS[pattern]
