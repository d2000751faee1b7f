"""What a request used, and what of a request its usage depends on; `price.py` says what it costs.

Money is counted in whole nano-units of the configured currency (10**-9), so that sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from decimal import Decimal
from functools import cached_property

NANO = Decimal(10**9)


@dataclass(slots=True, unsafe_hash=True)
class Usage:
    """What a request used. Tokens: `input` includes `cached` (read from a cache), `cache_write`
    (stored in one, of these `cache_write_1h` for an hour), `audio_input` and `image_input`;
    `cached_audio` and `cached_image` are part of two of these. `output` includes `reasoning`,
    `audio_output` and `image_output`. `seconds` are of audio in or out, `characters` are read
    aloud. `source` says who counted: `upstream`, `estimated` (by the gateway), or `none`.

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
    cache_write: int = 0
    cache_write_1h: int = 0
    audio_input: int = 0
    cached_audio: int = 0
    audio_output: int = 0
    image_input: int = 0
    cached_image: int = 0
    image_output: int = 0

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

    def without_cache_twice(self) -> Usage:
        """The usage where the tokens of the prompt cache were added to an input that included
        them."""
        cache = self.cached + self.cache_write
        return replace(self, input=max(self.input - cache, cache))


NOTHING = Usage()


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
