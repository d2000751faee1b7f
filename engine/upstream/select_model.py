"""Which model the request asks for, whether the caller may, and the targets that take it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from engine.config.model_operations import ModelOperation, ModelOperations, listed
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.services import Services
from engine.spec.expression import Expression
from engine.upstream.catalog import Catalog, ServedModel
from engine.upstream.target import Target
from engine.values.errors import GatewayError

_LONGEST = 200
_LONGEST_NAME = 512


def select(
    expression: Expression,
    also: Sequence[Expression],
    default: str,
    operation: ModelOperation,
    operations: ModelOperations,
    catalog: Catalog,
    services: Services,
) -> Stage:
    """A stage that sets `exchange.model` and `exchange.targets`: those that take the operation.

    Raises GatewayError 400 without a model, 403 for one the caller may not use, 404 for one that
    does not exist or does not have the operation.
    """
    serving: dict[
        str, ServedModel | None
    ] = {}  # by entry: with the targets that take the operation

    def served_here(served: ServedModel) -> ServedModel | None:
        has = operation in operations.of(served.name)
        takes = partial(_takes, operation, operations)
        found = serving[served.name] = served.only(takes) if has else None
        return found

    def stage(exchange: Exchange, following: Handler) -> Response:
        exchange.model_span = expression.check(exchange)
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
        try:
            here = serving[served.name]
        except KeyError:
            here = served_here(served)
        if here is None:
            raise _not_served(name, operation, operations.of(served.name), expression)
        exchange.model, exchange.record.requested_entry = name, served.name
        exchange.model_copies = [at for place in also for at in place.repeats(exchange, name)]
        exchange.targets = here.candidates(services.dice)
        return following(exchange)

    return stage


def _takes(operation: ModelOperation, operations: ModelOperations, target: Target) -> bool:
    return operations.takes(target.entry, target.upstream.dialect, operation)


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
    usable = _everything if caller is None else caller.may_use
    meant = catalog.suggestions.near(name, usable)
    hint = f" Did you mean '{meant}'?" if meant else ""
    return GatewayError(
        404,
        "model_not_found",
        f"The model '{_short(name)}' does not exist here, or the token may not use it.{hint}",
        param=expression.param,
    )


def _everything(name: str) -> bool:
    return True


def _not_served(
    name: str,
    operation: ModelOperation,
    has: Sequence[ModelOperation],
    expression: Expression,
) -> GatewayError:
    """404 for a model that exists and does not have the operation."""
    message = (
        f"The model '{_short(name)}' cannot be asked for {operation.id}; it has {listed(has)}."
    )
    return GatewayError(404, "model_not_found", message, param=expression.param)


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[:_LONGEST] + "..."
