"""The stage that selects the requested model, checks that the caller may use it, and finds the
targets that have the operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.config.model_operation import ModelOperation, join_operation_names
from engine.exchange.exchange import MISSING, Exchange, Handler, Response
from engine.exchange.requested_model import RequestedModel
from engine.spec.expression import Expression
from engine.spec.model_locations import ModelLocations, early_model_name
from engine.upstream.models.caller_choices import check_choices
from engine.upstream.models.model_catalog import Catalog, ModelsByOperation, ServedModel
from engine.upstream.models.regional_targets import RegionalModels
from engine.values.errors import GatewayError
from engine.values.units import format_excerpt

_MAX_SHOWN = 200
_MAX_NAME = 512


class SelectModel:
    """A stage that sets `exchange.model` with its targets: those that have the operation, targets
    without a translation first.

    `locations` are those of the model's name in a request, `default` is the model of a request that
    names none. `operation` stands for all of its kind (see `ModelOperations.kind`). Bodies are
    parsed, but not validated yet. `regional` has the targets in required regions, None if nobody
    requires any.

    Raises GatewayError 400 without a model, 403 for one that the caller may not use, for one
    without a target in the required region and for a choice that callers do not have
    (`caller_choices`), 404 for a model that does not exist or does not have the operation.
    """

    def __init__(
        self,
        locations: ModelLocations,
        default: str,
        operation: ModelOperation,
        models: ModelsByOperation,
        catalog: Catalog,
        regional: RegionalModels | None = None,
    ) -> None:
        self._locations, self._expression = locations, locations.model
        self._prefix = locations.prefix if locations.model.location == "body" else ""
        self._default = default
        self._operations = models.operations
        self._models = models.of(operation)
        self._catalog = catalog
        self._regional = regional
        self._counts = bool(operation.counts)  # without a target the gateway estimates

    def __call__(self, exchange: Exchange, following: Handler) -> Response:
        prefix = ""
        if (early := exchange.model.early) is not None:
            name, served = early
            span = None
        else:
            value, span = self._expression.check(exchange)
            name = _name(value, self._expression, self._default, exchange)
            if self._prefix and name.startswith(self._prefix):
                prefix, name = self._prefix, name.removeprefix(self._prefix)
            served = self._find(name, exchange)
        model = exchange.model = RequestedModel(name, span, prefix=prefix)
        exchange.record.requested_entry = served.name
        if served.count_tokens is not None:
            model.count_tokens = served.count_tokens
        mirror = served.mirror
        if served.rules:
            served = self._by_rule(served, exchange)
        if mirror is not None and model.rule is None:  # a rule has all targets of its requests
            model.mirror = mirror
        if served.choices and served.may_choose(exchange):
            check_choices(exchange, served, self._catalog)
        if self._locations.copies:
            self._locations.find_copies(exchange)
        model.targets = served.order(exchange)
        return following(exchange)

    def _by_rule(self, model: ServedModel, exchange: Exchange) -> ServedModel:
        """The model with the targets that its rules choose. Raises GatewayError 404 if none of
        those has the operation, 403 if none is in the required region, 400 for a value that the
        request has twice."""
        served = model.for_request(exchange)
        if not served.groups and not self._counts:
            raise _without_target(exchange, self._expression)
        return served if self._regional is None else self._regional.of(served, exchange.caller)

    def check_early(self, exchange: Exchange) -> None:
        """Refuse a model that the request names before its body is parsed. Raises GatewayError 403
        or 404."""
        self._find_early(exchange)

    def check_head(self, exchange: Exchange, following: Handler) -> Response:
        """A stage before the body is received, on routes whose head names the model."""
        early = self._find_early(exchange)
        if self._expression.location == "path":  # there the name stands once
            exchange.model = RequestedModel(early=early)
        return following(exchange)

    def _find_early(self, exchange: Exchange) -> tuple[str, ServedModel] | None:
        """The name that the request has before its body is parsed, and its model; None without a
        name. Raises GatewayError 403 or 404."""
        name = early_model_name(self._expression, exchange)
        return (name, self._find(name, exchange)) if 0 < len(name) <= _MAX_NAME else None

    def _find(self, name: str, exchange: Exchange) -> ServedModel:
        """The model with its targets for this operation. Raises GatewayError 403 or 404."""
        entry = self._catalog.find(name)
        caller = exchange.caller
        if caller is not None and not caller.may_use(name):
            raise _not_allowed(name, self._expression)
        if entry is None:
            raise _unknown(name, self._expression, exchange, self._catalog)
        model = self._models.find(entry)
        if model is None:
            operations = self._operations.of(entry.name)
            raise _without_operation(name, exchange.operation, operations, self._expression)
        if self._regional is None or model.rules:  # a rule decides first
            return model
        return self._regional.of(model, caller)


def _name(name: Any, expression: Expression, default: str, exchange: Exchange) -> str:
    """The name of the model in the request, or the default. Raises GatewayError 400 or 404."""
    if isinstance(name, str) and 0 < len(name) <= _MAX_NAME:
        if expression.location == "header" and "," in name:
            message = f"'{expression.param}' is given twice; send it once."
            raise GatewayError(400, "invalid_value", message, param=expression.param)
        return name
    if name is MISSING or name is None or name == "":
        body = exchange.content.value
        if expression.location == "body" and not (body is MISSING or isinstance(body, dict)):
            message = "Invalid type for the request body: expected an object."
            raise GatewayError(400, "invalid_type", message)
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
    message = f"The model '{format_excerpt(name, _MAX_SHOWN)}' does not exist here."
    raise GatewayError(404, "model_not_found", message, param=expression.param)


def _not_allowed(name: str, expression: Expression) -> GatewayError:
    message = f"This token may not use the model '{format_excerpt(name, _MAX_SHOWN)}'."
    return GatewayError(403, "model_not_allowed", message, param=expression.param)


def _unknown(
    name: str, expression: Expression, exchange: Exchange, catalog: Catalog
) -> GatewayError:
    caller = exchange.caller
    may_use = (lambda _: True) if caller is None else caller.may_use
    suggestion = catalog.suggestions.near(name, may_use)
    hint = f" Did you mean '{suggestion}'?" if suggestion else ""
    excerpt = format_excerpt(name, _MAX_SHOWN)
    message = f"The model '{excerpt}' does not exist here, or the token may not use it.{hint}"
    return GatewayError(404, "model_not_found", message, param=expression.param)


def _without_operation(
    name: str,
    operation: str,
    operations: Sequence[ModelOperation],
    expression: Expression,
) -> GatewayError:
    """404 for a model that exists and does not have the operation."""
    has = join_operation_names(operations)
    excerpt = format_excerpt(name, _MAX_SHOWN)
    message = f"The model '{excerpt}' does not have {operation}; it has {has}."
    return GatewayError(404, "model_not_found", message, param=expression.param)


def _without_target(exchange: Exchange, expression: Expression) -> GatewayError:
    """404 for a request that the rules of its model send to targets without the operation."""
    name = format_excerpt(exchange.model.name, _MAX_SHOWN)
    message = f"The model '{name}' does not have {exchange.operation} for requests like this one."
    return GatewayError(404, "model_not_found", message, param=expression.param)
