"""How much may be used: all limits of a request are asked at once, and corrected at its end."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence

from engine.allowance import Allowance, Rule
from engine.errors import GatewayError
from engine.estimate import expected
from engine.exchange import Exchange, Handler, Response, Stage
from engine.network import caller_address
from engine.services import Services
from engine.stores.counters import CountersAway, Limit, State, Taken
from engine.usage import Usage

log = logging.getLogger("modelway")
_ASKS_TO_WAIT = {"requests": "rate_limit_exceeded", "tokens": "token_budget_exceeded"}
_ONE_EACH = ("requests", "concurrency")
_SHOWN = {
    kind: tuple(f"x-ratelimit-{what}-{kind}" for what in ("limit", "remaining", "reset"))
    for kind in ("requests", "tokens")
}


class _Course:
    """The limits of one request: what was asked, and what it comes to in the end."""

    def __init__(
        self, exchange: Exchange, rules: Sequence[Rule], services: Services, upstream: str
    ) -> None:
        self.exchange = exchange
        first = exchange.targets[0] if exchange.targets else None
        self.upstream = first.upstream.name if first is not None else upstream
        # Of a wildcard all names count together: a caller could make up ever new ones.
        self.model = first.entry if first is not None else ""
        self.rules = rules
        self.services = services
        self.limits: list[Limit] = []
        caller = exchange.caller
        for rule in rules:
            by, allowance = rule.by, rule.allowance
            who = caller.name if caller is not None and by == "token" else self._who(by)
            cost = 1 if allowance.kind in _ONE_EACH else self._cost(rule, expected(exchange))
            self.limits.append(
                Limit(f"{rule.name}|{who}", allowance.amount, allowance.window, cost)
            )

    def _cost(self, rule: Rule, usage: Usage) -> int:
        if rule.allowance.kind == "tokens":
            return usage.tokens
        price = self.services.prices.find(self.exchange.account.model or self.exchange.model)
        return price.cost(usage) if price is not None else 0

    def _who(self, by: str) -> str:
        """Who shares an allowance with this request."""
        exchange = self.exchange
        if by == "token":
            caller, proxies = exchange.caller, self.services.proxies
            return caller.name if caller else f"@{caller_address(exchange.environ, proxies)}"
        if by == "route":
            return exchange.operation
        return {"model": self.model, "upstream": self.upstream}.get(by, "")

    def settle(self, taken: Taken) -> None:
        account = self.exchange.account
        assert self.services.counters is not None
        if account.status >= 400 and not account.reached:
            costs = [0] * len(self.rules)
        else:
            came_to = {"spend": account.cost, "tokens": account.usage.tokens}
            costs = [came_to.get(rule.allowance.kind, 1) for rule in self.rules]
        self.services.counters.settle(taken.receipt, costs)


def limit(rules: Sequence[Rule], services: Services, upstream: str = "") -> Stage:
    """A stage that holds a request against the limits of its route and of its caller's token.

    Raises GatewayError 429, for money 402, with `retry-after`; 503 when the counters are away and
    the config says to deny. What never reached an upstream is given back. `upstream` is a route's
    fixed one.
    """
    own: dict[tuple[str, Allowance], Rule] = {}

    def rules_of(exchange: Exchange) -> Sequence[Rule]:
        caller = exchange.caller
        if caller is None or not caller.limits:
            return rules
        return [*rules, *(_own(own, caller.name, allowance) for allowance in caller.limits)]

    def stage(exchange: Exchange, following: Handler) -> Response:
        asked = rules_of(exchange)
        if not asked or services.counters is None:
            return following(exchange)
        course = _Course(exchange, asked, services, upstream)
        try:
            taken = services.counters.take(course.limits)
        except CountersAway as away:
            exchange.account.uncounted = True
            _without_counters(exchange, services, away)
            return following(exchange)
        shown = _headers(asked, taken.states)
        if taken.denied is not None:
            denied = taken.denied
            exchange.account.limit = asked[denied].name.partition("/")[0]
            raise _refused(asked[denied], course.limits[denied], taken.states[denied], shown)
        exchange.on_end.append(lambda: course.settle(taken))
        response = following(exchange)
        if shown:
            names = [name for name, _ in shown]
            response.headers[:] = [pair for pair in response.headers if pair[0] not in names]
            response.headers += shown
        return response

    return stage


def _own(made: dict[tuple[str, Allowance], Rule], name: str, allowance: Allowance) -> Rule:
    rule = made.get((name, allowance))
    if rule is None:
        if len(made) > 10_000:
            made.clear()
        own = f"token/{allowance.kind}/{allowance.window:g}"
        rule = made[name, allowance] = Rule(allowance, "token", own)
    return rule


def _refused(
    rule: Rule, asked: Limit, state: State, headers: list[tuple[str, str]]
) -> GatewayError:
    allowance = rule.allowance
    whose = {"token": "this token", "all": "everybody together"}.get(rule.by, f"this {rule.by}")
    span = _span(allowance.window)
    if allowance.kind == "concurrency":
        message = f"Too many requests at one time: {allowance.amount} for {whose}."
        return GatewayError(429, "concurrency_limit_exceeded", message, headers=_after(1.0))
    if allowance.kind == "spend":
        message = f"The budget of {whose} for {span} is used up. It frees up as time passes."
        after = _after(state.wait)
        if asked.cost > allowance.amount:
            message = f"This request may cost more than the budget of {whose} for {span}. "
            message, after = message + "Ask for fewer tokens.", []
        return GatewayError(402, "budget_exceeded", message, headers=after, retry=False)
    kind, code = allowance.kind, _ASKS_TO_WAIT[allowance.kind]
    if asked.cost > allowance.amount:
        message = (
            f"This request may use {asked.cost} tokens; the limit of {whose} is "
            f"{allowance.amount} per {span}. Ask for fewer."
        )
        return GatewayError(429, code, message, headers=headers, retry=False)
    message = f"Limit reached: {allowance.amount} {kind} per {span} for {whose}."
    return GatewayError(429, code, message, headers=[*headers, *_after(state.wait)])


def _after(seconds: float) -> list[tuple[str, str]]:
    return [("retry-after", str(max(1, math.ceil(seconds))))]


def _headers(rules: Sequence[Rule], states: Sequence[State]) -> list[tuple[str, str]]:
    """`x-ratelimit-*` as OpenAI names them: of each kind, the limit that is nearest."""
    nearest: dict[str, tuple[float, State, int]] = {}
    for rule, state in zip(rules, states, strict=True):
        kind, amount = rule.allowance.kind, rule.allowance.amount
        if kind in _SHOWN:
            left = state.remaining / amount
            if kind not in nearest or left < nearest[kind][0]:
                nearest[kind] = left, state, amount
    found: list[tuple[str, str]] = []
    for kind, (_, state, amount) in nearest.items():
        limit, remaining, reset = _SHOWN[kind]
        found.append((limit, str(amount)))
        found.append((remaining, str(state.remaining)))
        found.append((reset, f"{state.reset:.3f}s"))
    return found


def _span(seconds: float) -> str:
    """A time as people say it: `1 minute`, `90 seconds`, `30 days`."""
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}{'s' if seconds != size else ''}"
    return f"{seconds:g} seconds"


_said = 0.0


def _without_counters(exchange: Exchange, services: Services, away: CountersAway) -> None:
    """The counters are away: pass or refuse, as the config says, and say so once a minute."""
    global _said
    if time.monotonic() - _said > 60.0 or not _said:
        _said = time.monotonic()
        does = "pass uncounted" if services.allow_uncounted else "are refused"
        log.error("the counters are away (%s); requests with limits %s", away, does)
    if not services.allow_uncounted:
        message = "Limits cannot be checked right now. Try again in a moment."
        raise GatewayError(503, "counters_unavailable", message, headers=_after(1.0))
