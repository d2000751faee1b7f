"""Composing a handler from stages: the first stage is the outermost."""

from __future__ import annotations

from collections.abc import Sequence

from engine.exchange.exchange import Exchange, Handler, Response, Stage


def compose(stages: Sequence[Stage], last: Handler) -> Handler:
    """`compose([a, b], last)` calls a, which calls b, which calls last."""
    handler = last
    for stage in reversed(stages):
        handler = _bind(stage, handler)
    return handler


def _bind(stage: Stage, following: Handler) -> Handler:
    def handle(exchange: Exchange) -> Response:
        return stage(exchange, following)

    return handle
