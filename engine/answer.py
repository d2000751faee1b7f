"""The answers that the gateway gives itself: its list of models."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

import orjson

from engine.dialects import Dialect, ModelCard
from engine.errors import GatewayError
from engine.exchange import Exchange, Handler, Response
from engine.problem import near
from engine.spec.query import Query

_JSON = [("content-type", "application/json")]


def models(cards: Sequence[ModelCard], variable: str = "") -> Handler:
    """A handler that lists the models the caller may use, or shows the one named in the path.

    The answer has the shape of the caller's dialect.
    """

    def handle(exchange: Exchange) -> Response:
        dialect, caller = exchange.dialect, exchange.caller
        usable = [card for card in cards if caller is None or caller.may_use(card.name)]
        if not variable:
            document = dialect.models(usable, dict(Query.parse(exchange.query).items()))
            return Response(200, _JSON, orjson.dumps(document))
        name = unquote(exchange.variable(variable))
        for card in usable:
            if card.name == name:
                return Response(200, _JSON, orjson.dumps(dialect.model(card)))
        meant = near(name[:200], [card.name for card in usable])
        hint = f" Did you mean '{meant}'?" if meant else ""
        message = f"The model '{name[:200]}' does not exist here, or the token may not use it."
        raise GatewayError(404, "model_not_found", message + hint, param=variable)

    return handle


def speaking(exchange: Exchange, dialects: Sequence[Dialect]) -> Dialect:
    """The dialect of a request on a path that may belong to several."""
    for dialect in dialects[:-1]:
        if dialect.claims(exchange.environ, exchange.query):
            return dialect
    return dialects[-1]
