"""Examples of requests that their own document refuses: clients copy them, and one of the two is
wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.offline.audit import AuditCase
from engine.offline.request_examples import MOST_EXAMPLES, RequestExamples
from engine.plan.route import Route
from engine.source.problem import Level
from engine.spec.spec import Specification

_VALIDATING = ("strict", "lenient")
_MOST_SHOWN = 3
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
    for number, example in enumerate(refused[: _MOST_SHOWN + 1]):
        message, hint = f"{example.subject}: {example.refusal}", _HINT
        if number == _MOST_SHOWN:
            more = f"{len(refused) - number} more examples of '{specification.name}'"
            message, hint = f"{more} are refused by their own document: {message}", _HINT
            if examples.is_cut:
                hint = f"{_HINT} (only the first {MOST_EXAMPLES:,} examples were judged)"
        source = library.source(example.uri, example.path)
        case.findings.note(source, example.path, Level.WARNING, "MW242", message, hint)
