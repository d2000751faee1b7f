"""`answer: models`: the list of models, or one of them.

The response has the format of the caller's dialect, and only models that can be called in it and
that the token may use.
"""

from __future__ import annotations

from urllib.parse import unquote

import orjson

from engine.config.model_operation import join_operation_names
from engine.dialects import Dialect
from engine.edge.answers.own_answer import AnswerSources, OwnAnswer
from engine.edge.answers.visible_models import VisibleModels
from engine.exchange.exchange import Exchange, Handler, Response
from engine.spec.parameters.query_string import Query
from engine.values.caller import Caller
from engine.values.errors import GatewayError

_JSON = [("content-type", "application/json")]
_MAX_SHOWN = 200
"""Characters of a model's name that an error shows."""


def handler(sources: AnswerSources) -> Handler:
    """A handler that lists the models that the caller may use. On a path with a variable it shows
    the model of that name, even if only a wildcard serves it."""
    visible_models, variable = sources.visible_models, sources.variable
    by_name = {dialect.name: dialect for dialect in sources.dialects}

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
    if not query:
        return visible_models.whole_list(dialect, caller)
    parameters = dict(Query.parse(query).items())
    return orjson.dumps(dialect.models(visible_models.listed(dialect, caller), parameters))


def _not_found(
    name: str, usable: bool, visible_models: VisibleModels, caller: Caller | None, variable: str
) -> GatewayError:
    message = f"The model '{name[:_MAX_SHOWN]}' does not exist here, or the token may not use it."
    operations = visible_models.operations_of(name) if usable else None
    if operations:
        message = f"The model '{name[:_MAX_SHOWN]}' is not served in this format; it has "
        message += f"{join_operation_names(operations)}."
    elif operations is None:
        suggestion = visible_models.suggestions.near(
            name, lambda model: caller is None or caller.may_use(model)
        )
        message += f" Did you mean '{suggestion}'?" if suggestion else ""
    return GatewayError(404, "model_not_found", message, param=variable)


ANSWER = OwnAnswer(
    name="models",
    summary="with the list of models that the caller may use, or one of them",
    handler=handler,
    in_every_dialect=True,
    has_slash_variables=True,
)
