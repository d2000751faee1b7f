"""Estimated token counts for models whose upstreams cannot count tokens in the caller's format."""

from __future__ import annotations

from engine import translations
from engine.config.model_operations import ModelOperation
from engine.exchange.exchange import Exchange, Handler, Response
from engine.metering.estimate import estimate
from engine.values.usage import Takes

ESTIMATE_HEADER = "x-modelway-estimate"
"""The header of answers that no upstream gave: what it estimates."""

_HEADERS = [("content-type", "application/json"), (ESTIMATE_HEADER, "tokens")]
_REQUEST = Takes()


def estimate_tokens(operation: ModelOperation, forward: Handler) -> Handler:
    """A handler that forwards a request if a target can count its tokens. Otherwise it answers with
    the gateway's estimate, marked by the header `x-modelway-estimate: tokens`, without a request to
    an upstream and without cost."""
    language = translations.counted_language(operation.dialect, operation.path)
    assert language is not None
    assert language.token_count is not None
    write = language.token_count.write

    def handle(exchange: Exchange) -> Response:
        if exchange.model.targets:
            return forward(exchange)
        tokens = max(estimate(exchange, _REQUEST).input, 1)
        return Response(200, [*_HEADERS], write(tokens))

    return handle
