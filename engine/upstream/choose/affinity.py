"""`affinity`: requests with the same key go to the same target, so that its prompt cache is used.

    choose: {affinity: $request.header.session-id}
    choose: {affinity: {by: $request.body#/user, prompt: 1000, max_load: 2}}

The key is a value of the request (`by`), or the first characters of the prompt (`prompt`): where
both stand, the prompt is the key of requests without the value. Targets are ranked for a key by
rendezvous hashing (Thaler and Ravishankar, 1998): each has a number of its own for it, and the
highest is asked. Of the keys of a target that leaves, each goes to its second choice; all others
stay. All gateways with the same targets agree, without knowing of each other.

A target that has more than `max_load` times its share of the requests in flight gets no more: they
go to the next in rank (Mirrokni, Thorup and Zadimoghaddam, 2016). Requests without a key go to the
less busy of two targets.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

import orjson

from engine.exchange.exchange import MISSING, Exchange
from engine.exchange.services import Services
from engine.spec import expression
from engine.spec.expression import Expression
from engine.upstream.choose import least_busy
from engine.upstream.prompt_text import prompt_prefix
from engine.upstream.target import Target
from engine.upstream.target_groups import Strategy, TargetGroup
from engine.upstream.target_load import GroupLoad, group_load
from engine.values.errors import GatewayError

_EXPRESSION = {
    "type": "string",
    "pattern": r"^\$request\.(body#/.+|(path|query|header)\..+)$",
    "x-modelway": {"format": "place"},
}
SCHEMA: dict[str, Any] = {
    "description": "Requests with the same value go to the same target.",
    "anyOf": [
        {
            "description": "Where the value stands: $request.header.session-id, "
            "$request.body#/user.",
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
                    "$request.body#/user.",
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
FORM = "{affinity: $request.header.session-id}"

_MAX_LOAD = 2.0
_ALWAYS = 8
"""Requests in flight that a target always may have: of few, no share can be told."""
_MASK = 2**64 - 1


class Options:
    """The options of a config, compiled."""

    __slots__ = ("max_load", "place", "prompt")

    def __init__(self, options: Any) -> None:
        options = {"by": options} if isinstance(options, str) else options
        self.place: Expression | None = expression.parse(options["by"]) if "by" in options else None
        self.prompt: int = options.get("prompt", 0)
        self.max_load: float = options.get("max_load", _MAX_LOAD)

    @property
    def reads_body(self) -> bool:
        """Whether the key stands in the parsed body."""
        return bool(self.prompt) or (self.place is not None and self.place.place == "body")


def read(options: Any) -> Options:
    """The options, as the schema allows them. Raises ValueError."""
    compiled = Options(options)
    if compiled.place is None and not compiled.prompt:
        raise ValueError("affinity needs 'by' or 'prompt'")
    return compiled


def build(options: Any, services: Services) -> Strategy:
    """The strategy of a worker."""
    return _Affinity(read(options), services)


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
    if options.place is not None:
        value = _value(options.place, exchange)
        if value is not None:
            return value
    text = prompt_prefix(exchange, options.prompt) if options.prompt else ""
    return text.encode("utf-8", "surrogatepass") if text else None


def _value(place: Expression, exchange: Exchange) -> bytes | None:
    """The value at a place; None where there is none, or two."""
    if place.place == "path" and place.steps[0] not in exchange.variables:
        return None
    try:
        value = place.read(exchange)
    except GatewayError:
        return None
    if value is MISSING or value is None or value == "":
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


class Ranks:
    """The ranking of targets for keys.

    The number of a target for a key is the product of two hashes, of the key and of the target's
    name, modulo 2**64. All of them are made by one multiplication of long integers, in which each
    target has 128 bits.
    """

    def __init__(self, targets: Sequence[Target], load: GroupLoad, max_load: float) -> None:
        self._targets = targets
        self._load = load
        self._max_load = max_load
        hashes = [_hash(target.state.name.encode()) | 1 for target in targets]
        lanes = b"".join(number.to_bytes(16, "little") for number in hashes)
        self._hashes = int.from_bytes(lanes, "little")
        self._size = len(lanes)
        self._unpack = struct.Struct(f"<{2 * len(targets)}Q").unpack
        weights = [target.weight for target in targets]
        total = sum(weights)
        self._shares = [weight / total if total else 1 / len(targets) for weight in weights]
        self._equal = len(set(weights)) == 1

    def picks(self, key: bytes) -> Iterator[Target]:
        targets = self._targets
        numbers = self.numbers(key)
        first = numbers.index(max(numbers))
        if not self._is_full(first):
            yield targets[first]
            rest = [index for index in self._order(numbers) if index != first]
        else:
            order = self._order(numbers)
            rest = [i for i in order if not self._is_full(i)]
            rest += [i for i in order if i not in rest]
        for index in rest:
            yield targets[index]

    def numbers(self, key: bytes) -> Sequence[float]:
        """The numbers of all targets for a key. With weights they are the logarithms of random
        numbers by weight, so that each target is the highest for its share of the keys."""
        product = (_hash(key) * self._hashes).to_bytes(self._size, "little")
        low_halves = self._unpack(product)[::2]
        if self._equal:
            return low_halves
        return [
            math.log((number + 1) / 2.0**64) / share if share else -math.inf
            for number, share in zip(low_halves, self._shares, strict=True)
        ]

    def _order(self, numbers: Sequence[float]) -> list[int]:
        return sorted(range(len(numbers)), key=numbers.__getitem__, reverse=True)

    def _is_full(self, index: int) -> bool:
        """Whether a target has more than its share of the requests in flight, with this one."""
        load = self._targets[index].state.load
        assert load is not None  # since `watch`
        in_flight = load.in_flight.total()
        if in_flight < _ALWAYS:
            return False
        bound = self._max_load * self._shares[index] * (self._load.in_flight.total() + 1)
        return in_flight + 1 > bound


def _hash(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")
