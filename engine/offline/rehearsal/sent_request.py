"""A request as it was sent on: the model that it names, and what changed in its body."""

from __future__ import annotations

from typing import Any, NamedTuple

import orjson

from engine.config.model import Config
from engine.exchange.body import Body
from engine.exchange.exchange import MISSING, Exchange
from engine.exchange.wsgi_environ import environ_key
from engine.offline.rehearsal.observation import Sent
from engine.plan.route import Route
from engine.spec.path_templates import Found, PathTree
from engine.upstream.client.address import origin_of
from engine.values.errors import GatewayError

ABSENT: Any = object()
"""Stands for a value that is not there."""


class Change(NamedTuple):
    """A value that changed: `place` as `messages[0].role`, ABSENT for what was or is not there."""

    place: str
    before: Any
    after: Any

    def as_json(self) -> dict[str, Any]:
        """`{place, before, after}`, without what is absent."""
        said = {"place": self.place, "before": self.before, "after": self.after}
        return {name: value for name, value in said.items() if value is not ABSENT}


def changes(before: bytes, after: bytes) -> list[Change] | None:
    """The changes from one JSON text to another; None when one of them is not JSON."""
    if before == after:
        return []
    try:
        return list(_compared("", orjson.loads(before), orjson.loads(after)))
    except orjson.JSONDecodeError:
        return None


def _compared(place: str, before: Any, after: Any) -> list[Change]:
    if isinstance(before, dict) and isinstance(after, dict):
        found = []
        for name in [*before, *(name for name in after if name not in before)]:
            below = f"{place}.{name}" if place else str(name)
            found += _compared(below, before.get(name, ABSENT), after.get(name, ABSENT))
        return found
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [one for i, (a, b) in pairs for one in _compared(f"{place}[{i}]", a, b)]
    same = type(before) is type(after) and before == after
    return [] if same else [Change(place, before, after)]


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
