"""`allow_ips: [10.0.0.0/8]`: the networks that may send requests; others get 403.

Behind a proxy, `server.trusted_proxies` lists the proxies whose X-Forwarded-For is trusted.
"""

from __future__ import annotations

from engine.config.json_schema import Schema
from engine.exchange.exchange import Exchange, Handler, Response, Stage
from engine.exchange.stage_services import Services
from engine.policies.interface import StagePolicy
from engine.values.client_address import Network, caller_address, networks, within
from engine.values.errors import GatewayError

_SCHEMA: Schema = {
    "description": "Addresses or networks of callers: 10.0.0.0/8.",
    "type": "array",
    "x-modelway": {"unit": "network"},
    "minItems": 1,
    "items": {"type": "string", "minLength": 1},
}


def _build(options: tuple[Network, ...], services: Services) -> Stage:
    def allow_ips(exchange: Exchange, following: Handler) -> Response:
        address = caller_address(exchange.environ, services.proxies)
        if not within(address, options):
            message = f"Requests from {address or 'here'} are not allowed."
            raise GatewayError(403, "address_not_allowed", message)
        return following(exchange)

    return allow_ips


POLICY = StagePolicy(schema=_SCHEMA, read=networks, build=_build)
