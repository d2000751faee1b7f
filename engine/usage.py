"""What a request used, and what that costs.

Money is counted in whole nano-units of the configured currency (10**-9), so that sums are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import ROUND_HALF_UP, Decimal

NANO = Decimal(10**9)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a request used: `input` includes `cached`, `output` includes `reasoning` (tokens all).

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

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.input + self.output

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
    """What one unit of each kind costs, in currency units. `cached` None means as `input`."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)
    cached: Decimal | None = None
    image: Decimal = Decimal(0)
    second: Decimal = Decimal(0)
    character: Decimal = Decimal(0)

    def cost(self, usage: Usage) -> int:
        """Nano-units for a usage, rounded half up."""
        cached = self.input if self.cached is None else self.cached
        total = (
            self.input * (usage.input - usage.cached)
            + cached * usage.cached
            + self.output * usage.output
            + self.image * usage.images
            + self.second * Decimal(str(usage.seconds))
            + self.character * usage.characters
        )
        return int((total * NANO).to_integral_value(ROUND_HALF_UP))


def price_of(said: Mapping[str, object]) -> Price:
    """A price as gateway.yaml says it: tokens by the million, everything else by the piece."""
    million = Decimal(10**6)

    def unit(key: str) -> Decimal:
        return Decimal(str(said.get(key, 0)))

    cached = unit("cached_input") / million if "cached_input" in said else None
    return Price(
        input=unit("input") / million,
        output=unit("output") / million,
        cached=cached,
        image=unit("image"),
        second=unit("second"),
        character=unit("character"),
    )
