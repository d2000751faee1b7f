"""The server as a whole: its limits at the door, whose word it takes, where it counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from engine.diff.compare import inside
from engine.diff.difference import Difference, Level, Side

_SUBJECT = ("server",)
_WITHOUT_COUNTERS = {
    "allow": "pass without limits",
    "local": "are counted by each machine alone",
    "deny": "do not pass",
}
_HIGHER_IS_WEAKER = frozenset({"max_body", "body_timeout", "request_timeout"})


def differences(old: Side, new: Side) -> Iterator[Difference]:
    yield from _server(old, new)
    yield from _stores(old, new)


def _server(old: Side, new: Side) -> Iterator[Difference]:
    before, after = old.config.server, new.config.server
    for field in dataclasses.fields(after):
        key = field.name
        was, now = getattr(before, key), getattr(after, key)
        if was == now:
            continue
        place = new.place(("server", key))
        if key == "trusted_proxies":
            gained = [n for n in now if not any(inside(n, known) for known in was)]
            level = Level.WEAKER if gained else Level.CHANGED
            said = ", ".join(map(str, now)) or "none"
            words = f"believes X-Forwarded-For of {said}"
            yield Difference(level, "trusted-proxies", place, _SUBJECT, words)
        else:
            weaker = key in _HIGHER_IS_WEAKER and now > was
            weaker = weaker or (key == "debug_headers" and now)
            level = Level.WEAKER if weaker else Level.CHANGED
            kind = f"server-{key.replace('_', '-')}"
            yield Difference(level, kind, place, _SUBJECT, f"{key} is {now}, was {was}")


def _stores(old: Side, new: Side) -> Iterator[Difference]:
    before, after = old.config.stores, new.config.stores
    # Addresses of stores may hold a password: they are never shown.
    if before.records != after.records:
        gone = after.records is None
        level = Level.WEAKER if gone else Level.CHANGED
        words = "usage is kept nowhere" if gone else "tokens and usage are kept elsewhere"
        yield Difference(level, "store-records", new.place(("stores", "records")), _SUBJECT, words)
    if before.counters != after.counters:
        alone = after.counters == "memory"
        level = Level.WEAKER if alone else Level.CHANGED
        words = "limits are counted by each machine alone" if alone else "limits are counted apart"
        place = new.place(("stores", "counters"))
        yield Difference(level, "store-counters", place, _SUBJECT, words)
    was, now = before.on_store_failure, after.on_store_failure
    if was != now:
        strictness = ("allow", "local", "deny")
        weaker = strictness.index(now) < strictness.index(was)
        level = Level.WEAKER if weaker else Level.CHANGED
        words = f"requests {_WITHOUT_COUNTERS[now]} while the counters are away"
        place = new.place(("stores", "on_store_failure"))
        yield Difference(level, "store-on-failure", place, _SUBJECT, words)
    if before.machines != after.machines:
        level = Level.WEAKER if after.machines < before.machines else Level.CHANGED
        share = f"1/{after.machines} of a limit, was 1/{before.machines}"
        words = f"while the counters are away a machine lets pass {share}"
        place = new.place(("stores", "machines"))
        yield Difference(level, "store-machines", place, _SUBJECT, words)
    if before.counters_timeout != after.counters_timeout:
        words = f"counters_timeout is {after.counters_timeout:g}s, was {before.counters_timeout:g}s"
        place = new.place(("stores", "counters_timeout"))
        yield Difference(Level.CHANGED, "store-counters-timeout", place, _SUBJECT, words)
    if before.token_ttl != after.token_ttl:
        level = Level.WEAKER if after.token_ttl > before.token_ttl else Level.CHANGED
        words = f"a revoked token stops within {after.token_ttl:g}s, was {before.token_ttl:g}s"
        place = new.place(("stores", "token_ttl"))
        yield Difference(level, "store-token-ttl", place, _SUBJECT, words)
