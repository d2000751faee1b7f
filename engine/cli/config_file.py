"""The config that a command reads: its option, its plan, and its problems on the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from engine.cli.check_formats import tally
from engine.cli.output import has_colour
from engine.config.config import Config
from engine.config.config_files import ConfigFiles
from engine.config.load import load
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import Plan, PlanResult
from engine.source.problem import Findings, Level, Problem, render

_STYLES: Mapping[Level, Mapping[str, Any]] = {
    Level.ERROR: {"fg": "red", "bold": True},
    Level.WARNING: {"fg": "yellow"},
    Level.INFO: {"fg": "cyan"},
}


class _ConfigPath(click.Path):
    """A path; in a variable, the base and its overlays with `:` between them."""

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        files = ConfigFiles.parse(rv)
        return [str(files.main), *map(str, files.overlays)]


def _config_files(
    context: click.Context, parameter: click.Parameter, value: tuple[Path, ...]
) -> ConfigFiles:
    return ConfigFiles(value[0], value[1:])


def config_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """The option `-c FILE`: gateway.yaml in the working directory by default, and overlays. The
    command gets `config`, a ConfigFiles."""
    return click.option(
        "-c",
        "--config",
        "config",
        type=_ConfigPath(path_type=Path),
        multiple=True,
        envvar="MODELWAY_CONFIG",
        default=["gateway.yaml"],
        show_default=True,
        callback=_config_files,
        help="The config file; each further -c names an overlay, which changes it. Also by the "
        "environment variable MODELWAY_CONFIG: gateway.yaml:prod.yaml.",
    )(function)


second_opinion_option = click.option(
    "--second-opinion/--no-second-opinion",
    default=True,
    show_default=True,
    help="Warn where openapi-core reads a request or example differently.",
)


def plan_of(config: ConfigFiles) -> PlanResult:
    """The plan of a config in this environment."""
    return make_plan(config.main, os.environ, overlays=config.overlays)


def plan_or_exit(config: ConfigFiles, consequence: str = "nothing is served") -> Plan:
    """The plan of a config; with errors, prints them and exits with status 1."""
    plan = result_or_exit(plan_of(config), consequence).plan
    assert plan is not None
    return plan


def lacks_tokens(plan: Plan | None) -> bool:
    """Whether a plan without errors requires tokens, but has none, nor a database of them."""
    if plan is None:
        return False
    config = plan.config
    if config.tokens or config.jwt or config.stores.records is not None:
        return False
    return bool(plan.tool_upstreams) or any(not r.allows_anonymous for r in plan.routes)


def result_or_exit(result: PlanResult, consequence: str = "nothing is served") -> PlanResult:
    """The result, if it has a plan; else prints its errors and exits with status 1."""
    if result.plan is None:
        errors_exit(result.findings.errors, result.texts, consequence)
    return result


def errors_exit(
    errors: Sequence[Problem], texts: Mapping[str, str], consequence: str = ""
) -> NoReturn:
    """Print errors and their consequence, and exit with status 1."""
    print_problems(errors, texts)
    click.echo("; ".join(filter(None, (tally(errors), consequence))) + ".", err=True)
    sys.exit(1)


def print_problems(problems: Sequence[Problem], texts: Mapping[str, str]) -> None:
    """Print problems with their lines and hints to standard error, in colour on a terminal.
    `texts` are the texts of the files by name."""
    colour = has_colour(sys.stderr)
    for problem in problems:
        first, *excerpt_lines = render(problem, texts).split("\n")
        click.secho(first, err=True, color=colour, **_STYLES[problem.level])
        for line in excerpt_lines:
            click.secho(line, err=True, color=colour, dim=" | " in line or None)


def read_config(config: ConfigFiles, advice: str, findings: Findings) -> Config | None:
    """gateway.yaml without its documents; None if it has errors. Raises ClickException, with
    `advice`, if it cannot be read."""
    main = config.main
    try:
        text = main.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        if isinstance(error, FileNotFoundError):
            advice += "; `modelway init FOLDER` writes a new project"
        raise click.ClickException(f"cannot read {main}: {reason}; {advice}") from error
    folder = main.parent.resolve()
    return load(text, str(main), folder, os.environ, findings, config.overlays)[0]
