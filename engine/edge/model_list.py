"""The list of models, which the gateway answers itself."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote

import orjson

from engine.config.model_operations import join_operation_names
from engine.dialects import Dialect
from engine.edge.visible_models import VisibleModels
from engine.exchange.exchange import Exchange, Handler, Response
from engine.spec.query_string import Query
from engine.values.caller import Caller
from engine.values.errors import GatewayError

_JSON = [("content-type", "application/json")]
_LONGEST = 200


def models(
    visible_models: VisibleModels, dialects: Sequence[Dialect], variable: str = ""
) -> Handler:
    """A handler that lists the models the caller may use, or shows the one named in the path, also
    where a wildcard serves it. `dialects` are those of the route.

    The response has the form of the caller's dialect, and only models that can be called in it.
    """
    by_name = {dialect.name: dialect for dialect in dialects}

    def handle(exchange: Exchange) -> Response:
        dialect, caller = by_name[exchange.dialect.name], exchange.caller
        if not variable:
            return Response(200, _JSON, _list(visible_models, dialect, caller, exchange.query))
        name = unquote(exchange.variable(variable))
        usable = caller is None or caller.may_use(name)
        card = visible_models.find(name, dialect) if usable else None
        if card is None:
            raise _not_found(name, usable, visible_models, caller, variable)
        return Response(200, _JSON, orjson.dumps(dialect.model(card)))

    return handle


def _list(
    visible_models: VisibleModels, dialect: Dialect, caller: Caller | None, query: str
) -> bytes:
    def make() -> bytes:
        parameters = dict(Query.parse(query).items())
        return orjson.dumps(dialect.models(visible_models.listed(dialect, caller), parameters))

    if query:
        return make()
    return visible_models.answers.get(
        (dialect.name, None if caller is None else caller.models), make
    )


def _not_found(
    name: str, usable: bool, visible_models: VisibleModels, caller: Caller | None, variable: str
) -> GatewayError:
    message = f"The model '{name[:_LONGEST]}' does not exist here, or the token may not use it."
    has = visible_models.operations_of(name) if usable else None
    if has:
        message = f"The model '{name[:_LONGEST]}' is not served in this format; it has "
        message += f"{join_operation_names(has)}."
    elif has is None:
        suggestion = visible_models.suggestions.near(
            name, lambda model: caller is None or caller.may_use(model)
        )
        message += f" Did you mean '{suggestion}'?" if suggestion else ""
    return GatewayError(404, "model_not_found", message, param=variable)


def speaking(exchange: Exchange, dialects: Sequence[Dialect]) -> Dialect:
    """The dialect of a request on a path that may belong to several."""
    for dialect in dialects[:-1]:
        if dialect.claims(exchange.environ, exchange.query):
            return dialect
    return dialects[-1]
