"""Pages of vendors, and lists of what is in them."""

from __future__ import annotations

import orjson

from engine.objects.facts import MEMBER
from engine.relay.held_body import LARGE
from engine.upstream.objects.object_lists import ListForward
from tests.support.object_routes import OWNER, SEALER, forward, opened, target
from tests.support.upstreams import FakeResponse

FACTS = {
    "creates": {"file": "body#/data/*/id"},
    "lists": {
        "kind": "file", "limit": "limit", "default": 4, "max": 3, "forward": "after",
        "backward": "before", "more": "body#/has_more", "first": "body#/first_id",
    },
    "marks": [{"kind": "file", "form": "map", "shown": "body#/data/*/metadata"}],
}  # fmt: skip


def row(vendor_id, owner=OWNER):
    mark = SEALER.mark(owner, "file") if owner else ""
    return {"id": vendor_id, "metadata": {MEMBER: mark} if mark else None}


def page(*rows, more=False):
    body = {"object": "list", "data": rows, "first_id": "x", "has_more": more}
    return FakeResponse(body=[orjson.dumps(body)])


def listed(client, query="", *more, **options):
    handler = forward(ListForward, FACTS, target("alpha", client=client), *more, **options)
    exchange = opened(query=query)
    response = handler(exchange)
    assert exchange.query == query
    return orjson.loads(response.body)


def ids(answer):
    return [each["id"] for each in answer["data"]]


def queries(client):
    return [request.target.partition("?")[2] for request in client.requests]


def large(*rows, more=False):
    """A page that is read in another process."""
    text = orjson.dumps({"object": "list", "data": rows, "first_id": "x", "has_more": more})
    return FakeResponse(body=[text[:-1], b" " * LARGE, text[-1:]])
