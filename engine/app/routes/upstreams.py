"""Makes the upstreams of a worker, and looks up the addresses of those with `resolve`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial

from engine.config.config import Config
from engine.credentials.interface.credential import OpenCredential
from engine.exchange.stage_services import Services
from engine.upstream.client.client import Client
from engine.upstream.models.model_states import model_states
from engine.upstream.targets.connect import connect
from engine.upstream.targets.metrics import address_collector
from engine.upstream.targets.target import Upstream


def upstreams_of(
    config: Config,
    services: Services,
    client: Callable[..., Client],
    open_credential: OpenCredential,
) -> Mapping[str, Upstream]:
    """The upstreams of a config by name. In a worker that serves, the addresses of those with
    `resolve` are looked up periodically until the services close."""
    queues = services.queues
    upstreams = {
        name: connect(upstream, client, open_credential, queues)
        for name, upstream in config.upstreams.items()
    }
    if services.background:
        for upstream in upstreams.values():
            upstream.follow()
        services.closing.append(lambda: _close(upstreams))
        services.collectors.append(
            address_collector({name: u.client.lookup for name, u in upstreams.items()})
        )
        if services.health is not None:
            services.health.details_of["upstreams"] = lambda: _details(upstreams)
            services.health.model_states = partial(model_states, upstreams)
    return upstreams


def _close(upstreams: Mapping[str, Upstream]) -> None:
    for upstream in upstreams.values():
        upstream.client.close()


def _details(upstreams: Mapping[str, Upstream]) -> Mapping[str, object]:
    """The details in `/readyz` of upstreams with `resolve`; ages in seconds."""
    now = time.monotonic()
    return {
        name: {
            "addresses": [str(address) for address in upstream.replicas.addresses],
            "omitted": upstream.replicas.omitted,
            "age": round(now - upstream.client.lookup.time, 3)
            if upstream.replicas.levels
            else None,
            "last_lookup_error": upstream.client.lookup.error or None,
        }
        for name, upstream in upstreams.items()
        if upstream.replicas is not None
    }
