"""Which model the request asks for, whether the caller may, and the targets that serve it."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import GatewayError
from engine.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.problem import near
from engine.services import Services
from engine.spec.expression import Expression
from engine.upstream.catalog import Catalog, Served

_LONGEST = 200
_LONGEST_NAME = 512


def select(
    expression: Expression,
    also: Sequence[Expression],
    default: str,
    dialect: str,
    catalog: Catalog,
    services: Services,
) -> Stage:
    """A stage that sets `exchange.model` and `exchange.targets`.

    Raises GatewayError 400 without a model, 403 for one the caller may not use, 404 for one that
    does not exist or is not served in the route's dialect.
    """

    def stage(exchange: Exchange, following: Handler) -> Response:
        exchange.model_at = expression.check(exchange)
        name = _name(expression, default, exchange)
        served = catalog.find(name)
        if exchange.caller is not None and not exchange.caller.may_use(name):
            raise GatewayError(
                403,
                "model_not_allowed",
                f"This token may not use the model '{_short(name)}'.",
                param=expression.param,
            )
        if served is None:
            raise _unknown(name, expression, exchange, catalog)
        exchange.model, exchange.account.asked = name, served.name
        exchange.repeats = [at for place in also for at in place.repeats(exchange, name)]
        exchange.targets = _speaking(served, dialect, expression, services)
        return following(exchange)

    return stage


def _name(expression: Expression, default: str, exchange: Exchange) -> str:
    name = expression.read(exchange)
    if name is MISSING or name is None or name == "":
        if default and expression.accepts(exchange):
            return default
        raise GatewayError(
            400,
            "missing_required_parameter",
            f"Missing required parameter: '{expression.param}'. It names the model to use.",
            param=expression.param,
        )
    if not isinstance(name, str):
        raise GatewayError(
            400,
            "invalid_type",
            f"Invalid type for '{expression.param}': expected the name of a model.",
            param=expression.param,
        )
    if len(name) > _LONGEST_NAME:
        message = f"The model '{_short(name)}' does not exist here."
        raise GatewayError(404, "model_not_found", message, param=expression.param)
    return name


def _unknown(
    name: str, expression: Expression, exchange: Exchange, catalog: Catalog
) -> GatewayError:
    caller = exchange.caller
    usable = [n for n in catalog.names() if caller is None or caller.may_use(n)]
    meant = near(name[:_LONGEST], usable)
    hint = f" Did you mean '{meant}'?" if meant else ""
    return GatewayError(
        404,
        "model_not_found",
        f"The model '{_short(name)}' does not exist here, or the token may not use it.{hint}",
        param=expression.param,
    )


def _speaking(
    served: Served, dialect: str, expression: Expression, services: Services
) -> list[object]:
    """The targets that speak the route's dialect, in the order in which they are tried."""
    candidates = served.candidates(services.dice)
    speaking = [t for t in candidates if t.upstream.dialect in ("", dialect)]
    if not speaking:
        others = sorted({target.upstream.dialect for target in candidates})
        raise GatewayError(
            404,
            "model_not_found",
            f"The model '{_short(served.name)}' is not served in the {dialect} format; "
            f"it speaks {' and '.join(others)}.",
            param=expression.param,
        )
    return list(speaking)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[:_LONGEST] + "..."
