"""The gateway's own pages and the documents: where both want a path, the document has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engine.config.model import Config
from engine.source.problem import Findings, Level
from engine.spec.operation import Operation
from engine.spec.path_templates import Found, PathTree


class Routed(Protocol):
    """What is asked of a route."""

    @property
    def operation(self) -> Operation: ...
    @property
    def templates(self) -> list[tuple[str, str]]: ...
    @property
    def wide(self) -> tuple[str, ...]: ...


def note_claimed(routes: Sequence[Routed], config: Config, findings: Findings) -> None:
    """Warn of each page of the gateway's own that an operation takes the place of."""
    tree = PathTree()
    for route in routes:
        for template, _ in route.templates:
            tree.add(template, route.operation.method, route.operation, route.wide)
    metrics = config.telemetry.metrics
    for path in config.telemetry.public_pages:
        found = tree.find(path, "GET")
        if not isinstance(found, Found):
            continue
        operation: Operation = found.value
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
