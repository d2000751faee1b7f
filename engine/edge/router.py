"""Falcon's application and router: routes are matched by the raw path, and every error response has
an error object of the gateway."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import falcon

from engine import dialects
from engine.config.listen_address import ListenAddress
from engine.edge.cors import Cors
from engine.edge.falcon_responder import Responder, Responders, raw_target, server_response
from engine.edge.path_operations import Candidate, Choose, Resource, Routes, first_responder
from engine.edge.unmatched import MAX_SHOWN, fail, miss, refuse_address, unsafe_address
from engine.exchange.caller_connection import CallerConnection, WSGIConnection
from engine.exchange.exchange import Exchange, Handler, Response, Stage, compose
from engine.spec.document.path_templates import regex, unsafe, variables
from engine.spec.document.path_tree import PathMatch, PathMiss, PathTree, Spans
from engine.spec.parameters.query_string import unsafe_query
from engine.values.errors import AbortConnection, GatewayError

_SLASHES = re.compile("/{2,}")
_MOUNTS = 50
"""Mounts that are looked through for the path of a 404."""

Serve = Callable[[dict[str, Any], Callable[..., Any], CallerConnection], Iterable[bytes]]
"""The WSGI call of an application (PEP 3333), with the connection of the request."""


class Router:
    """The interface that falcon.App requires of a router: `add_route` and `find`.

    `unmatched` makes a responder from a handler for requests that match no route. `pages` are pages
    of the gateway by path; a route with the same path comes first. `hint` is the end of the message
    for an unknown path. `choose` decides between several operations of a document for one method
    and path, by default for the first.
    """

    def __init__(
        self,
        unmatched: Callable[[Handler], Responder],
        *,
        pages: Mapping[str, Responder] | None = None,
        cors: Cors | None = None,
        hint: str = "",
        choose: Choose = first_responder,
    ) -> None:
        self._unmatched = unmatched
        self._choose = choose
        self._pages = pages or {}
        self._cors = cors or Cors(())
        self._hint = hint
        self._tree = PathTree()
        self._sole: dict[tuple[str, str], tuple[Resource, re.Pattern[str]] | None] = {}
        self._mounts: set[str] = set()
        self._plain: dict[tuple[str, str], tuple[Any, Any, dict[str, Any], str]] = {}
        self._methods: dict[tuple[str, Responder], dict[str, Responder]] = {}

    def add_route(self, uri_template: str, resource: Resource, **_: Any) -> None:
        """Add one method of a path; the variables in `slash_variables` may contain slashes."""
        resource.template, resource.names = uri_template, tuple(variables(uri_template))
        if resource.mount not in ("", "/") and len(self._mounts) < _MOUNTS:
            self._mounts.add(resource.mount)
        self._sole.clear()
        first: Resource = self._tree.add(
            uri_template, resource.method, resource, resource.slash_variables
        )
        if first is not resource:
            first.add(resource)

    def find(self, uri: str, req: falcon.Request) -> tuple[Any, Any, dict[str, Any], str]:
        """The responder for a request. There always is one, for unknown paths too."""
        plain = self._plain.get((req.env.get("RAW_URI", ""), req.method))
        if plain is not None:  # nearly always
            return plain
        path, _, query = raw_target(req.env).partition("?")
        reason = unsafe(path) or unsafe_query(query)
        if reason is not None:
            responder = self._unmatched(partial(refuse_address, reason))
            return self, {req.method: responder}, {"path": path, "query": query}, uri
        match = self._tree.find(path, req.method)
        if not isinstance(match, PathMatch) and path.startswith("//"):
            path, match = self._from_root(path, match, req.method)
        if isinstance(match, PathMatch):
            resource: Resource = match.value
            spans = match.variables
            if resource.variants or resource.query:
                candidate = self._find_candidate(resource, spans, path, query, uri, req)
                if candidate is not None:
                    return candidate
                match = PathMiss((), ())
            else:
                params = {
                    "path": path,
                    "query": query,
                    "mount": resource.mount,
                    "variables": spans,
                    "operation": resource.operation,
                }
                route = resource, {req.method: resource.responder()}, params, uri
                if not (query or spans) and path == resource.template:
                    return self._remember(route)
                return route
        page = self._pages.get(path)
        if page is not None and req.method in ("GET", "HEAD"):
            return self, {req.method: page}, {"path": path, "query": query}, uri
        responder = self._unmatched(partial(miss, match, self._cors, self._miss_hint))
        return self, {req.method: responder}, {"path": path, "query": query}, uri

    def _from_root(
        self, path: str, miss: PathMiss, method: str
    ) -> tuple[str, PathMatch | PathMiss]:
        """The path without its first slash, if that is the path from the root of an operation:
        Google's SDKs write such a path behind a base address that ends in a slash."""
        match = self._tree.find(path[1:], method)
        is_from_root = isinstance(match, PathMatch) and match.value.mount == "/"
        return (path[1:], match) if is_from_root else (path, miss)

    def candidate(self, operation: str, method: str, path: str, query: str) -> Candidate | None:
        """How a request from inside reaches an operation, which may be one of several for its path;
        None if it leads to none or to another one. Raises GatewayError for an unsafe request."""
        reason = unsafe(path) or unsafe_query(query)
        if reason is not None:
            raise unsafe_address(reason)
        sole = self._sole.get((operation, method))
        if sole is not None and (spans := sole[1].fullmatch(path)) is not None:
            return Candidate(sole[0], dict(zip(sole[0].names, spans.regs[1:], strict=True)))
        match = self._tree.find(path, method)
        if not isinstance(match, PathMatch):
            return None
        resource: Resource = match.value
        if resource.variants or resource.query:
            return resource.candidate(operation, path, query, match.variables)
        if resource.operation != operation:
            return None
        if (operation, method) not in self._sole:
            self._sole[operation, method] = self._sole_path(resource)
        return Candidate(resource, match.variables)

    def _sole_path(self, resource: Resource) -> tuple[Resource, re.Pattern[str]] | None:
        """A resource whose paths lead to no other one, and what matches them; None for any other,
        which is looked for in the tree each time."""
        is_narrow = not resource.slash_variables
        if not (is_narrow and self._tree.is_sole(resource.template, resource.method)):
            return None
        return resource, re.compile(regex(resource.template))

    def _find_candidate(
        self,
        resource: Resource,
        spans: Spans,
        path: str,
        query: str,
        uri: str,
        req: falcon.Request,
    ) -> tuple[Any, Any, dict[str, Any], str] | None:
        """The responder that chooses among the variants of a resource, or that of the only one with
        this query; None if there is none."""
        candidates = resource.candidates(path, query, spans, req.env)
        if not candidates:
            return None
        first, variables = candidates[0].resource, candidates[0].variables
        params = {
            "path": path,
            "query": query,
            "mount": first.mount,
            "variables": variables,
            "operation": first.operation,
        }
        is_only = len(candidates) == 1
        responder = first.responder() if is_only else self._choose(candidates)
        return first, {req.method: responder}, params, uri

    def _miss_hint(self, path: str, method: str) -> str:
        """The end of the message for an unknown path: the path with or without a slash at its end,
        or the one that a client with another base address would ask for, with an end that is
        missing or without one too many."""
        other = path[:-1] if path.endswith("/") else f"{path}/"
        if isinstance(self._tree.find(other, method), PathMatch):
            return f" Did you mean {other[:MAX_SHOWN]}?"
        others = {_SLASHES.sub("/", path): ("without", "/")}
        for mount in sorted(self._mounts):
            others[mount + path] = "with", mount
            others.setdefault(path.removeprefix(mount), ("without", mount))
        for other, (word, end) in others.items():
            if other != path and isinstance(self._tree.find(other, method), PathMatch):
                advice = f"Write the client's base address {word} '{end}' at its end."
                return f" Did you mean {other[:MAX_SHOWN]}? {advice}"
        return self._hint

    def _remember(
        self, route: tuple[Resource, dict[str, Responder], dict[str, Any], str]
    ) -> tuple[Any, Any, dict[str, Any], str]:
        """Remember the route of a path without variables: one entry for each. It holds as little as
        possible of its own, because there may be thousands."""
        resource, methods, params, _ = route
        method, template = resource.method, resource.template
        methods = self._methods.setdefault((method, methods[method]), methods)
        params["path"] = template  # not the text of the request, which would stay as well
        self._plain[template, method] = entry = resource, methods, params, template
        return entry


class BareRequest(falcon.Request):
    """What Falcon and this room need of a request: the exchange reads its query, headers and body
    from the environ, as they were sent."""

    def __init__(self, env: dict[str, Any], options: falcon.RequestOptions | None = None) -> None:
        self.env, self.method, self.path = env, env["REQUEST_METHOD"], env["PATH_INFO"]
        self.is_websocket = False  # one over ASGI


class Application(falcon.App):  # type: ignore[type-arg]
    """Falcon's application, with the attributes and methods that a server needs.

    `telemetry` is the application on the listener for metrics and health, `telemetry_address` the
    address of that listener. A server with several listeners calls `on_listener` for each.

    `routes` is its router, for calls from inside.

    The server calls `leaving` when its shutdown begins, and says whether its worker has a
    successor; without one it accepts connections for `delay` more seconds. It calls `interrupt`
    when the grace period of open requests is over, and `close` when its worker ends and no request
    is open. `record_refusal` records the responses of `refuse`.
    """

    interrupt: Callable[[], None] = staticmethod(lambda: None)
    leaving: Callable[[bool], None] = staticmethod(lambda has_successor: None)
    close: Callable[[], None] = staticmethod(lambda: None)
    record_refusal: Callable[[Exchange], None] = staticmethod(lambda exchange: None)

    routes: Routes
    delay: float = 0.0
    telemetry: Application | None = None
    telemetry_address: ListenAddress | None = None

    def __call__(self, env: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """The WSGI application for any server (PEP 3333)."""
        return self.serve(env, start_response, WSGIConnection(env["wsgi.input"]))

    def serve(
        self, env: dict[str, Any], start_response: Callable[..., Any], connection: CallerConnection
    ) -> Iterable[bytes]:
        """Respond to a request. The connection is passed as `wsgi.input`, because Falcon makes its
        request from the environ alone."""
        env["wsgi.input"] = connection
        return super().__call__(env, start_response)

    def operation(self, env: dict[str, Any]) -> str:
        """The id of the operation that a request leads to; "" for none. Of several, the first."""
        return str(self.routes.find("", BareRequest(env))[2].get("operation", ""))

    def refuse(self, error: GatewayError, address: str) -> Response:
        """The response to a request that the server refuses before routing, because it is invalid
        or there is no room for its connection. `address` is the caller's."""
        exchange, response = server_response(error, address)
        self.record_refusal(exchange)
        return response

    def fail(self) -> Response:
        """The 500 instead of a response whose head cannot be sent. That response's exchange is
        already recorded."""
        error = GatewayError(500, "internal_error", "The gateway failed on this request.")
        return server_response(error)[1]

    def on_listener(self, address: Any) -> Serve:
        """The function that serves the requests of a listener, given its socket's address: the API,
        or metrics and health."""
        if self.telemetry is not None and self.is_telemetry(address):
            return self.telemetry.serve
        return self.serve

    def is_telemetry(self, address: Any) -> bool:
        """Whether the socket's address is that of the listener for metrics and health."""
        return self.telemetry_address is not None and self.telemetry_address.matches(address)


def application(
    responders: Responders,
    stages: Sequence[Stage],
    *,
    pages: Mapping[str, Responder] | None = None,
    cors: Cors | None = None,
    hint: str = "",
    choose: Choose = first_responder,
    combine: Callable[[Callable[[Choose], Router]], Routes] | None = None,
) -> Application:
    """A Falcon application without routes. All its responses, errors included, are the gateway's.

    Requests that match no route pass through `stages`; for the other arguments see Router.
    `combine` makes a router that consists of several, each of which its argument makes.
    """
    all_dialects = dialects.by_request()

    def unmatched(handler: Handler) -> Responder:
        return responders.responder(compose(stages, handler), all_dialects)

    def unexpected(
        req: falcon.Request, resp: falcon.Response, error: Exception, params: Any
    ) -> None:
        """Handle exceptions from outside a handler: Falcon's HTTP errors, and AbortConnection."""
        if isinstance(error, AbortConnection):
            detail = str(error.strerror)
            # A new exception, because the traceback of the first keeps Falcon's frames alive.
            raise AbortConnection(error.reason, detail) from None
        path, _, query = raw_target(req.env).partition("?")
        unmatched(partial(fail, error))(req, resp, path, query)

    def make(choose: Choose) -> Router:
        return Router(unmatched, pages=pages, cors=cors, hint=hint, choose=choose)

    routes = make(choose) if combine is None else combine(make)
    router: Any = routes  # Falcon wants its own type
    app = Application(router=router, request_type=BareRequest)
    app.routes = routes
    app.resp_options.default_media_type = None  # type: ignore[assignment]
    app.add_error_handler((Exception, falcon.HTTPError), unexpected)
    return app
