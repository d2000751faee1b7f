"""The usage of a request, and the request fields that determine it. `price.py` has its cost.

Money is counted in whole nano-units of the configured currency (10**-9), so that sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from engine.values.trees import member_at

NANO = Decimal(10**9)


class Usage(Struct, frozen=True, gc=False):
    """What a request used. Tokens: `input` includes `cached` (read from a cache), `cache_write`
    (stored in one; `cache_write_1h` of these for an hour), `audio_input` and `image_input`;
    `cached_audio` is in both `cached` and `audio_input`, `cached_image` likewise. `output` includes
    `reasoning`, `audio_output` and `image_output`. `seconds` are seconds of audio in or out,
    `characters` the text read aloud, `searches` the search units of a reranking. `source` says who
    counted: `upstream`, `estimated` (the gateway), or `none`.

    It is the one list of counts: the log, the sums of the ledger and its reports follow it, and a
    new count needs a column of the ledger (`stores/ledger_entry.py`, with a migration).
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
    searches: int = 0

    def __add__(self, other: Usage) -> Usage:
        """The sum. Its source is `estimated` if one of the two is."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in COUNTS}
        sources = {self.source, other.source} - {"none"}
        source = "estimated" if "estimated" in sources else "upstream" if sources else "none"
        return Usage(**sums, source=source)

    def without_cache_twice(self) -> Usage:
        """The usage where the tokens of the prompt cache were added to an input that included
        them."""
        cache = self.cached + self.cache_write
        return replace(self, input=max(self.input - cache, cache))


NO_USAGE = Usage()

COUNTS = tuple(name for name in Usage.__struct_fields__ if name != "source")
"""The names of all counts."""

COMMON = ("input", "output", "cached")
"""The counts of tokens that most models have."""

RARE = tuple(name for name in COUNTS if name not in COMMON)
"""The others, in the order of the log."""

PIECES = ("images", "seconds", "characters", "searches")
"""The counts that are not of tokens; `price.PIECES` are their prices."""

Path = tuple[str, ...]
"""Keys from the top of a JSON body down to a member."""


@dataclass(frozen=True)
class OutputFields:
    """The members of a request that bound its output: `limits` hold the most tokens of one answer,
    `answers` the number of answers. Of each tuple, the first member that holds a count applies."""

    limits: tuple[Path, ...] = ()
    answers: tuple[Path, ...] = ()

    @cached_property
    def members(self) -> frozenset[str]:
        """The top-level keys of all paths."""
        return frozenset(path[0] for path in self.limits + self.answers)

    @cached_property
    def _answer_members(self) -> frozenset[str]:
        return frozenset(path[0] for path in self.answers)

    def wants_several(self, body: object) -> bool:
        """Whether a request wants several answers."""
        if not isinstance(body, dict) or self._answer_members.isdisjoint(body):
            return False
        paths = (path for path in self.answers if path[0] in body)
        return any(member_at(body, path) not in (None, 1) for path in paths)

    @cached_property
    def limit_members(self) -> frozenset[str]:
        """The top-level keys of the limits."""
        return frozenset(path[0] for path in self.limits)

    @cached_property
    def simple_limits(self) -> frozenset[str]:
        """The limits that are top-level members of the body."""
        return frozenset(path[0] for path in self.limits if len(path) == 1)


class Takes(Struct, frozen=True):
    """The fields of an operation's requests that determine usage, read from its document at
    start-up.

    `usage_option`: requests can ask for usage in streams. `output`: the fields that bound an answer
    counted in tokens, else None. `speech`: the member with the text to read aloud. `images`: the
    member with the number of images. `audio`: the file of a form that is a recording to transcribe.
    `searches`: the member with the query of a reranking. `free`: the operation uses nothing.
    """

    usage_option: bool = False
    output: OutputFields | None = None
    speech: str = ""
    images: str = ""
    audio: str = ""
    searches: str = ""
    free: bool = False
