"""What a request used and what that costs, and what of a request its usage depends on.

Money is counted in whole nano-units of the configured currency (10**-9), so that sums are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property

NANO = Decimal(10**9)
_ATTO = Decimal(10**18)
_ATTOS_IN_A_NANO = 10**9
_HALF = _ATTOS_IN_A_NANO // 2


@dataclass(slots=True, unsafe_hash=True)
class Usage:
    """What a request used. Tokens: `input` includes `cached`, `output` includes `reasoning`.
    `seconds` are of audio in or out, `characters` are read aloud. `source` says who counted:
    `upstream`, `estimated` (by the gateway), or `none`.

    Do not change one. It is not frozen, because construction would take three times as long.
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
        """The sum; its source is the less certain one of the two."""
        sums = {
            f.name: getattr(self, f.name) + getattr(other, f.name)
            for f in fields(self)
            if f.name != "source"
        }
        sources = {self.source, other.source} - {"none"}
        source = "estimated" if "estimated" in sources else "upstream" if sources else "none"
        return Usage(**sums, source=source)


NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Price:
    """What one unit of each kind costs, in whole atto-units of the currency (10**-18), so that a
    request's cost is a few multiplications of integers, and exact."""

    input: int = 0
    output: int = 0
    cached_input: int = 0
    image: int = 0
    second: int = 0
    character: int = 0

    def cost(self, usage: Usage) -> int:
        """Nano-units for a usage, rounded half up."""
        total = self.input * usage.input + self.output * usage.output
        if cached := usage.cached:
            total += (self.cached_input - self.input) * cached
        if usage.images or usage.seconds or usage.characters:
            total += self.image * usage.images + self.character * usage.characters
            total += int(self.second * Decimal(str(usage.seconds)))
        return (total + _HALF) // _ATTOS_IN_A_NANO


def price_of(prices: Mapping[str, object]) -> Price:
    """The price of a model in gateway.yaml: tokens per million, other kinds per piece.

    Cached input without a price of its own costs as input.
    """

    def unit(key: str, count: int = 1) -> int:
        atto = Decimal(str(prices.get(key, 0))) * _ATTO / count
        return int(atto.to_integral_value(ROUND_HALF_UP))

    million = 10**6
    return Price(
        input=unit("input", million),
        output=unit("output", million),
        cached_input=unit("cached_input" if "cached_input" in prices else "input", million),
        image=unit("image"),
        second=unit("second"),
        character=unit("character"),
    )


Path = tuple[str, ...]
"""Keys from the top of a JSON body down to a member."""


@dataclass(frozen=True)
class OutputFields:
    """The members of a request that bound its output: `limits` are of tokens in one answer,
    `answers` are how many answers there are. Of each, the first that holds a count applies."""

    limits: tuple[Path, ...] = ()
    answers: tuple[Path, ...] = ()

    @cached_property
    def members(self) -> frozenset[str]:
        """The top-level keys of all paths."""
        return frozenset(path[0] for path in self.limits + self.answers)

    @cached_property
    def limit_members(self) -> frozenset[str]:
        """The top-level keys of the limits."""
        return frozenset(path[0] for path in self.limits)

    @cached_property
    def simple_limits(self) -> frozenset[str]:
        """The limits that stand at the top of the body."""
        return frozenset(path[0] for path in self.limits if len(path) == 1)


@dataclass(frozen=True, slots=True)
class Takes:
    """What the requests of an operation contain, read from its document at start-up.

    `usage_option`: they can ask for usage in streams. `output`: the fields that bound the answer
    where it is counted in tokens, else None. `speech`: the member that is read aloud. `images`:
    the member that says how many images are drawn. `free`: nothing is used.
    """

    usage_option: bool = False
    output: OutputFields | None = None
    speech: str = ""
    images: str = ""
    free: bool = False
