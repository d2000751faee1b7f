"""What a request used, and what that costs.

Money is counted in whole nano-units of the configured currency (10**-9), so that sums are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import ROUND_HALF_UP, Decimal

NANO = Decimal(10**9)
_ATTO = Decimal(10**18)
_ATTOS_IN_A_NANO = 10**9
_HALF = _ATTOS_IN_A_NANO // 2


@dataclass(slots=True, unsafe_hash=True)
class Usage:
    """What a request used: `input` includes `cached`, `output` includes `reasoning` (tokens all).

    Never changed once it is made; not frozen, because that makes it three times as slow to make.
    `seconds` of audio in or out, `characters` read aloud; `source` tells who counted: `upstream`,
    `estimated` by us, or `none`.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    images: int = 0
    seconds: float = 0.0
    characters: int = 0
    source: str = "none"

    def __add__(self, other: Usage) -> Usage:
        """The sum of two; its source is the less certain of the two that say something."""
        sums = {
            f.name: getattr(self, f.name) + getattr(other, f.name)
            for f in fields(self)
            if f.name != "source"
        }
        said = {self.source, other.source} - {"none"}
        source = "estimated" if "estimated" in said else "upstream" if said else "none"
        return Usage(**sums, source=source)


NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Price:
    """What one unit of each kind costs, in whole atto-units of the currency (10**-18), so that a
    request's cost is a few multiplications of integers, and exact."""

    input: int = 0
    output: int = 0
    cached: int = 0
    image: int = 0
    second: int = 0
    character: int = 0

    def cost(self, usage: Usage) -> int:
        """Nano-units for a usage, rounded half up."""
        total = self.input * usage.input + self.output * usage.output
        if cached := usage.cached:
            total += (self.cached - self.input) * cached
        if usage.images or usage.seconds or usage.characters:
            total += self.image * usage.images + self.character * usage.characters
            total += int(self.second * Decimal(str(usage.seconds)))
        return (total + _HALF) // _ATTOS_IN_A_NANO


def price_of(said: Mapping[str, object]) -> Price:
    """A price as gateway.yaml says it: tokens by the million, everything else by the piece.

    Cached input without a price of its own costs as input.
    """

    def unit(key: str, among: int = 1) -> int:
        atto = Decimal(str(said.get(key, 0))) * _ATTO / among
        return int(atto.to_integral_value(ROUND_HALF_UP))

    million = 10**6
    return Price(
        input=unit("input", million),
        output=unit("output", million),
        cached=unit("cached_input" if "cached_input" in said else "input", million),
        image=unit("image"),
        second=unit("second"),
        character=unit("character"),
    )
