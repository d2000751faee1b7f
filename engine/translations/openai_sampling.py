"""Temperature, top_p, top_k and verbosity for OpenAI's models."""

from __future__ import annotations

from msgspec import Raw

from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest
from engine.translations.neutral.sampling import is_wide, number
from engine.translations.openai_models import samples, takes_verbosity


def write_sampling(
    request: ChatRequest, model: str, effort: str | None, losses: Losses
) -> dict[str, Raw]:
    """The members for a model that is asked for an effort. A model that takes none of them gets
    none, which is the same for a temperature and a top_p of 1."""
    members: dict[str, Raw] = {}
    takes = samples(model, effort)
    for name in ("temperature", "top_p"):
        value = getattr(request, name)
        if value is not None and takes:
            members[name] = value
        elif value is not None and number(value) != 1:
            wide = name == "top_p" and is_wide(name, value)
            losses.add(request.place_of(name), "a model that reasons takes none", hint=wide)
    if request.top_k is not None:
        losses.add(request.place_of("top_k"), hint=is_wide("top_k", request.top_k))
    return members


def write_verbosity(request: ChatRequest, model: str, losses: Losses) -> str | None:
    """The verbosity, None for none and for a model that has but one."""
    if not request.verbosity or takes_verbosity(model):
        return request.verbosity or None
    if request.verbosity != "medium":
        losses.add(request.place_of("verbosity"), "this model has but one", hint=True)
    return None
