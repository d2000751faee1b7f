"""Finds the operation of a request by its raw path, its method and its query."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import falcon

from engine.edge.cors import Cors
from engine.edge.falcon_responder import Responder
from engine.edge.path_operations import Candidate, Choose, Resource, first_responder
from engine.edge.unmatched import MAX_SHOWN, miss, refuse_address, unsafe_address
from engine.exchange.exchange import Handler
from engine.spec.document.path_templates import regex, unsafe, variables
from engine.spec.document.path_tree import PathMatch, PathMiss, PathTree, Spans
from engine.spec.parameters.query_string import unsafe_query

_SLASHES = re.compile("/{2,}")
_MOUNTS = 50
"""Mounts that are looked through for the path of a 404."""


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


def raw_target(environ: dict[str, Any]) -> str:
    """The request target as sent, without scheme and host."""
    target: str = environ.get("RAW_URI") or environ.get("PATH_INFO", "/")
    if target.startswith("/") or "://" not in target:
        return target
    return "/" + target.partition("://")[2].partition("/")[2]
