"""The stage that opens the summaries which this gateway has made, before any target is asked."""

from __future__ import annotations

from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.request_body import Body
from engine.objects.response_items import items_of, whole_request
from engine.objects.summaries import MARK, Summaries
from engine.spec.model_locations import ModelLocations
from engine.values.event_json import json_or_none


def open_summaries(summaries: Summaries, locations: ModelLocations | None) -> Stage:
    """A stage that writes a message in place of each `compaction` item of the gateway's own, so
    that every target can read it, of whatever vendor. `locations` are where requests name the
    model.

    Raises GatewayError 400 for a summary that is not the caller's."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        if exchange.body.buffer.rfind(MARK) < 0:  # nearly every request
            return following(exchange)
        value = exchange.content.value
        request = json_or_none(bytes(exchange.body.buffer)) if value is MISSING else value
        items = request.get("input") if isinstance(request, dict) else None
        if not isinstance(request, dict) or not isinstance(items, list):
            return following(exchange)
        opened = summaries.open_items(items, exchange.caller)
        exchange.body = Body(whole_request(request, b"", items_of(opened) or b""))
        exchange.content = exchange.content._replace(value={**request, "input": opened})
        if locations is not None:
            locations.find(exchange)
        return following(exchange)

    return stage
