"""What the commands share: the option for the config, and how problems are shown."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from engine.plan.make import make_plan
from engine.plan.route import Plan, PlanResult
from engine.source.problem import Level, Problem, render

_STYLES = {Level.ERROR: "bold red", Level.WARNING: "yellow", Level.INFO: "cyan"}


def config_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`-c FILE`: the config, gateway.yaml here unless MODELWAY_CONFIG or the option names one."""
    return click.option(
        "-c",
        "--config",
        "config",
        type=click.Path(path_type=Path),
        envvar="MODELWAY_CONFIG",
        default=Path("gateway.yaml"),
        show_default=True,
        help="The routing table. Also by the environment variable MODELWAY_CONFIG.",
    )(function)


second_opinion_option = click.option(
    "--second-opinion/--no-second-opinion",
    default=True,
    show_default=True,
    help="Warn where openapi-core reads a request or example differently.",
)


def planned_or_exit(config: Path) -> Plan:
    """The plan of a config; prints every error and exits with 1 when there are any."""
    made = good_or_exit(config).plan
    assert made is not None
    return made


def good_or_exit(config: Path) -> PlanResult:
    """A config that has a plan; prints every error and exits with 1 when there are any."""
    planned = make_plan(config, os.environ)
    if planned.plan is None:
        show(planned.findings.errors, planned)
        click.echo(f"{tally(planned.findings.errors)}; nothing is served.", err=True)
        sys.exit(1)
    return planned


def show(problems: list[Problem], planned: PlanResult) -> None:
    """Print problems with their lines and hints, in colour on a terminal."""
    console = Console(stderr=False, highlight=False, soft_wrap=True)
    for problem in problems:
        first, *rest = render(problem, planned.texts).split("\n")
        console.print(first, style=_STYLES[problem.level], markup=False)
        for line in rest:
            console.print(line, markup=False, style="dim" if " | " in line else "")


def tally(problems: list[Problem]) -> str:
    """`2 errors, 1 warning`, or `no problems`."""
    counted = Counter(problem.level for problem in problems)
    said = [f"{n} {level}{'s' if n > 1 else ''}" for level, n in sorted(counted.items())]
    return ", ".join(said) or "no problems"
