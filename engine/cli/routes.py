"""`modelway routes`: the routes of a config, and the formats in which each model can be called."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from engine.cli.config_file import config_option, plan_or_exit
from engine.config.config_files import ConfigFiles
from engine.config.listed_models import listed_models
from engine.config.model_operations import Kind, ModelOperation, ModelOperations
from engine.plan.route import Plan, Route
from engine.source.excerpt import printable

_MARK = "*"
_MAX_LISTED = 5
"""The most names of a provider's models in a row; `--format json` has all."""
_MOST_UPSTREAMS = 20
"""The most upstreams of a route in the table; `--format json` has all."""
_LEGEND = f"{_MARK} translated for at least one target (see docs/reference/translation.md)"

Document = dict[str, Any]


@click.command()
@config_option
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
)
def command(config: ConfigFiles, output_format: str) -> None:
    """List every route: method, path, operation, source of the model name, targets, policies.

    Below, every model with the formats of chat in which it can be called. A * marks requests that
    are translated for at least one of the targets.
    """
    plan = plan_or_exit(config)
    operations = plan.model_operations()
    routes, models = _routes(plan, operations), _models(plan, operations)
    if output_format == "json":
        click.echo(json.dumps({"routes": routes, "models": models}, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    console.width = max(console.width, 160)
    console.print(_route_table(routes))
    if models:
        console.print()
        console.print(_model_table(models))
        if any(entry["translated"] for model in models for entry in model["formats"]):
            console.print(_LEGEND)


def _routes(plan: Plan, operations: ModelOperations) -> list[Document]:
    upstreams = _upstreams_by_operation(plan, operations)
    return [
        {
            "method": route.operation.method,
            "path": template,
            "operation": route.operation.id,
            "model": route.model.text if route.model is not None else None,
            "default": route.default_model,
            "answer": route.answer,
            "targets": _upstreams(route, upstreams),
            "choose": route.choose.text if route.to else None,
            "guards": _guards(route),
        }
        for route in plan.routes
        for template, _ in route.templates
    ]


def _upstreams(route: Route, upstreams: Mapping[str, list[Document]]) -> list[Document]:
    if route.model is None:
        return [{"upstream": target.upstream, "translated": False} for target in route.to]
    return upstreams.get(route.operation.id, [])


def _upstreams_by_operation(
    plan: Plan, operations: ModelOperations
) -> Mapping[str, list[Document]]:
    """The upstreams that each operation can go to, by the targets of its models, and whether
    requests are translated for each."""
    by_kind: dict[Kind, list[Document]] = {}  # thousands of operations may be of one kind
    for operation in operations.all:
        kind = operations.kind(operation)
        if kind in by_kind:
            continue
        translated: dict[str, bool] = {}
        for name in plan.config.models:
            if operations.has(name, operation):
                for target in operations.targets(name, operation):
                    upstream = target.target.upstream
                    translated[upstream] = translated.get(upstream, False) or bool(target.language)
        by_kind[kind] = [
            {"upstream": name, "translated": translated[name]} for name in sorted(translated)
        ]
    return {operation.id: by_kind[operations.kind(operation)] for operation in operations.all}


def _models(plan: Plan, operations: ModelOperations) -> list[Document]:
    """Every entry of `models`; for a wildcard with the models of providers that it matches."""
    listed: dict[str, list[str]] = {}
    for model in listed_models(plan.config).values():
        if model.provider_model is not None and model.operations(operations):
            listed.setdefault(model.entry.name, []).append(model.name)
    models = []
    by_group: dict[int, tuple[list[ModelOperation], list[str]]] = {}
    for name in plan.config.models:
        group = operations.group(name)
        if group not in by_group:
            by_group[group] = _chats_and_others(operations.of(name))
        chats, other_ids = by_group[group]
        models.append(
            {
                "model": name,
                "choose": plan.config.models[name].choose.text,
                "formats": [_format(name, chat, operations) for chat in chats],
                "operations": other_ids,
                "listed": listed.get(name, []),
            }
        )
    return models


def _chats_and_others(
    operations: Sequence[ModelOperation],
) -> tuple[list[ModelOperation], list[str]]:
    """The first operation of each format of chat, and the ids of the operations that are not
    chat."""
    chats: dict[str, ModelOperation] = {}
    for operation in operations:
        if operation.language:
            chats.setdefault(operation.language, operation)
    return [*chats.values()], [o.id for o in operations if not o.language]


def _format(entry: str, operation: ModelOperation, operations: ModelOperations) -> Document:
    targets = [
        {
            "upstream": target.target.upstream,
            "model": target.target.model,
            "entry": target.entry,
            "into": target.language,
        }
        for target in operations.targets(entry, operation)
    ]
    return {
        "format": operation.language,
        "translated": any(target["into"] for target in targets),
        "targets": targets,
    }


def _guards(route: Route) -> list[str]:
    guards = ["public" if route.public else "token"]
    guards += [policy.name for policy in route.policies]
    guards += ["websocket"] if route.websocket is not None else []
    return [*guards, "not validated" if route.validate == "off" else "validated"]


def _route_table(routes: Sequence[Document]) -> Table:
    headings = ("METHOD", "PATH", "OPERATION", "MODEL FROM", "GOES TO", "GUARDS")
    return _table(
        headings,
        (
            (
                route["method"],
                route["path"],
                route["operation"],
                _model_source(route),
                _goes_to(route),
                ", ".join(route["guards"]),
            )
            for route in routes
        ),
    )


def _model_source(route: Document) -> str:
    if route["model"] is None:
        return "-"
    default = f" (default {route['default']})" if route["default"] else ""
    return f"{route['model'].removeprefix('$request.')}{default}"


def _goes_to(route: Document) -> str:
    if route["answer"]:
        return "the gateway itself"
    targets = route["targets"]
    marked = [_marked(o["upstream"], o["translated"]) for o in targets[:_MOST_UPSTREAMS]]
    more = [f"and {len(targets) - len(marked)} more"] if len(targets) > len(marked) else []
    names = ", ".join([*marked, *more])
    if route["model"] is not None:
        return f"by model: {names or 'none'}"
    return names if route["choose"] == "weighted" else f"{names} ({route['choose']})"


def _model_table(models: Sequence[Document]) -> Table:
    columns = {
        "MODEL": [model["model"] for model in models],
        "FORMATS": [
            ", ".join(_marked(o["format"], o["translated"]) for o in model["formats"]) or "-"
            for model in models
        ],
        "OTHER OPERATIONS": [", ".join(model["operations"]) or "-" for model in models],
    }
    if any(model["choose"] != "weighted" for model in models):
        columns["CHOOSES"] = [model["choose"] for model in models]
    if any(model["listed"] for model in models):
        columns["LISTED MODELS"] = [_shortened(model["listed"]) or "-" for model in models]
    return _table(tuple(columns), zip(*columns.values(), strict=True))


def _shortened(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + more


def _marked(name: str, translated: bool) -> str:
    return f"{name}{_MARK}" if translated else name


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in ("METHOD", "PATH"))
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))  # Text: no markup
    return table
