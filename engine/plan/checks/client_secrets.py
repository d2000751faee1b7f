"""Checks of client secrets: keys without effect, and routes that cannot issue or accept any."""

from __future__ import annotations

from collections.abc import Sequence

from engine.config.config import Config
from engine.edge.answers import client_secrets
from engine.plan.route import Route
from engine.source.problem import Findings, Level


def check_client_secrets(config: Config, routes: Sequence[Route], findings: Findings) -> None:
    """Note a route that issues client secrets which no session accepts, or without keys, and keys
    that no route uses."""
    issuers = [route for route in routes if route.answer is client_secrets.ANSWER]
    dialects = {r.dialects[-1].name for r in routes if r.client_secrets is not None}
    keys = config.client_secrets.keys
    for route in issuers:
        if route.dialects[-1].name not in dialects:
            message = f"no session accepts the client secrets that {route.operation.id} issues"
            hint = "route the WebSocket by 'model'; its operation says x-modelway-client-secrets"
            findings.error(config.source, route.at, "MW495", message, hint)
        elif not keys:
            message = f"{route.operation.id} answers 501: there are no keys"
            hint = 'write client_secrets: {keys: ["${CLIENT_SECRET_KEY}"]}, and set the variable'
            findings.note(config.source, route.at, Level.INFO, "MW496", message, hint)
    if keys and not issuers:
        message = "'client_secrets' has no effect: no route issues any"
        hint = "write a route with answer: client_secrets, or remove 'client_secrets'"
        at = ("client_secrets",)
        findings.note(config.source, at, Level.WARNING, "MW497", message, hint, key=True)
