"""Upstreams: their credentials, proxies and headers."""

from __future__ import annotations

from collections.abc import Iterator

from engine.config.upstreams import UpstreamConfig
from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.diff.restrictions import listed

Changes = Iterator[tuple[Effect, str, str]]


def differences(old: Side, new: Side) -> Iterator[Difference]:
    before, after = old.config.upstreams, new.config.upstreams
    for name, was in before.items():
        if name not in after:
            place = old.place(was.at, key=True)
            message = "the upstream is removed"
            yield Difference(
                Effect.REMOVED, "upstream-removed", place, (f"upstream {name}",), message
            )
    for name, now in after.items():
        subject, place = (f"upstream {name}",), new.place(now.at, key=True)
        if name not in before:
            message = f"a new upstream at {now.url}"
            yield Difference(Effect.ADDED, "upstream-added", place, subject, message)
            continue
        for level, kind, message in _changed(before[name], now):
            yield Difference(level, kind, place, subject, message)


def _changed(was: UpstreamConfig, now: UpstreamConfig) -> Changes:
    if was.dialect != now.dialect:
        dialects = [upstream.dialect or "that of its route" for upstream in (now, was)]
        message = f"dialect is {dialects[0]}, was {dialects[1]}"
        yield Effect.CHANGED, "upstream-dialect", message
    if (was.provider, was.variables) != (now.provider, now.variables):
        message = f"is {_provider_text(now)}, was {_provider_text(was)}"
        yield Effect.CHANGED, "upstream-provider", message
    if was.credentials != now.credentials:
        message = f"gets another credential ({_credential_text(now)}, was {_credential_text(was)})"
        yield Effect.CHANGED, "upstream-credential", message
    if was.proxy != now.proxy:
        yield Effect.CHANGED, "upstream-proxy", "is reached through another proxy, or none"
    additional = [name for name in now.forward_headers if name not in was.forward_headers]
    removed_headers = [name for name in was.forward_headers if name not in now.forward_headers]
    if additional:
        yield (
            Effect.WEAKER,
            "forwarded-widened",
            f"also gets callers' headers: {listed(additional)}",
        )
    if removed_headers:
        yield (
            Effect.CHANGED,
            "forwarded-narrowed",
            f"no longer gets callers' headers: {listed(removed_headers)}",
        )
    yield from _choices(was, now)
    if was.headers != now.headers:
        # Values may be secrets: only names are listed.
        names = {n for side in (was, now) for n in (*side.headers.set, *side.headers.add)}
        names |= was.headers.remove | now.headers.remove
        yield (
            Effect.CHANGED,
            "upstream-headers",
            f"sets or removes other headers: {listed(sorted(names))}",
        )


def _choices(was: UpstreamConfig, now: UpstreamConfig) -> Changes:
    """Callers may choose more or less besides the model."""
    before, after = set(was.caller_choices), set(now.caller_choices)
    if additional := sorted(after - before):
        yield Effect.WEAKER, "caller-choices-gained", f"lets callers choose {listed(additional)}"
    if missing := sorted(before - after):
        message = f"no longer lets callers choose {listed(missing)}"
        yield Effect.BREAKING, "caller-choices-lost", message


def _credential_text(upstream: UpstreamConfig) -> str:
    return " and ".join(credential.label for credential in upstream.credentials) or "none"


def _provider_text(upstream: UpstreamConfig) -> str:
    variables = ", ".join(f"{name}: {value}" for name, value in upstream.variables.items())
    return f"{upstream.provider or 'no provider'}{f' with {variables}' if variables else ''}"
