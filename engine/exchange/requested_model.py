"""The model that a request asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from engine.exchange.member_protocols import Target


class RequestedModel(Struct):
    """The model that a request asks for, and its `targets`, in the order of attempts.

    `name` is "" for none. `span` is the span of the name in the body, `copies` are those of its
    copies: start, end, prefix. `others` are the models that the request names for the upstream to
    use instead or besides. `early` is the name and what was found by it before the body was
    received, None for nothing. `count_tokens` counts the input of a request by the model's own
    tokenizer, None without one. `rule` is the index of the rule under `when` of the model that has
    chosen the targets, None for none. `mirror` is where a copy of the request may go, None for
    nowhere. `prefix` is what stands before the name in the request.
    """

    name: str = ""
    span: tuple[int, int] | None = None
    copies: Sequence[tuple[int, int, str]] = ()
    others: Sequence[str] = ()
    targets: Sequence[Target] = ()
    early: tuple[str, Any] | None = None
    count_tokens: Callable[[Any], int | None] | None = None
    rule: int | None = None
    mirror: Any = None
    prefix: str = ""


NO_MODEL = RequestedModel()
"""No model: the request is for another operation, or its model is not known yet. Many exchanges
share it, so it is replaced, not changed."""
