"""Transforms on the caller's side: those of policies and of the model edit the request before it is
metered, and the response that the caller gets."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping, Sequence

from engine.exchange.environ_headers import with_edited_headers, without_ranges
from engine.exchange.exchange import Exchange, Handler, RequestEdits, Response, Stage
from engine.spec.bodies.request_bodies import check, use_documented_names
from engine.spec.model_locations import ModelLocations
from engine.spec.operation import Operation
from engine.spec.parameter import check_parameters
from engine.spec.schemas.refusal_sentences import without_value
from engine.transforms.caller_side import edit_request
from engine.transforms.edited_body import edit_response
from engine.transforms.response_edits import ResponseEditor, edits_bodies
from engine.transforms.template import TemplateValues
from engine.transforms.transform import Transform
from engine.values.errors import GatewayError
from engine.values.media_types import is_json

log = logging.getLogger("modelway")


def edit(
    transforms: Sequence[Transform], operation: Operation, locations: ModelLocations | None
) -> Stage:
    """A stage that makes edits of requests between two policies. It needs the stage `transform`
    behind it."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        _edit(exchange, transforms, operation, locations)
        return following(exchange)

    return stage


def transform(
    of_route: Sequence[Transform],
    of_models: Mapping[str, Sequence[Transform]],
    operation: Operation,
    *,
    strict: bool,
    locations: ModelLocations | None,
    skip: int = 0,
) -> Stage:
    """A stage that makes the edits of a route and of the entry under `models` that was requested.
    Routes whose operations have the same parameters and bodies may share it. The first `skip` of
    the route have edited the request already.

    With `strict` the edited request is validated again: GatewayError 500 if it breaks the document,
    and the log names the transforms. Raises GatewayError 400 for a value of the request that is not
    valid where a template inserts it, such as a line end in a header."""
    by_entry = {entry: (*of_route, *transforms) for entry, transforms in of_models.items()}
    route_only = tuple(of_route)

    def stage(exchange: Exchange, following: Handler) -> Response:
        transforms = by_entry.get(exchange.record.requested_entry, route_only)
        if not transforms:
            return following(exchange)
        original = _edit(exchange, transforms[skip:], operation, locations)
        if strict:
            edited = _with_edited_headers(exchange, operation)
            try:
                _validate(edited, operation, original)
            except GatewayError as error:
                raise _invalid(exchange, transforms, error) from error
        if not any(edits.response for edits in transforms):
            return following(exchange)
        editor = ResponseEditor(transforms, TemplateValues(original))
        editor.headers([])  # raises for an invalid value before the request is sent
        if edits_bodies(transforms):
            exchange.environ = without_ranges(exchange.environ)
        response = following(exchange)
        edit_response(exchange, response, editor)
        return response

    return stage


def _edit(
    exchange: Exchange,
    transforms: Sequence[Transform],
    operation: Operation,
    locations: ModelLocations | None,
) -> Exchange:
    """Edit a request. Templates have the values of the original request, which is returned."""
    if exchange.edits is None:
        exchange.edits = RequestEdits(copy.copy(exchange))
    original = exchange.edits.original
    if edit_request(exchange, transforms, TemplateValues(original)):
        _parse_again(exchange, operation)
        if locations is not None:
            locations.find(exchange)
    return original


def _parse_again(exchange: Exchange, operation: Operation) -> None:
    """Parse a form that was edited; the value of JSON has been edited with its text, in which the
    edits may have written a member in another spelling."""
    spellings = operation.bodies.spellings
    if spellings is not None and is_json(exchange.content.media_type):
        use_documented_names(exchange, spellings)
    if exchange.content.media_type in ("application/x-www-form-urlencoded", "multipart/form-data"):
        operation.bodies.parse(exchange, strict=False)


def _validate(exchange: Exchange, operation: Operation, original: Exchange) -> None:
    """Raises GatewayError 400 for an edited request that breaks the document. What was not edited
    has been validated."""
    if exchange.body is not original.body and exchange.body.size:
        check(operation.bodies.rule(exchange), exchange.content.value)
    edits = exchange.edits
    has_edited_headers = edits is not None and edits.headers is not None
    if has_edited_headers or exchange.query != original.query:
        check_parameters(operation.parameters, exchange)


def _with_edited_headers(exchange: Exchange, operation: Operation) -> Exchange:
    """The request with its declared headers after the edits. Raises GatewayError 400 for a value
    that is not valid in a header."""
    names = [p.name.lower() for p in operation.parameters if p.location == "header"]
    return with_edited_headers(exchange, names)


def _invalid(
    exchange: Exchange, transforms: Sequence[Transform], error: GatewayError
) -> GatewayError:
    """500 for a request that the transforms made invalid, which is logged with their places."""
    log.error(
        "request %s was not sent: it breaks the document of %s after %s: %s",
        exchange.request_id,
        exchange.operation,
        " and ".join(edits.place for edits in transforms),
        without_value(error.message),  # which may be the caller's text, or a secret
    )
    message = "The gateway is configured to change this request, and the result is not valid."
    return GatewayError(500, "internal_error", message, retry=False)
