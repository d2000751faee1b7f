"""The stages that open what this gateway has sealed: the ids of a request, which also mark what the
request makes, and the summaries, before any target is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.opened_ids import OpenedIds
from engine.exchange.request_body import Body
from engine.objects.file_copies import FILE
from engine.objects.request_ids import RequestIds
from engine.objects.response_items import items_of, whole_request
from engine.objects.sealed_ids import owner_of
from engine.objects.summaries import MARK, Summaries
from engine.spec.model_locations import ModelLocations
from engine.values.event_json import json_or_none


def open_ids(
    ids: RequestIds,
    owner: str,
    locations: ModelLocations | None,
    signs: Sequence[bytes] = (),
) -> Stage:
    """A stage that replaces sealed ids by the vendor's, behind all policies, which see the sealed
    ones. `owner` is that of the config, `locations` where requests name the model. Parsed JSON
    that has none of these `signs` in lower case has nothing to open or to seal; without signs all
    requests may have.

    Raises GatewayError 404 for an id that is not the caller's, 400 for objects of two upstreams."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        opened = exchange.objects or OpenedIds(owner_of(exchange.caller, owner))
        internal = exchange.connection.internal
        if internal is not None and internal.holder is not None:
            opened.holder, opened.kind = internal.holder, FILE
        exchange.objects = opened  # the stage of batches may have made it
        path, query, variables = exchange.path, exchange.query, exchange.variables
        changed = ids.open(exchange, opened)
        if exchange.path != path or exchange.query != query:
            # The log has what the caller sent: the vendor's ids are nobody's business.
            exchange.on_end.append(partial(_restore, exchange, path, query, variables))
        if changed and locations is not None:
            locations.find(exchange)
        return following(exchange)

    def stage_by_signs(exchange: Exchange, following: Handler) -> Response:
        text = exchange.body.in_memory
        if text is None or exchange.content.value is MISSING:
            return stage(exchange, following)
        if max(map(text.lower().rfind, signs)) >= 0:
            return stage(exchange, following)
        return following(exchange)  # most requests; `exchange.objects` stays None

    return stage_by_signs if signs else stage


def _restore(
    exchange: Exchange, path: str, query: str, variables: Mapping[str, tuple[int, int]]
) -> None:
    exchange.path, exchange.query, exchange.variables = path, query, variables


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
