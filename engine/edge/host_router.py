"""The router of an application some of whose routes have `hosts`: one Router for each pattern of
hosts, which has all routes of its hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import falcon

from engine.edge.host_names import ANY_HOST, host_name, host_pattern
from engine.edge.origin import requested_host
from engine.edge.path_operations import Candidate, Resource
from engine.edge.router import Router
from engine.values.client_address import Network


class HostRouter:
    """The interface that falcon.App requires of a router, and the calls from inside.

    `make` makes the Router of a pattern, for each of `patterns` and for ANY_HOST. The host is that
    of the request, or the one that a proxy forwards if it is one of `proxies`. Requests from inside
    have no host of a caller: they reach the operation at the first pattern that has it, ANY_HOST
    before all others.
    """

    def __init__(
        self,
        patterns: Iterable[str],
        make: Callable[[str], Router],
        proxies: Sequence[Network] = (),
    ) -> None:
        ordered = dict.fromkeys((ANY_HOST, *patterns))
        self._routers = {pattern: make(pattern) for pattern in ordered}
        self._proxies = proxies

    def add_route(self, uri_template: str, resource: Resource, **options: Any) -> None:
        """Add one method of a path: to the router of the pattern `host`, by default to all."""
        host = options.get("host")
        routers = self._routers.values() if host is None else [self._routers[host]]
        for router in routers:
            router.add_route(uri_template, resource)

    def find(self, uri: str, req: falcon.Request) -> tuple[Any, Any, dict[str, Any], str]:
        """The responder for a request."""
        name = host_name(requested_host(req.env, self._proxies))
        return self._routers[host_pattern(name, self._routers)].find(uri, req)

    def candidate(self, operation: str, method: str, path: str, query: str) -> Candidate | None:
        """As that of Router."""
        candidates = (r.candidate(operation, method, path, query) for r in self._routers.values())
        return next((each for each in candidates if each is not None), None)
