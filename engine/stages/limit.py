"""How much may be used: all limits of a request are asked at once, and corrected at its end."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from functools import lru_cache, partial

from engine.callers.limit_set import LimitSet
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.record import RequestRecord
from engine.exchange.services import Services
from engine.values.client_address import caller_address
from engine.values.counters import Counters, CountersAway
from engine.values.errors import GatewayError
from engine.values.quota import Quota, Rule

log = logging.getLogger("modelway")
_ASKS_TO_WAIT = {"requests": "rate_limit_exceeded", "tokens": "token_budget_exceeded"}
_CACHED_SETS = 1_000


def limit(rules: Sequence[Rule], services: Services, upstream: str = "") -> Stage:
    """A stage that holds a request against the limits of its route and of its caller's token.

    Raises GatewayError 429, for money 402, with `retry-after`; 503 when the counters are away and
    the config says to deny. What never reached an upstream is given back. `upstream` is a route's
    fixed one.
    """
    limit_sets = _LimitSets(rules, services, upstream)

    def stage(exchange: Exchange, following: Handler) -> Response:
        counters, caller = services.counters, exchange.caller
        if counters is None or not (rules or (caller is not None and caller.limits)):
            return following(exchange)
        limits = limit_sets.find(exchange)
        costs = limits.costs(exchange, services.prices)
        try:
            denied, remaining, resets, receipt, waits = counters.take(limits.limits, costs)
        except CountersAway as away:
            exchange.record.uncounted = True
            _without_counters(exchange, services, away)
            return following(exchange)
        shown = limits.headers(remaining, resets)
        if denied is not None:
            rule = limits.rules[denied]
            exchange.record.limit = rule.name.partition("/")[0]
            raise _refused(rule, costs[denied], waits[denied], [*shown.items()])
        exchange.on_end.append(partial(_settle, counters, receipt, limits, exchange.record))
        response = following(exchange)
        response.gateway_headers = shown
        return response

    return stage


def _settle(counters: Counters, receipt: object, limits: LimitSet, record: RequestRecord) -> None:
    if (costs := limits.came_to(record)) is not None:
        counters.settle(receipt, costs)


class _LimitSets:
    """The limit sets of a route's requests, in an LRU cache."""

    def __init__(self, rules: Sequence[Rule], services: Services, upstream: str) -> None:
        self._proxies = services.proxies
        self._upstream = upstream
        # Callers have many addresses: the cache is bounded.
        self._limit_set = lru_cache(maxsize=_CACHED_SETS)(partial(_limit_set, tuple(rules)))

    def find(self, exchange: Exchange) -> LimitSet:
        caller, entry, upstream = exchange.caller, "", self._upstream
        if exchange.targets:
            first = exchange.targets[0]
            # Of a wildcard all names count together: a caller could make up ever new ones.
            entry, upstream = first.entry, first.upstream.name
        if caller is not None:
            name, quotas = caller.name, caller.limits
        else:
            name, quotas = f"@{caller_address(exchange.environ, self._proxies)}", ()
        return self._limit_set(name, quotas, exchange.operation, entry, upstream)


def _limit_set(
    rules: tuple[Rule, ...],
    name: str,
    quotas: tuple[Quota, ...],
    operation: str,
    model: str,
    upstream: str,
) -> LimitSet:
    """The rules of the route and those of the token's own `quotas`, each with who shares it: `name`
    is the token's, or an address where there is no token."""
    who = {"token": name, "route": operation, "model": model, "upstream": upstream}
    token_rules = [Rule(quota, "token", f"token/{quota.kind}/{quota.window:g}") for quota in quotas]
    rules = (*rules, *token_rules)
    return LimitSet(rules, [who.get(rule.by, "") for rule in rules])


def _refused(rule: Rule, cost: int, wait: float, headers: list[tuple[str, str]]) -> GatewayError:
    allowance = rule.allowance
    whose = {"token": "this token", "all": "everybody together"}.get(rule.by, f"this {rule.by}")
    span = _span(allowance.window)
    if allowance.kind == "concurrency":
        message = f"Too many requests at one time: {allowance.amount} for {whose}."
        return GatewayError(429, "concurrency_limit_exceeded", message, headers=_after(1.0))
    if allowance.kind == "spend":
        message = f"The budget of {whose} for {span} is used up. It frees up as time passes."
        after = _after(wait)
        if cost > allowance.amount:
            message = f"This request may cost more than the budget of {whose} for {span}. "
            message, after = message + "Ask for fewer tokens.", []
        return GatewayError(402, "budget_exceeded", message, headers=after, retry=False)
    kind, code = allowance.kind, _ASKS_TO_WAIT[allowance.kind]
    if cost > allowance.amount:
        message = (
            f"This request may use {cost} tokens; the limit of {whose} is "
            f"{allowance.amount} per {span}. Ask for fewer."
        )
        return GatewayError(429, code, message, headers=headers, retry=False)
    message = f"Limit reached: {allowance.amount} {kind} per {span} for {whose}."
    return GatewayError(429, code, message, headers=[*headers, *_after(wait)])


def _after(seconds: float) -> list[tuple[str, str]]:
    return [("retry-after", str(max(1, math.ceil(seconds))))]


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
        message = "LimitSet cannot be checked right now. Try again in a moment."
        raise GatewayError(503, "counters_unavailable", message, headers=_after(1.0))
