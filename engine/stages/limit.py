"""Enforcing quotas: a request takes from them before its body is received, and settles them when it
ends. From those that depend on its model or its body it takes before it is sent.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from functools import partial

from engine.callers.limits.limit_set import LimitSet
from engine.callers.limits.request_names import place_text
from engine.callers.limits.route_limits import Part, RouteLimits
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.member_protocols import Headers
from engine.exchange.request_record import RequestRecord
from engine.exchange.stage_services import Services, Warn
from engine.process.log_throttle import LogThrottle
from engine.values.calendar import SECOND, Calendar
from engine.values.counters import Counters, CountersAway, LimitWarning, TakeResult
from engine.values.errors import GatewayError
from engine.values.quota import KINDS, Quota, QuotaRule
from engine.values.quota_sharers import NOBODY, OTHERS, PLACES, Sharer, Sharing
from engine.values.quota_window import Window

counters_warning = LogThrottle(level=logging.ERROR)
"""Logs that the counters are unavailable, at most once a minute."""


def limit(
    rules: Sequence[QuotaRule], services: Services, upstream: str = "", part: Part = Part.ALL
) -> Stage:
    """A stage that enforces one `part` of the quotas of a route, of the caller's token and of its
    teams at once.

    Raises GatewayError 429, for money 402, with `retry-after`; 503 when the counters are
    unavailable and the config says to deny; 400 for a request that lacks what a limit counts by,
    if that is refused. A request that never reaches an upstream is refunded.
    `upstream` is the fixed upstream of the route, "" for none.
    """
    limit_sets = RouteLimits(rules, services.proxies, upstream, part, tables=services.names)
    has_rules, is_first = limit_sets.has_rules, part.earlier is None
    counters = services.counters
    if counters is None:
        return lambda exchange, following: following(exchange)

    def stage(exchange: Exchange, following: Handler) -> Response:
        if not has_rules:
            caller = exchange.caller
            if caller is None or not caller.is_limited:
                return following(exchange)
        limits = limit_sets.of(exchange)
        if not limits.limits:
            return following(exchange)
        costs = limits.costs(exchange, services.prices)
        try:
            result = counters.take(limits.limits, costs)
        except CountersAway as error:
            _without_counters(exchange.record, services, error)
            return following(exchange)
        record, earlier = exchange.record, exchange.head_take
        if limits.warns:
            _warn(exchange, limits, costs, result, services.warn)
        if result.denied is not None:
            headers = limits.headers(result.remaining, result.resets, earlier)
            raise _denial(limits, costs, result, services.clock(), [*headers.items()], record)
        if is_first:
            exchange.head_take = result
        try:
            response = following(exchange)
        finally:
            if limits.settles or not record.reached_upstream:
                exchange.on_end.append(partial(_settle, counters, result.receipt, limits, record))
        if response.gateway_headers is None:
            response.gateway_headers = limits.headers(result.remaining, result.resets, earlier)
        return response

    return stage


def _warn(
    exchange: Exchange, limits: LimitSet, costs: Sequence[int], result: TakeResult, warn: Warn
) -> None:
    """Pass the warnings on that are due: at the end of the request, when its costs are known; now
    if a quota refuses it."""
    if result.denied is None:
        exchange.on_end.append(
            lambda: _pass_on(limits.warnings(costs, result, exchange.record), warn)
        )
    elif costs[result.denied] <= limits.limits[result.denied].amount:
        _pass_on(limits.refusal_warnings(result), warn)


def _pass_on(warnings: Sequence[LimitWarning], warn: Warn) -> None:
    for warning in warnings:
        warn(warning)


def _settle(counters: Counters, receipt: object, limits: LimitSet, record: RequestRecord) -> None:
    if (costs := limits.final_costs(record)) is not None:
        counters.settle(receipt, costs)


def _denial(
    limits: LimitSet,
    costs: Sequence[int],
    result: TakeResult,
    now: float,
    headers: Headers,
    record: RequestRecord,
) -> GatewayError:
    """The error of a request that one of the quotas has denied, which the record names."""
    denied = result.denied
    assert denied is not None
    rule = limits.rules[denied]
    record.limit = rule.name.partition("/")[0]
    sharer = sharers_text(rule.by, limits.sharers[denied])
    return _refusal(rule.quota, sharer, costs[denied], result.waits[denied], now, headers)


def sharers_text(by: Sharing, name: str) -> str:
    """Who shares a quota, for a message to the caller; `name` is that under which it is counted."""
    if not by.sharers:
        return "all callers together"
    names = name.split("|") if len(by.sharers) > 1 else [name]
    texts = [_sharer_text(sharer, text) for sharer, text in zip(by.sharers, names, strict=True)]
    return " with ".join(texts)


def _sharer_text(sharer: Sharer, name: str) -> str:
    if sharer.kind == "team":
        text = "this team" if name.startswith("#") else f"team '{name}'"
        return "all callers without a team" if name == NOBODY else text
    if sharer.kind not in PLACES:
        return f"this {sharer.kind}"
    place = place_text(sharer)
    others = {
        NOBODY: f"all requests without {place}",
        OTHERS: f"all further values of {place}",
    }
    return others.get(name, f"this {place}")


def _refusal(
    quota: Quota, sharer: str, cost: int, wait: float, now: float, headers: Headers
) -> GatewayError:
    """The error of a request that is beyond a quota of `sharer`; `wait` in seconds, `now` in Unix
    seconds."""
    kind = KINDS[quota.kind]
    next_window = _next_window(quota.window, now + wait)
    window = _window_text(quota.window)
    too_large = cost > quota.amount
    if kind.at_one_time:
        message = f"Too many {kind.unit}: {quota.amount} for {sharer}."
        return GatewayError(kind.status, kind.code, message, headers=_retry_after(1.0))
    if kind.money:
        window = f"this {window}" if isinstance(quota.window, Calendar) else window
        message = f"The budget of {sharer} for {window} is used up. {next_window}"
        if too_large:
            message = f"This request may cost more than the budget of {sharer} for {window}. "
            message += "Ask for fewer tokens."
        retry = headers if too_large else [*headers, *_retry_after(wait)]
        return GatewayError(kind.status, kind.code, message, headers=retry, retry=False)
    if too_large:
        message = (
            f"This request may use {cost} {kind.unit}; the limit of {sharer} is "
            f"{quota.amount} per {window}. Ask for fewer."
        )
        return GatewayError(kind.status, kind.code, message, headers=headers, retry=False)
    message = f"Limit reached: {quota.amount} {kind.unit} per {window} for {sharer}."
    if isinstance(quota.window, Calendar):
        message += f" {next_window}"
    retry = [*headers, *_retry_after(wait)]
    return GatewayError(kind.status, kind.code, message, headers=retry)


def _retry_after(seconds: float) -> Headers:
    return [("retry-after", str(max(1, math.ceil(seconds))))]


def _next_window(window: Window, start: float) -> str:
    """When the quota is available again, for a message; `start` in Unix seconds."""
    if not isinstance(window, Calendar):
        return "More becomes available as time passes."
    return f"The next {window.period} begins at {window.local_time(round(start) * SECOND)}."


def _window_text(window: Window) -> str:
    """A window for a message: `1 minute`, `90 seconds`, `30 days`, `month`."""
    if isinstance(window, Calendar):
        return window.period
    for unit, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if window >= size and window % size == 0:
            return f"{window / size:g} {unit}{'s' if window != size else ''}"
    return f"{window:g} seconds"


def _without_counters(record: RequestRecord, services: Services, error: CountersAway) -> None:
    """Let a request pass or refuse it, as the config says; log that once a minute."""
    record.uncounted = True
    effect = "pass uncounted" if services.allow_uncounted else "are refused"
    message = "the counters are unavailable (%s); requests with limits %s"
    counters_warning.log(message, error, effect)
    if not services.allow_uncounted:
        message = "Limits cannot be checked right now. Try again in a moment."
        raise GatewayError(503, "counters_unavailable", message, headers=_retry_after(1.0))
