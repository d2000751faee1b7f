"""Warnings about parts of documents that no route reaches are notes: what is wrong there changes
no request. They are warnings again as soon as a route reaches the part.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import replace

from engine.plan.plan import PlanResult
from engine.source.problem import Level, Problem
from engine.spec.document.reached_parts import ReachedParts
from engine.spec.spec import Specification

_OF_PARTS = frozenset(
    {"MW202", "MW203", "MW204", "MW207", "MW213", "MW216", "MW220", "MW221", "MW222", "MW223"}
    | {"MW224", "MW225", "MW226", "MW227", "MW228", "MW229", "MW234", "MW240", "MW250", "MW251"}
    | {"MW252", "MW253", "MW254", "MW255", "MW256", "MW257", "MW476", "MW477", "MW478"}
)
"""The codes of warnings about paths, parameters, bodies, responses and schemas. Others are about a
document as a whole, or name operations that no route can have."""


def lower_unreached(plan_result: PlanResult) -> None:
    """Make notes of the warnings about parts that no route of a plan without errors reaches."""
    if plan_result.plan is None:
        return
    findings = plan_result.findings
    routed = {route.operation.id for route in plan_result.plan.routes}
    candidates = [
        problem
        for problem in findings.unsorted
        if problem.level is Level.WARNING and problem.code in _OF_PARTS
    ]
    reached: set[Problem] = set()
    unreached: set[Problem] = set()
    for specification in plan_result.specifications.values():
        for problem, is_reached in _by_reach(specification, candidates, routed):
            (reached if is_reached else unreached).add(problem)
    lowered = unreached - reached  # several documents may share a file
    findings.unsorted = [
        replace(problem, level=Level.INFO) if problem in lowered else problem
        for problem in findings.unsorted
    ]


def _by_reach(
    specification: Specification, problems: Iterable[Problem], routed: Container[str]
) -> Iterator[tuple[Problem, bool]]:
    """The problems about parts of a document, each with whether a route reaches its part."""
    uris = {source.file: uri for uri, source in specification.library.files.items()}
    refusals = set(specification.refusals.values())
    of_document = [each for each in problems if each.file in uris and each not in refusals]
    if not of_document:
        return
    operations = specification.operations.values()
    parts = ReachedParts(
        specification.library,
        [operation.at for operation in operations if operation.id in routed],
        [operation.at for operation in operations if operation.id not in routed],
    )
    for problem in of_document:
        yield problem, parts.has(uris[problem.file], problem.path)
