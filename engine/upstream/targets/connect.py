"""Builds an `Upstream` of its configuration, at start-up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from engine.config.upstreams import HeaderChanges, UpstreamConfig
from engine.credentials.interface.credential import Credential, LiveCredential, OpenCredential
from engine.source.problem import Path
from engine.transforms.compile import compile_all
from engine.transforms.header_edits import HeaderEdits
from engine.transforms.template import literal
from engine.transforms.transform import RequestEdits, Transform
from engine.upstream.addresses.replicas import Replicas
from engine.upstream.addresses.source import lookup_of
from engine.upstream.admission.upstream_gates import Gates
from engine.upstream.client.client import Client
from engine.upstream.client.deadlines import Timeouts
from engine.upstream.targets.credentials import Credentials
from engine.upstream.targets.retry import Budget
from engine.upstream.targets.target import Upstream
from engine.values.admission import AdmissionQueues
from engine.values.redaction import Redaction, is_secret_name


def open_alone(credential: Credential, changed: Callable[[], None]) -> LiveCredential:
    """Open a credential for one worker, not shared with others."""
    return credential.open(None, changed)


def connect(
    config: UpstreamConfig,
    client: Callable[..., Client] = Client,
    open_credential: OpenCredential = open_alone,
    queues: AdmissionQueues | None = None,
) -> Upstream:
    """Build an upstream. `client` makes its client and `open_credential` its credentials; both use
    the network only at the first request. Without `queues` the requests in flight are not bounded.
    """
    timeouts = Timeouts(**config.timeouts)
    connections = client(config.url, timeouts=timeouts, **_client_options(config))
    secrets = [*_secrets(config, connections)]

    def redact() -> None:
        of_credentials = (secret for credential in credentials for secret in credential.secrets)
        upstream.redaction = Redaction((*secrets, *of_credentials))

    credentials = [open_credential(credential, redact) for credential in config.credentials]
    upstream = _upstream(
        config, connections, timeouts, Credentials(credentials), Gates(config, queues)
    )
    if config.resolve is not None:
        upstream.replicas = Replicas(connections, config.resolve.max_addresses)
    redact()
    return upstream


def _upstream(
    config: UpstreamConfig,
    client: Client,
    timeouts: Timeouts,
    credentials: Credentials,
    gates: Gates,
) -> Upstream:
    return Upstream(
        name=config.name,
        dialect=config.dialect,
        client=client,
        timeouts=timeouts,
        credentials=credentials,
        retry=config.retry,
        budget=Budget(config.retry.budget),
        breaker=config.breaker,
        heartbeat=config.heartbeat,
        forward_headers=config.forward_headers,
        ask_usage=config.ask_usage,
        cache_in_input=config.cache_in_input,
        responses_websocket=config.responses_websocket,
        url=config.url,
        transforms=(
            *header_changes(config.headers, config.at),
            *compile_all(config.transform, upstream=True),
        ),
        gates=gates,
        choices=config.choices,
        regions=config.regions,
    )


def _client_options(config: UpstreamConfig) -> dict[str, Any]:
    """The options of a client about its connections. An upstream whose addresses are followed does
    not use the proxy of the environment, which would look up the name itself."""
    tls, pool = config.tls, config.pool
    options = {
        "pool_size": pool.size,
        "pool_idle": pool.idle,
        "pool_age": pool.age,
        "ca": tls.ca,
        "cert": (tls.certificate, tls.key or tls.certificate) if tls.certificate else None,
        "verify": tls.verify,
    }
    if config.resolve is None:
        return options | {"proxy": config.proxy}
    return options | {"proxy": config.proxy or "", "lookup": lookup_of(config.resolve)}


def header_changes(changes: HeaderChanges, at: Path) -> tuple[Transform, ...]:
    """`headers: {set, add, remove}` of an upstream at `at`, as a transform with literal values, not
    templates; none without changes."""
    edits = HeaderEdits(
        remove=changes.remove,
        add={name: literal(value) for name, value in changes.add.items()},
        set={name: literal(value) for name, value in changes.set.items()},
    )
    return (Transform((*at, "headers"), RequestEdits(edits)),) if edits else ()


def _secrets(config: UpstreamConfig, client: Client) -> Iterator[str]:
    """The secrets that only the upstream, or the proxy in front of it, may see."""
    for credential in config.credentials:
        yield from credential.secrets
    transforms = (
        *header_changes(config.headers, config.at),
        *compile_all(config.transform, upstream=True),
    )
    for transform in transforms:
        header, query = transform.request.header, transform.request.query
        for values in (header.set, header.add, query.set, query.default):
            for name, template in values.items():
                if is_secret_name(name) and template.constant is not None:
                    yield template.constant
    if client.proxy_authorization:
        yield client.proxy_authorization
