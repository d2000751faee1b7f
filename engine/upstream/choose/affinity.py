"""`affinity`: requests with the same key go to the same target, so that its prompt cache is used.

    choose: {affinity: $request.header.session-id}
    choose: {affinity: {by: $request.body#/user, prompt: 1000, max_load: 2}}
    choose: {affinity: agent}

The key is a value of the request (`by`), or the first characters of the prompt (`prompt`). With
both, the prompt is the key of requests without the value. `agent` is the session of an agent: it
sends its whole conversation with each turn, so that the server which answered the last turn has
nearly all of it in its prompt cache.

Targets are ranked for a key by rendezvous hashing (Thaler and Ravishankar, 1998): a hash of the key
and the target is its rank, and the highest is asked. When a target leaves, each of its keys moves
to its second choice; all other keys stay. All gateways with the same targets rank them alike,
without communication.

A target with more than `max_load` times its share of the requests in flight gets no more requests:
they go to the next in rank (Mirrokni, Thorup and Zadimoghaddam, 2016). Requests without a key go to
the less busy of two targets.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from math import inf, log
from typing import Any

import orjson

from engine.config.json_schema import Schema
from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import MISSING, Exchange
from engine.exchange.prompt_text import opening_of, prompt_prefix
from engine.exchange.request_client import session_key
from engine.exchange.stage_services import Services
from engine.spec.expression import Expression, parse
from engine.upstream.choose import least_busy
from engine.upstream.choose.interface import StrategyKind, StrategyOptions
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_groups import TargetGroup
from engine.upstream.targets.target_load import GroupLoad, group_load
from engine.values.errors import GatewayError

_EXPRESSION = {
    "type": "string",
    "pattern": r"^(agent|\$request\.(body#/.+|(path|query|header)\..+))$",
    "x-modelway": {"format": "location"},
}
_SCHEMA: Schema = {
    "description": "Requests with the same value go to the same target.",
    "anyOf": [
        {
            "description": "Where the value stands: $request.header.session-id, "
            "$request.body#/user; agent: the session of an agent.",
            **_EXPRESSION,
        },
        {
            "description": "A value, or the beginning of the prompt.",
            "type": "object",
            "additionalProperties": False,
            "minProperties": 1,
            "properties": {
                "by": {
                    "description": "Where the value stands: $request.header.session-id, "
                    "$request.body#/user; agent: the session of an agent.",
                    **_EXPRESSION,
                },
                "prompt": {
                    "description": "The first characters of the prompt, for requests without "
                    "the value of `by`.",
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 100_000,
                },
                "max_load": {
                    "description": "How many times its share of the requests in flight a target "
                    "may have; more go to the next one.",
                    "type": "number",
                    "minimum": 1.1,
                    "maximum": 1000,
                    "default": 2,
                },
            },
        },
    ],
}
_AGENT = "agent"
_MAX_LOAD = 2.0
_UNIT = 2.0**-32
_MIN_IN_FLIGHT = 8
"""Requests in flight that a target may always have; with fewer, a share means nothing."""
_MAX_OPENING = 20_000
"""Characters of the opening that are read: instructions, and the first message."""


class Options:
    """The options of a config, compiled: `header` is the WSGI name of the header to read, and
    `by_agent` says that the session of an agent is the key."""

    __slots__ = ("by_agent", "expression", "header", "max_load", "prompt")

    def __init__(self, options: Any) -> None:
        options = {"by": options} if isinstance(options, str) else options
        by = options.get("by")
        self.by_agent = by == _AGENT
        self.expression = parse(by) if by and not self.by_agent else None
        in_header = self.expression is not None and self.expression.location == "header"
        self.header = environ_key(self.expression.steps[0]) if self.expression and in_header else ""
        self.prompt: int = options.get("prompt", 0)
        self.max_load: float = options.get("max_load", _MAX_LOAD)

    @property
    def reads_body(self) -> bool:
        """Whether the key is read from the parsed body."""
        return bool(self.by_agent or self.prompt) or (
            self.expression is not None and self.expression.location == "body"
        )


def read(options: Any) -> Options:
    """The options, as the schema allows them. Raises ValueError."""
    compiled = Options(options)
    if compiled.expression is None and not compiled.by_agent and not compiled.prompt:
        raise ValueError("affinity needs 'by' or 'prompt'")
    return compiled


class _Affinity:
    def __init__(self, options: Options, services: Services) -> None:
        self._options = options
        self._machine = services.machine
        self._without_key = least_busy.build(None, services)
        self._ranks: dict[TargetGroup, Ranks] = {}

    def watch(self, group: TargetGroup) -> None:
        self._without_key.watch(group)
        load = group_load(group, self._machine)
        self._ranks[group] = Ranks(group.targets, load, self._options.max_load)

    def picks(self, group: TargetGroup, exchange: Exchange) -> Iterator[Target]:
        key = _key(self._options, exchange)
        if key is None:
            return self._without_key.picks(group, exchange)
        return self._ranks[group].picks(key)


def _key(options: Options, exchange: Exchange) -> bytes | None:
    """The key of a request, None for one without."""
    if options.by_agent:
        if session := agent_key(exchange):
            return session.encode("utf-8", "surrogatepass")
    elif options.header:
        value = exchange.header(options.header)
        if value:
            return value.encode("utf-8", "surrogatepass")
    elif options.expression is not None:
        key = _value(options.expression, exchange)
        if key is not None:
            return key
    text = prompt_prefix(exchange, options.prompt) if options.prompt else ""
    return text.encode("utf-8", "surrogatepass") if text else None


def _value(expression: Expression, exchange: Exchange) -> bytes | None:
    """The value in the body, query or path; None if it is absent, repeated or unusable."""
    if expression.location == "path" and expression.steps[0] not in exchange.variables:
        return None
    try:
        value = expression.read(exchange)
    except GatewayError:
        return None
    if value is MISSING or value is None or value == "":
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return None  # nested too deeply for orjson


class Ranks:
    """The ranking of targets for keys.

    The number of a target for a key is the product of two hashes, of the key and of the target's
    name, modulo 2**32. All of them are made by one multiplication of long integers, in which each
    target has 64 bits. Of targets of one weight the highest number wins; of several weights the
    highest logarithm divided by the weight, so that each target wins for its share of the keys.
    The loads of the targets are watched.
    """

    def __init__(self, targets: Sequence[Target], load: GroupLoad, max_load: float) -> None:
        # Targets of equal weight are adjacent.
        self._targets = sorted(targets, key=lambda target: -target.weight)
        loads = [target.state.load for target in self._targets]
        self._loads = [each for each in loads if each is not None]
        self._group_load = load
        lanes = b"".join(
            (_hash(target.state.name.encode()) | 1).to_bytes(8, "little")
            for target in self._targets
        )
        self._hashes = int.from_bytes(lanes, "little")
        self._size = len(lanes)
        self._unpack = struct.Struct("<" + "I4x" * len(targets)).unpack
        total = sum(target.weight for target in targets)
        shares = [target.weight / total if total else 1 / len(targets) for target in self._targets]
        self._max_shares = [max_load * share for share in shares]
        weights = [target.weight for target in self._targets]
        firsts = [weights.index(weight) for weight in dict.fromkeys(weights)]
        ends = [*firsts[1:], len(weights)]
        self._classes = [(slice(a, b), weights[a]) for a, b in zip(firsts, ends, strict=True)]

    def picks(self, key: bytes) -> Iterator[Target]:
        """The targets for a key; another one than the first in rank is a move of its session."""
        product = (_hash(key) * self._hashes).to_bytes(self._size, "little")
        numbers = self._unpack(product)
        index = self._highest(numbers)
        if self._is_full(index):
            self._loads[index].moves["load"] += 1
            yield from self._others([*numbers], index, [index])
        else:
            yield self._targets[index]
            self._loads[index].moves["unavailable"] += 1
            yield from self._others([*numbers], index, [])

    def _others(self, numbers: list[int], index: int, full: list[int]) -> Iterator[Target]:
        """The targets after the one at `index`, those that are full at last."""
        for _ in numbers[1:]:
            numbers[index] = -1
            index = self._highest(numbers)
            if self._is_full(index):
                full.append(index)
            else:
                yield self._targets[index]
        for index in full:
            yield self._targets[index]

    def _highest(self, numbers: Sequence[int]) -> int:
        """The index of the target that wins with these numbers; -1 never wins."""
        if len(self._classes) == 1:
            return numbers.index(max(numbers))
        best, first, winner = -inf, 0, -1
        for members, weight in self._classes:
            number = max(numbers[members])
            if number >= 0:
                value = log((number + 1) * _UNIT) / weight if weight else -inf
                if value > best or winner < 0:
                    best, first, winner = value, members.start, number
        return numbers.index(winner, first)

    def _is_full(self, index: int) -> bool:
        """Whether a target would have more than its share of the requests in flight."""
        in_flight = self._loads[index].in_flight
        return in_flight >= _MIN_IN_FLIGHT and in_flight + 1 > self._max_shares[index] * (
            self._group_load.in_flight + 1
        )


def agent_key(exchange: Exchange) -> str:
    """The session that a request names (`session_key`). Without any, the texts up to the first
    message of the user, which are the same in each turn; "" for a request that has none either."""
    return session_key(exchange) or opening_of(exchange, _MAX_OPENING)


def _hash(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=4).digest(), "little")


STRATEGY = StrategyKind(
    build=_Affinity,
    options=StrategyOptions(
        schema=_SCHEMA, form="{affinity: $request.header.session-id}", read=read
    ),
)
