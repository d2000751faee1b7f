"""Conversion of parameters between vendors: efforts and budgets of reasoning, the token limit of an
answer, sampling values with hardly any effect, and the options of a web search."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.json import Decoder

from engine.translations.neutral.json_members import WrongType, decode, value_of
from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import BuiltInTool, ChatRequest, Thinking
from engine.values.trees import Json
from engine.values.wildcard import Patterns

_Model = TypeVar("_Model")


class LimitedWriter(Generic[_Model]):
    """Writes a part of one request within the limits of a model; what is beyond them is lost."""

    def __init__(self, request: ChatRequest, model: _Model, losses: Losses) -> None:
        self._request, self._model, self._losses = request, model, losses

    def _lose(self, field: str, reason: str = "", *, hint: bool = False) -> None:
        self._losses.add(self._request.place_of(field), reason, hint=hint)


EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
"""The names of efforts in ascending order; "none" is not an effort."""

NO_REASONING = "this model does not reason"
_BUDGETS = dict(zip(EFFORTS, (1024, 2048, 4096, 8192, 16_384, 32_768), strict=True))


def budget_of(effort: str) -> int:
    return _BUDGETS[effort]


def effort_of(budget: int) -> str:
    """The effort for a budget: the highest one whose budget is not larger."""
    enough = [effort for effort, tokens in _BUDGETS.items() if tokens <= budget]
    return enough[-1] if enough else EFFORTS[0]


def nearest_effort(effort: str, efforts: tuple[str, ...]) -> str:
    """The effort itself if it is one of `efforts`, else the next lower one, else the lowest."""
    rank = EFFORTS.index(effort)
    below = [each for each in efforts if EFFORTS.index(each) <= rank]
    return below[-1] if below else efforts[0]


def unknown_effort(effort: str) -> str:
    """Why a word for an effort is not carried: what it means here would be a guess."""
    return f"'{effort[:40]}' is not one of {', '.join(EFFORTS)}"


def known_thinking(request: ChatRequest, losses: Losses) -> Thinking | None:
    """Without an effort in an unknown word, which is lost; None where nothing is left."""
    thinking = request.thinking
    if thinking is None or thinking.off or thinking.effort in ("", "none", *EFFORTS):
        return thinking
    losses.add(request.place_of("thinking"), unknown_effort(thinking.effort))
    rest = msgspec.structs.replace(thinking, effort="")
    return rest if rest.adaptive or rest.budget is not None else None


def with_token_limit(request: ChatRequest, limit: int | None, losses: Losses) -> ChatRequest:
    """Agents ask for the limit of their own vendor's models, and vendors refuse one above their
    model's. The reduction changes no answer: the model could not write more anyway. Raises
    WrongType for a negative one: no limit to local servers, refused by others."""
    if request.max_tokens is not None and request.max_tokens < 0:
        raise WrongType(request.place_of("max_tokens"), "a number from 0")
    if limit is None or request.max_tokens is None or request.max_tokens <= limit:
        return request
    losses.add(request.place_of("max_tokens"), f"the model writes at most {limit}", hint=True)
    return msgspec.structs.replace(request, max_tokens=limit)


_NUMBER = msgspec.json.Decoder(float)
_WIDE = {"top_k": 40, "top_p": 0.95}
"""The smallest of the vendors' defaults, which SDKs and agents send by themselves."""


def number(value: Raw | None) -> float | None:
    """A parameter's number, None for anything else."""
    return None if value is None else value_of(_NUMBER, value)


def is_wide(name: str, value: Raw | None) -> bool:
    """Whether a `top_k` or `top_p` has hardly any effect: it is a vendor's default or larger, or a
    `top_k` of 0 or -1, which says that there is none."""
    limit = number(value)
    return limit is not None and (limit >= _WIDE[name] or (name == "top_k" and limit <= 0))


def lose_penalties(request: ChatRequest, losses: Losses) -> None:
    for name in ("presence_penalty", "frequency_penalty"):
        penalty = getattr(request, name)
        if penalty is not None and number(penalty) != 0:
            losses.add(request.place_of(name), "the model takes none")


_FIELDS = {
    "location": Patterns(("*.user_location",)),
    "allowed_domains": Patterns(("*.allowed_domains", "*.filters")),
    "blocked_domains": Patterns(("*.blocked_domains",)),
    "context_size": Patterns(("*.search_context_size",)),
}


class WebSearch(Struct):
    """Options of a search. `location` has any of city, region, country and timezone; `context_size`
    is low, medium or high, "" if not given."""

    location: dict[str, str] = {}
    allowed_domains: list[str] = []
    blocked_domains: list[str] = []
    context_size: str = ""

    def carry(self, losses: Losses, *names: str) -> Json:
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
    filters = value_of(_FILTERS, options.filters) or _Filters()  # none if it has anything else
    return WebSearch(
        location={name: text for name in names if (text := getattr(place, name))},
        allowed_domains=options.allowed_domains or filters.allowed_domains or [],
        blocked_domains=options.blocked_domains or [],
        context_size=options.search_context_size or "",
    )
