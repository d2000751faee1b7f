"""Examples of requests that their own document refuses: clients copy them, and one of the two is
wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.offline.audit import AuditCase
from engine.offline.request_examples import RequestExamples
from engine.plan.route import Route
from engine.source.problem import Level
from engine.spec.spec import Specification

_VALIDATING = ("strict", "lenient")
_HINT = "correct the example or its schema; in a document of others, with an overlay"


def check(case: AuditCase) -> None:
    for specification in case.plan.specifications.values():
        routes = [*_routes(case, specification)]
        if routes:
            _check(case, specification, routes)


def _routes(case: AuditCase, specification: Specification) -> Iterator[Route]:
    """The routes of a document that refuse requests."""
    for route in case.plan.routes:
        if route.operation.spec == specification.name and route.validate in _VALIDATING:
            yield route


def _check(case: AuditCase, specification: Specification, routes: Sequence[Route]) -> None:
    library = specification.library
    examples = RequestExamples(specification)
    refused = [*examples.refused(routes)]
    for number, example in enumerate(refused, start=1):
        message, hint = f"{example.subject}: {example.refusal}", _HINT
        if examples.is_cut and number == len(refused):
            hint = f"{_HINT} (this document has more examples than are judged)"
        source = library.source(example.uri, example.path)
        case.findings.note(source, example.path, Level.WARNING, "MW242", message, hint)
