"""The most tokens that a model can answer with."""

from __future__ import annotations

import msgspec

from engine.translations.neutral.losses import Losses
from engine.translations.neutral.request import ChatRequest


def with_token_limit(request: ChatRequest, most: int | None, losses: Losses) -> ChatRequest:
    """The request with a limit that the model accepts; `most` is None where it is not known.

    Agents ask for as much as the models of their own vendor can write, and vendors refuse a limit
    above their model's. The model could not write more in either case.
    """
    if most is None or request.max_tokens is None or request.max_tokens <= most:
        return request
    losses.add(request.place_of("max_tokens"), f"the model writes at most {most}", hint=True)
    return msgspec.structs.replace(request, max_tokens=most)
