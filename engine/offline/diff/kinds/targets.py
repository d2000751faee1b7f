"""The destination of a route: by model, fixed targets, or the gateway itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from engine.config.models import RuleConfig, TargetConfig
from engine.offline.diff.difference import Difference, Effect, Side
from engine.offline.diff.kinds.tokens import allowed_differences
from engine.plan.route import Route

_NAMED = ("body", "query", "header", "path", "claim")
"""The kinds of conditions on something that has a name."""


def differences(old: Side, new: Side) -> Iterator[Difference]:
    for name, route in new.routes.items():
        before = old.routes.get(name)
        if before is None:
            continue
        place, subject = new.place(route.at), (name,)
        yield from allowed_differences(("regions",), "route", before, route, place, subject)
        for kind, was, now in _facts(before, route):
            if was != now:
                message = f"{'destination' if kind == 'way' else kind} is {now}, was {was}"
                code = f"route-{kind.replace(' ', '-')}"
                yield Difference(Effect.CHANGED, code, place, subject, message)


def _facts(old: Route, new: Route) -> Iterator[tuple[str, str, str]]:
    yield "way", old.destination, new.destination
    yield "response", _response(old), _response(new)
    yield "dialect", old.dialects[-1].name, new.dialects[-1].name
    if old.destination == new.destination == "by model":
        yield "model place", _place(old), _place(new)
        yield "default model", old.default_model or "none", new.default_model or "none"
    yield "targets", shares(old.to), shares(new.to)
    yield "choice", old.choose.text, new.choose.text


def _response(route: Route) -> str:
    """The response of the config: its status, headers and body."""
    respond = route.respond
    if respond is None:
        return "none"
    headers = "".join(f" {name}: {value}" for name, value in respond.headers)
    body = f" {json.dumps(respond.body, ensure_ascii=False)}" if respond.has_body else ""
    return f"{respond.status}{headers}{body}"


def _place(route: Route) -> str:
    return route.model.text if route.model is not None else "nowhere"


def shares(targets: Sequence[TargetConfig]) -> str:
    """`openai 90%, azure as gpt-4o-prod 10% (4 at a time)`: in order, with the share and the bound
    of each."""
    total = sum(target.weight for target in targets)
    parts = []
    for target in targets:
        model = f" as {target.model}" if target.model else ""
        share = f" {100 * target.weight / total:.3g}%" if len(targets) > 1 else ""
        bound = f" ({target.max_in_flight} at a time)" if target.max_in_flight else ""
        parts.append(f"{target.upstream}{model}{share}{bound}")
    return ", ".join(parts) or "none"


def rule_text(rule: RuleConfig) -> str:
    """`header x-tier, tokens: to eu as gold`: what a rule asks for, without values, which may be
    secrets, and where it sends requests."""
    names = [
        f"{kind} {name}" if kind in _NAMED else kind
        for kind, below in rule.conditions.items()
        for name in (below if kind in _NAMED else [""])
    ]
    choice = f" by {rule.choose.text}" if rule.choose.is_configured else ""
    fallback = f", then {', '.join(rule.fallback)}" if rule.fallback else ""
    return f"{', '.join(names)}: to {shares(rule.to)}{choice}{fallback}"
