"""Paths of the gateway's pages that an operation of a document takes: the operation is served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.config.config import Config
from engine.source.problem import Findings, Level
from engine.spec.operation import Operation
from engine.spec.path_templates import PathMatch, PathTree


class Routed(Protocol):
    """The members of a route that this module reads."""

    @property
    def operation(self) -> Operation: ...
    @property
    def templates(self) -> list[tuple[str, str]]: ...
    @property
    def wide(self) -> tuple[str, ...]: ...


def note_claimed(routes: Sequence[Routed], config: Config, findings: Findings) -> None:
    """Warn of each page of the gateway on the path of an operation."""
    tree = PathTree()
    for route in routes:
        for template, _ in route.templates:
            tree.add(template, route.operation.method, route.operation, route.wide)
    metrics = config.telemetry.metrics
    for path in config.telemetry.public_pages:
        match = tree.find(path, "GET")
        if not isinstance(match, PathMatch):
            continue
        operation: Operation = match.value
        hint = "telemetry.metrics names another path" if path == metrics else ""
        findings.note(
            operation.source,
            operation.at,
            Level.WARNING,
            "MW321",
            f"{operation.id} answers GET {path}; the gateway's own page is not served there",
            hint or "mount the document under another prefix if something asks for that page",
            key=True,
        )
