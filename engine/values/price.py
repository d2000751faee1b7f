"""What models cost: a price for every kind of usage, and tiers by the size of the input.

Prices are whole atto-units (10**-18) of the currency, so that the cost of a request is a few
multiplications of integers, and exact; costs are nano-units (10**-9).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from msgspec import Struct

from engine.values.usage import Usage

_ATTO = Decimal(10**18)
_ATTOS_IN_A_NANO = 10**9
_HALF = _ATTOS_IN_A_NANO // 2
_MILLION = 10**6

PIECES = ("image", "second", "character", "search")
"""The prices of one piece: an image, a second, a character or a search unit."""


def _token(fallback: str = "") -> int:
    """A price of tokens, with the price that applies if it is absent."""
    return field(default=0, metadata={"fallback": fallback})


@dataclass(frozen=True, slots=True)
class Price:
    """The price of one unit of each kind, in atto-units. `tiers` are the prices of requests with
    more input, the largest first, `batch` is the share of them that a request in a batch costs.
    `source` says where the price is from: CONFIG, or a provider's
    name and the date of its prices, `groq 2026-07-02`."""

    input: int = _token()
    output: int = _token()
    cached_input: int = _token("input")
    cache_write: int = _token("input")
    cache_write_1h: int = _token("cache_write")
    reasoning: int = _token("output")
    audio_input: int = _token("input")
    cached_audio_input: int = _token("cached_input")
    audio_output: int = _token("output")
    image_input: int = _token("input")
    cached_image_input: int = _token("cached_input")
    image_output: int = _token("output")
    image: int = 0
    second: int = 0
    character: int = 0
    search: int = 0
    tiers: tuple[PriceTier, ...] = ()
    batch: float = 1.0
    source: str = field(default="", compare=False)
    _differences: tuple[tuple[str, int], ...] = field(init=False, repr=False, compare=False)
    _of_pieces: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        differences = tuple((count, atto) for count, atto in self._part_prices() if atto)
        object.__setattr__(self, "_differences", differences)
        object.__setattr__(self, "_of_pieces", any(getattr(self, key) for key in PIECES))

    def _part_prices(self) -> Iterator[tuple[str, int]]:
        """Each count of a part, and what its tokens cost in addition to the counts that include
        it: the one of its fallback, and for cached tokens of a medium also all of the medium."""
        for key, other in TOKENS.items():
            if other:
                charged = getattr(self, other)
                if other == "cached_input":
                    charged += getattr(self, key.removeprefix("cached_")) - self.input
                yield _count_of(key), getattr(self, key) - charged

    def cost(self, usage: Usage) -> int:
        """Nano-units for a usage, rounded half up."""
        for tier in self.tiers:
            if usage.input > tier.above:
                return tier.price.cost(usage)
        total = self.input * usage.input + self.output * usage.output
        for count, atto in self._differences:
            total += atto * getattr(usage, count)
        if self._of_pieces:
            total += self.image * usage.images + self.character * usage.characters
            total += self.search * usage.searches
            total += int(self.second * Decimal(str(usage.seconds)))
        return max(total + _HALF, 0) // _ATTOS_IN_A_NANO

    def scaled(self, factor: Decimal, source: str) -> Price:
        """The price with every amount times a factor, rounded half up to an atto-unit."""

        def times(atto: int) -> int:
            return int((atto * factor).to_integral_value(ROUND_HALF_UP))

        amounts: dict[str, Any] = {key: times(getattr(self, key)) for key in (*TOKENS, *PIECES)}
        tiers = [PriceTier(tier.above, tier.price.scaled(factor, source)) for tier in self.tiers]
        return Price(**amounts, tiers=tuple(tiers), batch=self.batch, source=source)

    def batch_cost(self, usage: Usage) -> int:
        """Nano-units for the usage of a request in a batch, rounded half up."""
        cost = Decimal(self.cost(usage)) * Decimal(str(self.batch))
        return int(cost.to_integral_value(ROUND_HALF_UP))


TOKENS: Mapping[str, str] = {
    each.name: each.metadata["fallback"] for each in fields(Price) if "fallback" in each.metadata
}
"""The prices of a million tokens, each with the price that applies if it is absent. A count with
such a price is included in the count that the other price is for."""


def _count_of(key: str) -> str:
    """The count of a Usage that a price is for."""
    return key.removesuffix("_input") if key.startswith("cached") else key


class PriceTier(Struct, frozen=True):
    """The price of all tokens of a request with more than `above` tokens of input."""

    above: int
    price: Price


CONFIG = "config"
"""The source of prices in the config."""


def price_of(prices: Mapping[str, Any], source: str = "", batch: float = 1.0) -> Price:
    """The price of a model from gateway.yaml: tokens per million, other kinds per piece, and
    `tiers`, which name only the prices that differ. `batch` is the share of it that a request in a
    batch costs, unless it is given there."""
    tiers = sorted(prices.get("tiers", ()), key=lambda tier: -int(tier["above"]))
    base = {key: value for key, value in prices.items() if key != "tiers"}
    amounts: dict[str, Any] = {key: _token_price(base, key) for key in TOKENS}
    amounts |= {key: _atto(base.get(key, 0), 1) for key in PIECES}
    return Price(
        **amounts,
        tiers=tuple(PriceTier(int(tier["above"]), price_of({**base, **tier})) for tier in tiers),
        batch=float(prices.get("batch", batch)),
        source=source,
    )


def _token_price(prices: Mapping[str, object], key: str) -> int:
    """The price of a token, or of the kind that it falls back to. Without `cached_input`, cached
    tokens of a medium cost as much as uncached ones of that medium."""
    if key in prices:
        return _atto(prices[key], _MILLION)
    fallback = TOKENS[key]
    if fallback == "cached_input" and fallback not in prices:
        fallback = key.removeprefix("cached_")
    return _token_price(prices, fallback) if fallback else 0


def _atto(value: object, count: int) -> int:
    """Atto-units of one of `count` pieces that cost `value` together."""
    return int((Decimal(str(value)) * _ATTO / count).to_integral_value(ROUND_HALF_UP))
