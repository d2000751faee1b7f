"""`modelway routes`: the routes of a config as a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from engine.cli.config_file import config_option, plan_or_exit
from engine.plan.route import Plan, Route
from engine.source.excerpt import printable


@click.command()
@config_option
def command(config: Path) -> None:
    """List every route: method, path, operation, source of the model name, targets, policies."""
    plan = plan_or_exit(config)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("METHOD", "PATH", "OPERATION", "MODEL FROM", "GOES TO", "GUARDS"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("METHOD", "PATH"))
    upstreams = _upstreams(plan)
    for route in plan.routes:
        for template, _ in route.templates:
            operation = route.operation
            cells = (_model(route), _goes_to(route, upstreams), _guards(route))
            row = (operation.method, template, operation.id, *cells)
            table.add_row(*(Text(printable(cell)) for cell in row))  # Text: no markup
    console = Console(highlight=False)
    console.width = max(console.width, 160)
    console.print(table)


def _model(route: Route) -> str:
    if route.model is None:
        return "-"
    default = f" (default {route.default_model})" if route.default_model else ""
    return f"{route.model.text.removeprefix('$request.')}{default}"


def _goes_to(route: Route, operations: Mapping[str, set[str]]) -> str:
    if route.answer == "models":
        return "the gateway itself"
    if route.to:
        return ", ".join(target.upstream for target in route.to)
    upstreams = operations.get(route.operation.id, set())
    return "by model: " + (", ".join(sorted(upstreams)) or "none")


def _upstreams(plan: Plan) -> dict[str, set[str]]:
    """The upstreams that each operation can go to, by the targets of its models."""
    operations, names = plan.model_operations(), dict[str, set[str]]()
    for name, model in plan.config.models.items():
        for operation in operations.of(name):
            upstreams = (plan.config.upstreams[target.upstream] for target in model.to)
            matching = {each.name for each in upstreams if operation.accepts_dialect(each.dialect)}
            names.setdefault(operation.id, set()).update(matching)
    return names


def _guards(route: Route) -> str:
    guards = ["public" if route.public else "token"]
    guards += [policy.name for policy in route.policies]
    guards += ["websocket"] if route.websocket is not None else []
    guards += ["not validated"] if route.validate == "off" else ["validated"]
    return ", ".join(guards)
