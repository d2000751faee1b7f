"""What a request that was sent on says: read by the route's own expression."""

from __future__ import annotations

from typing import Any

from engine.config.model import Config
from engine.exchange.body import Body
from engine.exchange.exchange import MISSING, Exchange
from engine.exchange.wsgi_environ import environ_key
from engine.offline.rehearsal.observation import Sent
from engine.plan.route import Route
from engine.spec.path_templates import Found, PathTree
from engine.upstream.client.address import origin_of
from engine.values.errors import GatewayError


def model_sent(route: Route, sent: Sent, config: Config) -> str | None:
    """The model that the upstream is asked for; None where the request names none."""
    if route.model is None:
        return None
    found: Any = route.model.read(_as_exchange(route, sent, config))
    return None if found is MISSING else str(found)


def _as_exchange(route: Route, sent: Sent, config: Config) -> Exchange:
    """What was sent, as if it had come in: the route's expressions can be read from it."""
    origin = origin_of(config.upstreams[sent.upstream].url)
    target = sent.url.partition("://")[2].partition("/")[2]
    path, _, query = f"/{target}".partition("?")
    path = path.removeprefix(origin.base_path)
    tree = PathTree()
    tree.add(route.operation.path, sent.method, None, route.wide)
    found = tree.find(path, sent.method)
    variables = found.variables if isinstance(found, Found) else {}
    environ = {environ_key(name): value for name, value in sent.headers}
    made = Exchange(sent.method, path, query, environ, variables=variables)
    made.body = Body(sent.body)
    try:
        route.operation.bodies.parse(made, False)
    except GatewayError as error:
        raise ValueError(f"what was sent cannot be read: {error.message}") from error
    return made
