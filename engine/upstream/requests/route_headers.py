"""Which headers pass between routes and upstreams, shared by the routes with equal rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from engine.dialects import Dialect
from engine.relay.request_headers import RequestHeaders
from engine.relay.response_headers import ResponseHeaders
from engine.upstream.targets.target import Upstream

T = TypeVar("T")


class _ByUpstream(dict[str, T], Generic[T]):
    """Rules by the name of an upstream, built at their first use: of thousands of routes and
    upstreams most pairs are never used."""

    def __init__(self, build: Callable[[str], T]) -> None:
        super().__init__()
        self._build = build

    def __missing__(self, name: str) -> T:
        rules = self[name] = self._build(name)
        return rules


class RouteHeaders:
    """The rules for the headers of all routes and upstreams of a worker."""

    def __init__(self, upstreams: Iterable[Upstream]) -> None:
        self._upstreams = {upstream.name: upstream for upstream in upstreams}
        self._requests: dict[object, _ByUpstream[RequestHeaders]] = {}
        self._responses: dict[object, _ByUpstream[ResponseHeaders]] = {}

    def requests(self, dialect: Dialect, needed: tuple[str, ...]) -> Mapping[str, RequestHeaders]:
        """The rules for requests on a route of a dialect, by upstream. `needed` headers always
        pass."""
        key = dialect.name, needed
        if key not in self._requests:
            self._requests[key] = _ByUpstream(
                lambda name: self._upstreams[name].headers(dialect.request_headers, needed)
            )
        return self._requests[key]

    def responses(
        self, dialect: Dialect, declared: tuple[str, ...]
    ) -> Mapping[str, ResponseHeaders]:
        """The rules for responses on a route of a dialect, by upstream; `declared` are those of the
        operation's document."""
        key = dialect.name, declared
        if key not in self._responses:
            self._responses[key] = _ByUpstream(
                lambda name: self._upstreams[name].response_headers(dialect, declared)
            )
        return self._responses[key]
