"""Estimated token counts for models whose upstreams cannot count tokens in the caller's format."""

from __future__ import annotations

from engine import translations
from engine.config.model_operation import ModelOperation
from engine.exchange.exchange import Exchange, Handler, Response
from engine.metering.estimate import estimate
from engine.values.usage import Takes

ESTIMATE_HEADER = "x-modelway-estimate"
"""The header of answers that no upstream gave: what it estimates."""

_HEADERS = [("content-type", "application/json"), (ESTIMATE_HEADER, "tokens")]
_REQUEST = Takes()
_UNKNOWN_PATH = (404, 405, 501)


def estimate_tokens(operation: ModelOperation, forward: Handler) -> Handler:
    """A handler that forwards a request if a target can count its tokens. Otherwise, and where the
    server turns out to have no such path, it answers with the gateway's estimate, marked by the
    header `x-modelway-estimate: tokens`, without cost."""
    language = translations.counted_language(operation.dialect, operation.path)
    assert language is not None
    assert language.token_count is not None
    write = language.token_count.write

    def handle(exchange: Exchange) -> Response:
        if exchange.model.targets:
            response = forward(exchange)
            if not _has_no_such_path(response):
                return response
        tokens = max(estimate(exchange, _REQUEST).input, 1)
        return Response(200, [*_HEADERS], write(tokens))

    return handle


def _has_no_such_path(response: Response) -> bool:
    """Whether a server answers as one that does not know the path: many that imitate an API do not
    count tokens. An answer that speaks of the model knows the path."""
    if response.status not in _UNKNOWN_PATH:
        return False
    if not isinstance(response.body, bytes):
        response.body = b"".join(response.body)
    return b"model" not in response.body.lower()
