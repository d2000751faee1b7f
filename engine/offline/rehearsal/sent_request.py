"""The request that was sent to an upstream: its model, the changes of its body, and its report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from engine.config.config import Config
from engine.dialects import default
from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import MISSING, Exchange
from engine.exchange.request_body import Body
from engine.offline.rehearsal.credential_display import CredentialDisplay
from engine.offline.rehearsal.observation import Rehearsal, SentRequest
from engine.offline.rehearsal.target_report import (
    translation_report,
)
from engine.plan.route import Route
from engine.spec.document.path_tree import PathMatch, PathTree
from engine.upstream.client.address import origin_of
from engine.values.errors import GatewayError
from engine.values.trees import Json

ABSENT: Any = object()
"""Stands for an absent value."""


class BodyChange(NamedTuple):
    """A changed value: `place` is like `messages[0].role`; an absent value is ABSENT."""

    place: str
    before: Any
    after: Any

    def as_json(self, display: Callable[[object], object]) -> Json:
        """`{place, before, after}`, without what is absent; values as `display` gives them."""
        values = {"before": self.before, "after": self.after}
        values = {name: display(value) for name, value in values.items() if value is not ABSENT}
        return {"place": self.place, **values}


def changes(before: bytes, after: bytes) -> list[BodyChange] | None:
    """The changes from one JSON text to another; None if one of them is not JSON."""
    if before == after:
        return []
    try:
        return list(_compared("", orjson.loads(before), orjson.loads(after)))
    except orjson.JSONDecodeError:
        return None


def _compared(place: str, before: object, after: object) -> list[BodyChange]:
    if isinstance(before, dict) and isinstance(after, dict):
        differences = []
        for name in [*before, *(name for name in after if name not in before)]:
            below = f"{place}.{name}" if place else str(name)
            differences += _compared(below, before.get(name, ABSENT), after.get(name, ABSENT))
        return differences
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [change for i, (a, b) in pairs for change in _compared(f"{place}[{i}]", a, b)]
    same = type(before) is type(after) and before == after
    return [] if same else [BodyChange(place, before, after)]


def model_sent(rehearsal: Rehearsal, request: SentRequest, config: Config) -> str | None:
    """The model named in the request to the upstream; None if it names none."""
    route, translation = rehearsal.route, rehearsal.translation(request)
    if translation is not None:
        return translation.model
    if route is None or route.model is None:
        return None
    name: object = route.model.read(_as_exchange(route, request, config))
    return None if name is MISSING else str(name)


def _as_exchange(route: Route, request: SentRequest, config: Config) -> Exchange:
    """The sent request as an exchange, from which the route's expressions can be read."""
    origin = origin_of(config.upstreams[request.upstream].url)
    target = request.url.partition("://")[2].partition("/")[2]
    path, _, query = f"/{target}".partition("?")
    path = path.removeprefix(origin.base_path)
    tree = PathTree()
    tree.add(route.operation.path, request.method, None, route.slash_variables)
    match = tree.find(path, request.method)
    variables = match.variables if isinstance(match, PathMatch) else {}
    environ = {environ_key(name): value for name, value in request.headers}
    exchange = Exchange(request.method, path, query, environ, default(), variables=variables)
    exchange.body = Body(request.body)
    try:
        route.operation.bodies.parse(exchange, False)
    except GatewayError as error:
        raise ValueError(f"the request that was sent cannot be read: {error.message}") from error
    return exchange


def _document(body: bytes) -> object:
    """A translated body as JSON; as text if parts that it copies from the caller are not JSON."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return body.decode(errors="replace")


def upstream_request_report(
    request: SentRequest, rehearsal: Rehearsal, display: CredentialDisplay, config: Config
) -> Json:
    exchange = rehearsal.exchange
    before = rehearsal.request.body if exchange is not None else b""
    translation = rehearsal.translation(request)
    body_changes = changes(before, request.body) if translation is None else []
    body: Json = {
        "bytes": len(request.body),
        "unchanged": before == request.body,
        "changes": [change.as_json(display.json) for change in body_changes or ()],
    }
    if translation is not None:
        body["content"] = display.json(_document(request.body))
    return {
        "upstream": request.upstream,
        "model": model_sent(rehearsal, request, config),
        "method": request.method,
        "url": display.url(request.upstream, request.url),
        "headers": [list(pair) for pair in display.headers(request.upstream, request.headers)],
        "body": body,
        "translation": translation_report(translation),
        "answer": request.answer,
    }
