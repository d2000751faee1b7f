"""Transforms on the caller's side: those of policies and of the model edit the request before it is
metered, and the response that the caller gets."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.wsgi_environ import environ_key
from engine.spec.expression import Expression
from engine.spec.operation import Operation
from engine.spec.request_bodies import check
from engine.transforms.caller_side import edit_request
from engine.transforms.transform import Transform
from engine.values.errors import GatewayError

log = logging.getLogger("modelway")


@dataclass(frozen=True, slots=True)
class ModelPlaces:
    """Where requests of a route name the model, and repeat its name."""

    model: Expression
    also: Sequence[Expression] = ()

    def find(self, exchange: Exchange) -> None:
        """Find the places again after an edit of the body."""
        exchange.model_span = self.model.check(exchange)
        exchange.model_copies = [
            span for copy in self.also for span in copy.repeats(exchange, exchange.model)
        ]


def transform(
    of_route: Sequence[Transform],
    of_models: Mapping[str, Sequence[Transform]],
    operation: Operation,
    *,
    strict: bool,
    places: ModelPlaces | None,
) -> Stage:
    """A stage that makes the edits of a route and of the entry under `models` that was requested.

    With `strict` the edited request is validated again: GatewayError 500 for one that breaks the
    document, and the log names the transforms. Raises GatewayError 400 for a request whose values
    cannot stand where a template puts them.
    """
    by_entry = {entry: (*of_route, *transforms) for entry, transforms in of_models.items()}
    route_only = tuple(of_route)

    def stage(exchange: Exchange, following: Handler) -> Response:
        transforms = by_entry.get(exchange.record.requested_entry, route_only)
        if not transforms:
            return following(exchange)
        query = exchange.query
        if edit_request(exchange, transforms):
            _parse_again(exchange, operation)
            if places is not None:
                places.find(exchange)
        if strict:
            try:
                _validate(exchange, operation, query)
            except GatewayError as error:
                raise _invalid(exchange, transforms, error) from error
        return following(exchange)

    return stage


def _parse_again(exchange: Exchange, operation: Operation) -> None:
    """Parse a form that was edited; the value of JSON has been edited with its text."""
    if exchange.media_type in ("application/x-www-form-urlencoded", "multipart/form-data"):
        operation.bodies.parse(exchange, strict=False)


def _validate(exchange: Exchange, operation: Operation, query: str) -> None:
    """Raises GatewayError 400 for an edited request that breaks the document."""
    if exchange.body.size:
        check(operation.bodies.rule(exchange), exchange.value)
    if exchange.edit_headers is not None or exchange.query != query:
        operation.check_parameters(_with_edited_headers(exchange, operation))


def _with_edited_headers(exchange: Exchange, operation: Operation) -> Exchange:
    """The request with its declared headers as they are after the edits."""
    if exchange.edit_headers is None:
        return exchange
    names = [p.name.lower() for p in operation.parameters if p.place == "header"]
    environ = dict(exchange.environ)
    values = ((name, environ.pop(environ_key(name), None)) for name in names)
    fields = [(name, value) for name, value in values if value is not None]
    for name, value in exchange.edit_headers(fields):
        environ[environ_key(name)] = value
    edited = copy.copy(exchange)
    edited.environ = environ
    return edited


def _invalid(
    exchange: Exchange, transforms: Sequence[Transform], error: GatewayError
) -> GatewayError:
    """500 for a request that the transforms made invalid, which is logged with their places."""
    log.error(
        "request %s was not sent: it breaks the document of %s after %s: %s",
        exchange.request_id,
        exchange.operation,
        " and ".join(each.place for each in transforms),
        error.message,
    )
    message = "The gateway is configured to change this request, and the result is not valid."
    return GatewayError(500, "internal_error", message, retry=False)
