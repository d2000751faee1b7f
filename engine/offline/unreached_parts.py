"""Warnings about parts of documents that no route reaches are notes: what is wrong there changes
no request. They are warnings again as soon as a route reaches the part.
"""

from __future__ import annotations

from dataclasses import replace

from engine.plan.route import PlanResult
from engine.source.problem import Level, Path, Problem
from engine.spec.document.reached_parts import ReachedParts

_OF_PARTS = frozenset(
    {"MW202", "MW203", "MW204", "MW207", "MW213", "MW216", "MW220", "MW221", "MW222", "MW223"}
    | {"MW224", "MW225", "MW226", "MW227", "MW228", "MW229", "MW234", "MW240", "MW250", "MW251"}
    | {"MW252", "MW253", "MW254", "MW255", "MW256", "MW257", "MW476", "MW477", "MW478"}
)
"""The codes of warnings about paths, parameters, bodies, responses and schemas. Others are about a
document as a whole, or name operations that no route can have."""


def lower_unreached(planned: PlanResult) -> None:
    """Make notes of the warnings about parts that no route of a plan without errors reaches."""
    if planned.plan is None:
        return
    problems = planned.findings.unsorted
    candidates = [p for p in problems if p.level is Level.WARNING and p.code in _OF_PARTS]
    by_reach: dict[bool, set[Problem]] = {True: set(), False: set()}
    for specification in planned.specifications.values():
        uris = {marked.file: uri for uri, marked in specification.library.files.items()}
        refusals = set(specification.refusals.values())
        of_document = [p for p in candidates if p.file in uris and p not in refusals]
        if of_document:
            served = {r.operation.id for r in planned.plan.routes}
            by_use: dict[bool, list[Path]] = {True: [], False: []}
            for operation in specification.operations.values():
                by_use[operation.id in served].append(operation.at)
            parts = ReachedParts(specification.library, by_use[True], by_use[False])
            for problem in of_document:
                by_reach[parts.has(uris[problem.file], problem.path)].add(problem)
    lowered = by_reach[False] - by_reach[True]
    planned.findings.unsorted = [
        replace(problem, level=Level.INFO) if problem in lowered else problem
        for problem in problems
    ]
