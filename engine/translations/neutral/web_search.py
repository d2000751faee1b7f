"""The options of a web search, in the forms of all vendors that have one."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct
from msgspec.json import Decoder

from engine.translations.neutral.losses import Losses
from engine.translations.neutral.members import decode, value_of
from engine.translations.neutral.request import BuiltInTool
from engine.values.wildcard import Patterns

_FIELDS = {
    "location": Patterns(("*.user_location",)),
    "allowed_domains": Patterns(("*.allowed_domains", "*.filters")),
    "blocked_domains": Patterns(("*.blocked_domains",)),
    "context_size": Patterns(("*.search_context_size",)),
}
"""The callers' fields of each option."""


class WebSearch(Struct):
    """Options of a search. `location` has any of city, region, country and timezone; `context_size`
    is low, medium or high, "" if not given."""

    location: dict[str, str] = {}
    allowed_domains: list[str] = []
    blocked_domains: list[str] = []
    context_size: str = ""

    def carry(self, losses: Losses, *names: str) -> dict[str, Any]:
        """The given options of these names; their losses are withdrawn."""
        options = {name: value for name in names if (value := getattr(self, name))}
        for name in options:
            losses.withdraw(_FIELDS[name])
        return options


class _Location(Struct):
    city: str | None = None
    region: str | None = None
    country: str | None = None
    timezone: str | None = None
    approximate: _Location | None = None


class _Filters(Struct, forbid_unknown_fields=True):
    allowed_domains: list[str] | None = None


class _Options(Struct):
    """The options as Anthropic's tool has them, as OpenAI's does, and as `web_search_options`."""

    user_location: _Location | None = None
    allowed_domains: list[str] | None = None
    blocked_domains: list[str] | None = None
    search_context_size: str | None = None
    filters: Raw = Raw(b"null")


_OPTIONS = Decoder(_Options)
_FILTERS: Decoder[_Filters | None] = Decoder(_Filters | None)


def read_web_search(tool: BuiltInTool) -> WebSearch:
    """The options in the declaration of a search. Raises WrongType."""
    options = decode(_OPTIONS, tool.raw, tool.place, "a web search with options of the right types")
    place = options.user_location or _Location()
    place = place.approximate or place
    names = ("city", "region", "country", "timezone")
    return WebSearch(
        location={name: text for name in names if (text := getattr(place, name))},
        allowed_domains=options.allowed_domains or _filtered(options.filters),
        blocked_domains=options.blocked_domains or [],
        context_size=options.search_context_size or "",
    )


def _filtered(raw: Raw) -> list[str]:
    """The domains of OpenAI's `filters`; none if they have anything else."""
    filters = value_of(_FILTERS, raw)
    return [] if filters is None else filters.allowed_domains or []
