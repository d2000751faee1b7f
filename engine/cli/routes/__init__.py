"""`modelway routes`: list the routes, models and bounds of upstreams. `tables` prints them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from urllib.parse import urlencode

import click

from engine.cli.config_file import config_option, plan_or_exit
from engine.cli.output import format_option, is_terminal
from engine.cli.routes.tables import Document, model_table, route_table, team_table, upstream_table
from engine.cli.text_table import print_table
from engine.config.config_files import ConfigFiles
from engine.config.listed_models import ListedModels
from engine.config.model_operation import ModelOperation
from engine.config.operations_by_model import Kind, ModelOperations
from engine.offline.diff.kinds.targets import rule_text
from engine.offline.diff.restrictions import quota_text
from engine.offline.rehearsal.target_report import upstream_report
from engine.plan.plan import Plan
from engine.plan.route import Route

_LEGEND = "* translated for at least one target (see docs/reference/translation.md)"


@click.command()
@config_option
@format_option()
def command(config: ConfigFiles, output_format: str) -> None:
    """List every route: method, path, operation, source of the model name, targets, policies.

    Below, every model with the formats of chat in which it can be called, and the upstreams with
    bounds, queues or followed addresses, and the teams. A * marks requests that are translated for
    at least one of the targets.
    """
    plan = plan_or_exit(config, "nothing is listed")
    operations = plan.model_operations()
    routes, models, upstreams = _routes(plan, operations), _models(plan, operations), _bounds(plan)
    teams = _teams(plan)
    if output_format == "json":
        lists = {"routes": routes, "models": models, "upstreams": upstreams, "teams": teams}
        click.echo(json.dumps(lists, indent=2, ensure_ascii=False))
        return
    brief = is_terminal(sys.stdout)
    print_table(route_table(routes, brief=brief))
    if models:
        click.echo()
        print_table(model_table(models, brief=brief))
        if any(entry["translated"] for model in models for entry in model["formats"]):
            click.echo(_LEGEND)
    if upstreams:
        click.echo()
        print_table(upstream_table(upstreams))
    if teams:
        click.echo()
        print_table(team_table(teams))


def _routes(plan: Plan, operations: ModelOperations) -> list[Document]:
    upstreams = _upstreams_by_operation(plan, operations)
    return [
        {
            "method": route.operation.method,
            "path": f"{template}?{query}" if query else template,
            "operation": route.operation.id,
            "model": route.model.text if route.model is not None else None,
            "default": route.default_model,
            "answer": "" if route.answer is None else route.answer.name,
            "hosts": list(route.hosts),
            "status": None if route.respond is None else route.respond.status,
            "targets": _upstreams(route, upstreams),
            "choose": route.choose.text if route.to else None,
            "priority": route.priority,
            "hedge": None if route.hedge is None else route.hedge.after,
            "guards": _guards(route),
        }
        for route in plan.routes
        for template, _ in route.templates
        for query in [urlencode(route.operation.query)]
    ]


def _upstreams(route: Route, upstreams: Mapping[str, list[Document]]) -> list[Document]:
    if route.model is None:
        return [
            {
                "upstream": target.upstream,
                "translated": False,
                "max_in_flight": target.max_in_flight,
            }
            for target in route.to
        ]
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
                targets = operations.targets(name, operation)
                for target in chain(targets, operations.rule_targets(name, operation)):
                    upstream = target.target.upstream
                    translated[upstream] = translated.get(upstream, False) or bool(target.language)
        by_kind[kind] = [
            {"upstream": name, "translated": translated[name]} for name in sorted(translated)
        ]
    return {operation.id: by_kind[operations.kind(operation)] for operation in operations.all}


def _bounds(plan: Plan) -> list[Document]:
    """The upstreams at which a request may wait, or whose addresses are followed."""
    keys = ("max_in_flight", "queue", "addresses")
    reports = ((each.name, upstream_report(each)) for each in plan.config.upstreams.values())
    return [
        {"upstream": name} | {key: report[key] for key in keys}
        for name, report in reports
        if any(report[key] for key in keys)
    ]


def _teams(plan: Plan) -> list[Document]:
    """The teams of the file, with the tokens of the file that are members."""
    config = plan.config
    return [
        {
            "team": name,
            "in": team.parent,
            "models": team.models,
            "operations": team.operations,
            "limits": [quota_text(limit, config.currency) for limit in team.limits],
            "regions": team.regions,
            "prices": str(config.team_prices[name]) if name in config.team_prices else "",
            "tokens": [caller.name for caller in config.tokens.values() if caller.team == name],
        }
        for name, team in config.teams.by_name.items()
    ]


def _models(plan: Plan, operations: ModelOperations) -> list[Document]:
    """Every entry of `models`; for a wildcard with the models of providers that it matches."""
    listed: dict[str, list[str]] = {}
    for model in ListedModels(plan.config).values():
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
                "rules": [rule_text(rule) for rule in plan.config.models[name].when],
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
            "max_in_flight": target.target.max_in_flight,
        }
        for target in operations.targets(entry, operation)
    ]
    return {
        "format": operation.language,
        "translated": any(target["into"] for target in targets),
        "targets": targets,
    }


def _guards(route: Route) -> list[str]:
    guards = ["public" if route.allows_anonymous else "token"]
    guards += [policy.name for policy in route.policies]
    guards += ["websocket"] if route.websocket is not None else []
    if route.respond is None:
        guards += ["not validated" if route.validate == "off" else "validated"]
    guards += [f"in {' or '.join(route.regions)}"] if route.regions is not None else []
    guards += [f"{route.priority} priority"] if route.priority != "normal" else []
    return guards + ([f"hedge after {route.hedge.after}"] if route.hedge is not None else [])
