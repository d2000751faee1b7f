"""Examples of requests that their own document refuses: clients copy them, and one of the two is
wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from engine.offline.check.audit import AuditCase
from engine.offline.check.request_examples import RequestExamples
from engine.plan.route import Route
from engine.source.problem import Findings, Level
from engine.spec.spec import Specification

_VALIDATING = ("strict", "lenient")
_HINT = "correct the example or its schema; in a document of others, with an overlay"


def check(case: AuditCase) -> None:
    for specification in case.plan.specifications.values():
        routes = [*_routes(case, specification)]
        if routes:
            _check_once(case, specification, routes)


def _check_once(case: AuditCase, specification: Specification, routes: Sequence[Route]) -> None:
    """Check the examples, unless the cache of the document has what was noted for equal routes."""
    options = [(r.operation.id, r.validate, r.unknown_fields, r.readonly) for r in routes]
    dialect = case.config.specs[specification.name].dialect
    specification.note(
        *("examples", (dialect, options), case.findings),
        partial(_check, specification=specification, routes=routes),
    )


def _routes(case: AuditCase, specification: Specification) -> Iterator[Route]:
    """The routes of a document that refuse requests."""
    for route in case.plan.routes:
        if route.operation.spec == specification.name and route.validate in _VALIDATING:
            yield route


def _check(findings: Findings, *, specification: Specification, routes: Sequence[Route]) -> None:
    library = specification.library
    examples = RequestExamples(specification)
    refused = [*examples.refused(routes)]
    for number, example in enumerate(refused, start=1):
        message, hint = f"{example.subject}: {example.refusal}", _HINT
        if examples.is_cut and number == len(refused):
            hint = f"{_HINT} (this document has more examples than are judged)"
        source = library.source(example.uri, example.path)
        findings.note(source, example.path, Level.WARNING, "MW242", message, hint)
