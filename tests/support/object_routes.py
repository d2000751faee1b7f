"""Last handlers of routes with objects, in front of upstreams without a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine import dialects
from engine.config.server import Server
from engine.credentials.interface.fixed import HeaderCredential
from engine.exchange.exchange import Exchange
from engine.exchange.opened_ids import OpenedIds
from engine.objects.facts_reader import read_facts
from engine.objects.id_opener import IdOpener
from engine.objects.sealed_ids import Holder, Identity, Sealer
from engine.upstream.objects.object_forward import ObjectForward, ObjectRoute
from engine.upstream.requests.route_headers import RouteHeaders
from engine.upstream.targets.target import Target
from tests.support.exchanges import new_exchange
from tests.support.upstreams import SERVICES, WATCHER, Client, group, upstream

SEALER = Sealer(["a key for tests " * 4], ["alpha", "beta"])
OWNER, OTHER = b"owner--1", b"owner--2"
ALPHA = Holder("alpha")


def sealed(vendor_id: str, kind: str = "file", holder: Holder = ALPHA) -> str:
    """The id of an object of OWNER."""
    return SEALER.seal(Identity(vendor_id, holder, OWNER), kind)


def target(name: str, *keys: str, client: Client | None = None) -> Target:
    """The target of an upstream with these keys as its credentials."""
    credentials = [HeaderCredential("header", "x-key", key) for key in keys]
    return upstream(client or Client(), name, credentials).target("", 1)


def forward(
    kind: type[ObjectForward],
    facts: Mapping[str, Any],
    *targets: Target,
    owner: str = "token",
    **options: Any,
) -> Any:
    """The last handler of a route to these targets."""
    read, faults = read_facts(facts)
    assert read is not None, faults
    opener = IdOpener(SEALER, everybody=owner == "all", passes=False)
    return kind(
        None,
        fixed=group(*targets),
        headers=RouteHeaders([each.upstream for each in targets]),
        services=SERVICES,
        watcher=WATCHER,
        dialect=dialects.get("openai"),
        objects=ObjectRoute(read, opener, owner, Server()),
        **options,
    )


def opened(holder: Holder | None = None, query: str = "", **names: str) -> Exchange:
    """A GET request of OWNER whose ids were opened."""
    exchange = new_exchange("GET", "/v1/files", query, mount="/v1", environ={"HTTP_HOST": "here"})
    exchange.objects = OpenedIds(OWNER, holder, "file", dict(names))
    return exchange
