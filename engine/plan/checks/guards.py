"""Checks of the policy `guard`: its webhook exists, and what it guards can be judged."""

from __future__ import annotations

from collections.abc import Iterable

from engine.config.config import Config
from engine.config.routes import Policy
from engine.plan.route import Route
from engine.source.problem import Findings, Level, Path
from engine.source.suggestion import did_you_mean
from engine.upstream.client.address import origin_of
from engine.values.units import format_names

_MAX_NAMED = 3


def check_guards(routes: Iterable[Route], config: Config, findings: Findings) -> None:
    """Note problems of the policies `guard` of routes whose options match the schema."""
    guarded: dict[Path, tuple[Policy, list[Route]]] = {}
    for route in routes:
        for policy in route.policies:
            if policy.name == "guard" and isinstance(policy.options, dict):
                guarded.setdefault(policy.at, (policy, []))[1].append(route)
    for policy, of_policy in guarded.values():
        _check_webhook(policy, config, findings)
        sessions = [route.operation.id for route in of_policy if route.websocket is not None]
        if sessions:
            names = format_names(sessions, _MAX_NAMED)
            message = f"messages of {names} are not judged: a WebSocket"
            hint = "write the guard at the other routes, or remove the WebSocket's"
            findings.note(config.source, policy.at, Level.WARNING, "MW547", message, hint, key=True)


def _check_webhook(policy: Policy, config: Config, findings: Findings) -> None:
    webhook, at = policy.options.get("webhook"), (*policy.at, "webhook")
    if not isinstance(webhook, str):
        return  # the check of options notes it
    if "://" not in webhook:
        exists = webhook in config.upstreams or config.invalid.has("upstreams", webhook)
        if not exists:
            hint = did_you_mean(webhook, config.upstreams, "write a URL, https://...")
            findings.error(config.source, at, "MW313", f"unknown upstream '{webhook}'", hint)
        return
    try:
        origin_of(webhook)
    except ValueError as error:
        message = f"the webhook cannot be used: {error}"
        findings.error(config.source, at, "MW546", message, "write https://guard.example.com")
