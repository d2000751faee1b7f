"""Stages of routes to stored responses, in a gateway whose records keep them. They come before ids
are opened, because what is stored is what the caller sees."""

from __future__ import annotations

from urllib.parse import unquote

import orjson

from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.opened_ids import Turn
from engine.exchange.request_body import Body
from engine.objects.id_opener import IdOpener, not_found
from engine.objects.response_items import items_of, join_items, whole_request
from engine.objects.sealed_ids import owner_of
from engine.objects.stored_responses import (
    KIND,
    StoredResponse,
    StoredResponses,
    input_page,
    is_in_records,
)
from engine.process.preemption import PREEMPTION
from engine.spec.model_locations import ModelLocations
from engine.values.errors import GatewayError
from engine.values.event_json import json_or_none
from engine.values.trees import Json

_JSON = [("content-type", "application/json")]


def continue_response(
    responses: StoredResponses,
    opener: IdOpener,
    owner: str,
    locations: ModelLocations | None,
    *,
    keeps: bool,
) -> Stage:
    """A stage that puts the turns of a stored response in front of the request that continues it,
    unless a target of the request has them. `keeps`: the answer is one to keep.

    Raises GatewayError 400 for a response that is no longer stored, 404 for another owner's."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        value = exchange.content.value
        request = json_or_none(bytes(exchange.body.buffer)) if value is MISSING else value
        if not isinstance(request, dict):
            return following(exchange)
        new, previous = items_of(request.get("input")), request.get("previous_response_id")
        before = b""
        is_stored = keeps and request.get("store") is not False and not request.get("conversation")
        earlier: StoredResponse | None = None
        if isinstance(previous, str) and previous:
            identity = opener.identify(previous, KIND, owner_of(exchange.caller, owner))
            is_there = identity is None or _is_target(identity.holder.upstream, exchange)
            if identity is not None and (is_stored or not is_there):
                PREEMPTION.end()  # it waits for the records
                earlier = responses.find(identity)
            if earlier is None and identity is not None and is_in_records(identity):
                raise _no_previous_response(previous)
            before = b"" if earlier is None else earlier.items
            is_stored = is_stored and earlier is not None
            if earlier is not None and not is_there and new is not None:
                _put_before(exchange, request, before, new, locations)
            else:
                previous = ""
        items = join_items(before, new) if is_stored and new is not None else None
        exchange.record.turn = Turn(items, previous or "")
        return following(exchange)

    return stage


def _is_target(upstream: str, exchange: Exchange) -> bool:
    """Whether an upstream is one of the model's, which has what it has stored."""
    return any(target.upstream.name == upstream for target in exchange.model.targets or ())


def _put_before(
    exchange: Exchange, request: Json, before: bytes, new: bytes, locations: ModelLocations | None
) -> None:
    rest = {name: value for name, value in request.items() if name != "previous_response_id"}
    text = whole_request(rest, before, new)
    exchange.body = Body(text)
    exchange.content = exchange.content._replace(value=orjson.loads(text))
    if locations is not None:
        locations.find(exchange)


def _no_previous_response(previous: str) -> GatewayError:
    message = f"Previous response with id '{previous[:100]}' not found: it was deleted, or is too "
    message += "old. Send the whole conversation in 'input' without 'previous_response_id'."
    return GatewayError(400, "previous_response_not_found", message, param="previous_response_id")


def serve_stored_response(
    responses: StoredResponses, opener: IdOpener, owner: str, turns: str, variable: str
) -> Stage:
    """A stage that answers a request for a response which only the records have. `turns` says what
    the operation does, `variable` is the path's name for the id. What a vendor has stored is
    deleted here, too, when the vendor has deleted it.

    Raises GatewayError 404 for one that is not stored, 400 for what stored ones do not have."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        name = unquote(exchange.variable(variable))
        identity = opener.identify(name, KIND, owner_of(exchange.caller, owner))
        if identity is None or not is_in_records(identity):
            response = following(exchange)
            if turns == "delete" and identity is not None and response.status in (200, 204, 404):
                responses.remove(identity)
            return response
        PREEMPTION.end()  # it waits for the records
        record = responses.find(identity)
        if record is None:
            raise not_found()
        if turns == "delete":
            responses.remove(identity)
            body = orjson.dumps({"id": name, "object": "response", "deleted": True})
            return Response(200, [*_JSON], body)
        if turns == "cancel":
            message = "Only a response that is made in the background can be cancelled."
            raise GatewayError(400, "invalid_request", message)
        if turns == "items":
            return Response(200, [*_JSON], input_page(record.input, exchange.query))
        if "stream=true" in exchange.query.split("&"):
            message = "This response was not made in the background: read it without 'stream'."
            raise GatewayError(400, "unsupported_value", message, param="stream")
        return Response(200, [*_JSON], record.response)

    return stage
