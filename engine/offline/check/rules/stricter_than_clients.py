"""Documents that refuse requests of their vendor's own clients with `validate: strict`.

The requests in `client_requests.json`, one per line, were recorded from the clients themselves.
`path` excludes the vendor's version prefix (`/v1`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib import resources

from msgspec import Struct

from engine.dialects import default
from engine.exchange.exchange import Exchange
from engine.exchange.request_body import Body
from engine.offline.check.audit import AuditCase
from engine.plan.route import Route
from engine.spec.bodies import request_bodies
from engine.spec.document.path_tree import PathMatch, PathTree
from engine.spec.operation import Operation
from engine.values.errors import GatewayError

_VERSIONS = ("", "/v1", "/v1beta")
_MAX_PLACES = 5


def check(case: AuditCase) -> None:
    for name, spec in case.config.specs.items():
        routes = [r for r in case.plan.routes if r.operation.spec == name]
        routes = [r for r in routes if r.validate == "strict" and r.operation.method == "POST"]
        refusals = dict(_refused(case, spec.dialect, routes))
        if not refusals:
            continue
        places = list(refusals)[:_MAX_PLACES]
        more = len(refusals) - len(places)
        clients = sorted({request.client for request in refusals.values()})
        message = (
            f"read strictly, '{name}' refuses what its vendor accepts: {', '.join(places)}"
            f"{f' and {more} more' if more else ''} (sent by {', '.join(clients)})"
        )
        hint = "write validate: lenient on its routes, or correct the document with an overlay"
        case.warn((*spec.at, "document"), "MW420", message, hint)


def _refused(
    case: AuditCase, dialect: str, routes: list[Route]
) -> Iterator[tuple[str, ClientRequest]]:
    """Operations and places that are refused only with `validate: strict`, each with one request.
    Refusals with `lenient`, and of model names, are intended.
    """
    tree = PathTree()
    for route in routes:
        tree.add(route.operation.path, "POST", route)
    for request in client_requests():
        match = _route(tree, request) if request.dialect == dialect else None
        if match is None:
            continue
        error = request.refusal(match.operation)
        if error is None or _is_model(error, match):
            continue
        if any(_accepts(other, request) for other in routes if _is_alternative(other, match)):
            continue
        if _accepts_leniently(case, match, request):
            yield f"{match.operation.name} {error.param or error.code}", request


def _accepts(route: Route, request: ClientRequest) -> bool:
    return request.refusal(route.operation) is None


def _is_alternative(route: Route, other: Route) -> bool:
    return route is not other and route.operation.is_alternative(other.operation)


def _accepts_leniently(case: AuditCase, route: Route, request: ClientRequest) -> bool:
    specification = case.plan.specifications[route.operation.spec]
    try:
        lenient = specification.recompile(route.operation, lenient=True, with_names=False)
    except ValueError:
        return False  # `lenient` would not help
    return request.refusal(lenient) is None


def _route(tree: PathTree, request: ClientRequest) -> Route | None:
    for version in _VERSIONS:
        match = tree.find(version + request.path, "POST")
        if isinstance(match, PathMatch):
            route: Route = match.value
            return route
    return None


def _is_model(error: GatewayError, route: Route) -> bool:
    return route.model is not None and error.param == route.model.param


class ClientRequest(Struct, frozen=True):
    """A POST that a `client` (name and version) sends for `call`, and that its vendor accepts."""

    client: str
    call: str
    dialect: str
    path: str
    type: str
    body: str

    def refusal(self, operation: Operation) -> GatewayError | None:
        """The refusal of the body by `operation`, or None."""
        environ = {"CONTENT_TYPE": self.type}
        exchange = Exchange("POST", self.path, "", environ, default())
        exchange.body = Body(self.body.encode())
        try:
            rule = operation.bodies.parse(exchange)
            if rule is not None:
                request_bodies.check(rule, exchange.content.value)
        except GatewayError as error:
            return error
        return None


@cache
def client_requests() -> tuple[ClientRequest, ...]:
    """All recorded requests."""
    text = (resources.files("engine.offline.check") / "client_requests.json").read_text(
        encoding="utf-8"
    )
    return tuple(ClientRequest(**entry) for entry in json.loads(text))
