"""The operations of a router's paths: of several for one method and path, those that may serve a
request."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import parse_qsl

import falcon
from msgspec import Struct

from engine.dialects import Dialect
from engine.edge.falcon_responder import Responder, dialect_of
from engine.spec.document import path_templates
from engine.spec.document.path_tree import Spans


class Resource:
    """One method of one path, the argument of Falcon's `add_route`. `make` makes its responder at
    its first request: thousands of paths may get none. `operation` is the id of its operation.

    Operations of the same method and path are distinguished by the parameters of their `query`,
    those of documents of different dialects by the dialect that claims the request, and those of
    one document also by the whole request. `place` is the name of the document and the number of
    the operation in it, `dialect` that of the document. The router finds the first one, whose
    `variants` are all of them; `overlaps` are those of other templates that may match its paths
    too, by their `pattern`, if neither template is the more specific one.
    """

    __slots__ = (
        *("_make", "_responder", "dialect", "method", "mount", "names", "operation", "overlaps"),
        *("pattern", "place", "query", "slash_variables", "template", "variants"),
    )

    def __init__(
        self,
        method: str,
        mount: str,
        slash_variables: tuple[str, ...],
        make: Callable[[], Responder],
        query: tuple[tuple[str, str], ...] = (),
        operation: str = "",
        place: tuple[str, int] = ("", 0),
        dialect: Dialect | None = None,
    ) -> None:
        self.dialect = dialect
        self.method, self.mount, self.slash_variables = method, mount, slash_variables
        self.query, self.operation, self.place = query, operation, place
        self.template = ""  # with the `names` of its variables, set by the router
        self.names: Sequence[str] = ()
        self.variants: tuple[Resource, ...] = ()
        self.overlaps: tuple[Resource, ...] = ()
        self.pattern: re.Pattern[str] | None = None
        self._make: Callable[[], Responder] | None = make
        self._responder: Responder | None = None

    def responder(self) -> Responder:
        """The responder, made on first use."""
        if self._responder is None:
            assert self._make is not None
            self._responder, self._make = self._make(), None
        return self._responder

    def add(self, other: Resource) -> None:
        """Add another operation of this method and path, unless one of another document of its
        dialect has the same query. Those with more parameters come first, then those earlier in the
        document."""
        variants = self.variants or (self,)
        if all(
            v.query != other.query or v.is_alternative(other) or v.speaks_another(other)
            for v in variants
        ):
            by_query = sorted((*variants, other), key=lambda v: (-len(v.query), v.place))
            self.variants = tuple(by_query)

    def is_alternative(self, other: Resource) -> bool:
        """Whether both are operations of one document."""
        return self.place[0] == other.place[0] and self.place[1] != other.place[1]

    def speaks_another(self, other: Resource) -> bool:
        """Whether the documents of both have different dialects, and a request tells which."""
        dialect, other_dialect = self.dialect, other.dialect
        if dialect is None or other_dialect is None:
            return False
        return dialect.differs_by_request(other_dialect)

    def candidates(
        self, path: str, query: str, spans: Spans, environ: Mapping[str, Any]
    ) -> list[Candidate]:
        """The operations that match most parameters of the query, each with its variables: the
        first, and its alternatives. `spans` are those of the variables of this template."""
        return self._best(_of_dialect(self._matches(path, query, spans), environ, query))

    def candidate(self, operation: str, path: str, query: str, spans: Spans) -> Candidate | None:
        """How a request of the dialect of this operation reaches it; None if another one is
        first."""
        matches = self._matches(path, query, spans)
        candidate = next((c for c in matches if c.resource.operation == operation), None)
        if candidate is None:
            return None
        rivals = [c for c in matches if c.resource.dialect is candidate.resource.dialect]
        return candidate if candidate in self._best(rivals) else None

    def _matches(self, path: str, query: str, spans: Spans) -> list[Candidate]:
        """The operations of this path whose parameters the query has."""
        parameters = set(parse_qsl(query, keep_blank_values=True))
        matches = [
            Candidate(v, dict(zip(v.names, spans.values(), strict=True)))
            for v in self.variants or (self,)
            if parameters.issuperset(v.query)
        ]
        for other in self.overlaps:
            match = other.pattern.fullmatch(path) if other.pattern is not None else None
            if match is not None and parameters.issuperset(other.query):
                matches.append(
                    Candidate(other, dict(zip(other.names, match.regs[1:], strict=True)))
                )
        return matches

    def _best(self, matches: list[Candidate]) -> list[Candidate]:
        """The first, and its alternatives."""
        first = matches[0].resource if matches else self
        return [
            candidate
            for candidate in matches
            if (v := candidate.resource) is first
            or (len(v.query) == len(first.query) and v.is_alternative(first))
        ]


def _of_dialect(
    matches: list[Candidate], environ: Mapping[str, Any], query: str
) -> list[Candidate]:
    """The candidates of the dialect that claims the request; all of them if they have only one."""
    present = {c.resource.dialect.name: c.resource.dialect for c in matches if c.resource.dialect}
    if len(present) < 2:
        return matches
    by_claim = sorted(present.values(), key=lambda dialect: not dialect.claims_requests)
    dialect = dialect_of(environ, query, by_claim)
    return [c for c in matches if c.resource.dialect is dialect]


def link_overlaps(resources: Iterable[Resource]) -> None:
    """Link resources of overlapping templates: `/a/{x}/b` and `/a/b/{x}` both match `/a/b/b`. They
    are in the order in which they were added to a router."""
    by_template: dict[tuple[str, str], list[Resource]] = {}
    for resource in resources:
        if "{" in resource.template and not resource.slash_variables:
            key = resource.method, path_templates.shape(resource.template)
            by_template.setdefault(key, []).append(resource)
    shapes: dict[str, list[str]] = {}
    for method, shape in by_template:
        shapes.setdefault(method, []).append(shape)
    for method, of_method in shapes.items():
        for one, other in path_templates.ambiguous(of_method):
            _link(by_template[method, one], by_template[method, other])


def _link(resources: Sequence[Resource], others: Sequence[Resource]) -> None:
    first = resources[0]
    alternatives = [v for v in others if v.is_alternative(first)]
    for other in alternatives:
        other.pattern = other.pattern or path_templates.pattern(other.template)
    if alternatives:
        first.variants = first.variants or (first,)
        first.overlaps += tuple(alternatives)


class Candidate(Struct, frozen=True):
    """A resource that may serve a request, with the variables of its path."""

    resource: Resource
    variables: Spans


Choose = Callable[[Sequence[Candidate]], Responder]
"""Makes the responder that chooses among several candidates."""


def first_responder(candidates: Sequence[Candidate]) -> Responder:
    """The responder of the first candidate."""
    return candidates[0].resource.responder()


class Routes(Protocol):
    """What an application needs of its router, which may consist of several."""

    def add_route(self, uri_template: str, resource: Resource, **options: Any) -> None: ...
    def find(self, uri: str, req: falcon.Request) -> tuple[Any, Any, dict[str, Any], str]: ...
    def candidate(self, operation: str, method: str, path: str, query: str) -> Candidate | None: ...
