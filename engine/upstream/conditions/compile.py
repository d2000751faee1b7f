"""Compiles the conditions of a rule: `if: {claim: {tenant: acme}, tokens: {minimum: 32000}}`.

All conditions of a rule must hold; a list of values means one of them. A condition on what a
request does not have does not hold. Values of the request itself (`body`, `query`, `header`,
`path`) are judged by JSON Schemas, as the policy `deny` does, but exactly: a text that is a number
meets a condition on numbers in a parameter or header only. Claims, callers and teams are verified
before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from engine.exchange.exchange import Exchange
from engine.spec.request_conditions import Condition, ConditionError, compile_condition
from engine.upstream.conditions.request_facts import RequestFacts
from engine.upstream.conditions.week_hours import WeekHours
from engine.values.json_pointer import ClaimPlace
from engine.values.quota_sharers import bounded
from engine.values.trees import Json
from engine.values.wildcard import Patterns

LOCATIONS = ("body", "query", "header", "path")
"""The kinds of conditions on a value of the request."""

_OF_BODY = frozenset({"body", "tokens", "has"})
_MAX_TOKENS = 10**9

Test = Callable[[RequestFacts], bool]
Clock = Callable[[], float]


class Conditions(Struct, frozen=True):
    """The compiled conditions of a rule. `values` are those on values of the request. `claims` are
    the places of the claims that it reads; `reads_body`: it needs the parsed body."""

    tests: tuple[Test, ...]
    values: tuple[Condition, ...]
    claims: frozenset[str]
    reads_body: bool

    def hold(self, facts: RequestFacts) -> bool:
        """Whether a request meets all of them. Raises GatewayError 400 for a value that it has
        twice."""
        return all(test(facts) for test in self.tests)


def compile_conditions(options: Json, clock: Clock = time.time) -> Conditions:
    """The conditions of `if`, which match the schema. `clock` gives Unix seconds. Raises
    ConditionError, with the place of the fault, for what the schema cannot express."""
    values = tuple(_values(options))
    tests: list[Test] = [_by_caller(options[kind], kind) for kind in _CALLERS if kind in options]
    tests += [_by_claim(place, texts) for place, texts in options.get("claim", {}).items()]
    if "time" in options:
        tests.append(_by_time(options["time"], clock))
    tests += map(_by_value, values)
    tests += [_COUNTED[kind](options[kind]) for kind in _COUNTED if kind in options]
    return Conditions(
        tests=tuple(tests),
        values=values,
        claims=frozenset(options.get("claim", ())),
        reads_body=not _OF_BODY.isdisjoint(options),
    )


def claims_of(options: Json) -> frozenset[str]:
    """The places of the claims that conditions read, compiled or not."""
    claims = options.get("claim")
    return frozenset(claims) if isinstance(claims, dict) else frozenset()


def texts_of(value: str | list[str]) -> tuple[str, ...]:
    """A text, or several, of a condition."""
    return (value,) if isinstance(value, str) else tuple(value)


def _values(options: Json) -> Iterator[Condition]:
    for location in LOCATIONS:
        for name, value in options.get(location, {}).items():
            try:
                yield compile_condition(location, name, value, required=True)
            except ConditionError:
                raise
            except ValueError as error:
                raise ConditionError(str(error), (location, name), key=True) from error


def _by_value(condition: Condition) -> Test:
    return lambda facts: condition.holds(facts.exchange)


def _caller_names(exchange: Exchange) -> tuple[str, ...]:
    return () if exchange.caller is None else (exchange.caller.name,)


def _team_names(exchange: Exchange) -> tuple[str, ...]:
    """The team of a caller, and those above it."""
    caller = exchange.caller
    if caller is None or not caller.team:
        return ()
    return (caller.team, *(team.name for team in caller.teams))


_CALLERS: dict[str, Callable[[Exchange], tuple[str, ...]]] = {
    "caller": _caller_names,
    "team": _team_names,
}


def _by_caller(value: Any, kind: str) -> Test:
    names_of, patterns = _CALLERS[kind], Patterns(texts_of(value))
    return lambda facts: any(map(patterns.match, names_of(facts.exchange)))


def _by_claim(place: str, value: Any) -> Test:
    try:
        ClaimPlace.parse(place)
    except ValueError as error:
        raise ConditionError(str(error), ("claim", place), key=True) from error
    texts = texts_of(value)
    if long := next((text for text in texts if bounded(text) != text), None):
        message = f"'{long[:80]}' is not a text of at most 64 printable ASCII characters"
        raise ConditionError(message, ("claim", place), "use a wildcard for its beginning: abc*")
    patterns = Patterns(texts)

    def test(facts: RequestFacts) -> bool:
        caller = facts.exchange.caller
        text = None if caller is None else caller.claims.get(place)
        return text is not None and patterns.match(text)

    return test


def _by_time(value: Any, clock: Clock) -> Test:
    try:
        hours = WeekHours.read(value)
    except ValueError as error:
        raise ConditionError(str(error), ("time",)) from error
    return lambda facts: hours.contains(clock())


def _by_tokens(value: Any) -> Test:
    least, most = value.get("minimum", 0), value.get("maximum", _MAX_TOKENS)
    if least > most:
        message = f"'minimum' {least} is above 'maximum' {most}: no request is that long"
        raise ConditionError(message, ("tokens",), "exchange them")
    return lambda facts: least <= facts.tokens <= most


def _by_media(value: Any) -> Test:
    kinds = frozenset(texts_of(value))
    return lambda facts: not kinds.isdisjoint(facts.media)


_COUNTED: dict[str, Callable[[Any], Test]] = {"tokens": _by_tokens, "has": _by_media}
"""What is found by reading all of the body, last: other conditions may decide before."""
