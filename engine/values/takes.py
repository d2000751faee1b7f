"""What the requests of one operation contain that quotas and usage depend on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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
