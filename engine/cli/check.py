"""`modelway check`: every mistake in gateway.yaml and the documents it names, with its place."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource
from rich.console import Console
from rich.text import Text

from engine.cli import formats
from engine.cli.config_file import config_option, second_opinion_option
from engine.cli.formats import Report
from engine.offline.audit import audit
from engine.offline.explanations import codes, explanation
from engine.offline.ignores import Ignores
from engine.offline.rehearsal.boot import boot
from engine.offline.second_opinion.compare import compare_examples
from engine.plan.make import make_plan
from engine.plan.route import PlanResult
from engine.server.trial import try_out
from engine.source.problem import Findings, Level, Problem
from engine.source.suggestion import did_you_mean
from engine.spec.document.standard import breaches

_STDIN = "<stdin>"


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@config_option
@click.option(
    "--format",
    "form",
    type=click.Choice(formats.names()),
    default="text",
    show_default=True,
    help="text for people, json for programs, github for annotations, sarif for code scanning.",
)
@click.option("--strict", is_flag=True, help="Warnings fail as errors do.")
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Show errors and warnings only; print nothing where there are none.",
)
@click.option(
    "--boot",
    "on_trial",
    is_flag=True,
    help="Start it on trial as well: stores opened, requests rehearsed.",
)
@second_opinion_option
@click.option("--explain", metavar="CODE", help="Print the manual of a code like MW101.")
@click.pass_context
def command(
    context: click.Context,
    files: tuple[str, ...],
    config: Path,
    form: str,
    strict: bool,
    quiet: bool,
    on_trial: bool,
    second_opinion: bool,
    explain: str | None,
) -> None:
    """Look for mistakes in the config and its documents; open no port, send nothing.

    FILES are configs, in place of --config; `-` is standard input, and paths in it start at the
    working directory. Every problem is shown with file:line:column, the line, and a hint. What
    this command lets pass is what `modelway serve` runs. Beyond mistakes it warns of what is
    unwise; `# modelway: ignore MW401 why` on a line silences warnings there.

    Examples in the documents are also read by openapi-core: a warning shows both readings where
    they differ. --no-second-opinion saves the second or two that it takes.

    With --boot the gateway is also started in a process of its own, as before each reload: its
    stores are opened, and a request of each kind is rehearsed. Upstreams are never asked.

    \b
    Exit status: 0 no errors (there may be warnings), 1 errors (with --strict also warnings),
    2 wrong usage.
    """
    if explain is not None:
        click.echo(_explained(explain), nl=False)
        return
    named = list(dict.fromkeys(files))
    if not named or context.get_parameter_source("config") is ParameterSource.COMMANDLINE:
        named.insert(0, str(config))
    report = _checked(named, quiet, strict, on_trial, second_opinion)
    click.echo(formats.render(form, report), nl=False, color=report.colour)
    sys.exit(1 if report.failed else 0)


def _explained(code: str) -> str:
    found = explanation(code.upper())
    if found is None:
        hint = did_you_mean(code.upper(), codes())
        raise click.BadParameter(f"there is no code '{code}'; {hint}", param_hint="--explain")
    return found.text


def _checked(
    named: Sequence[str], quiet: bool, strict: bool, on_trial: bool, second_opinion: bool
) -> Report:
    """Check every config; what several of them say of one file is told once."""
    ignores, whole = Ignores(), True
    texts: dict[str, str] = {}
    kept: dict[str, list[Problem]] = {}
    for name in named:
        planned = _planned(name, on_trial, second_opinion)
        texts |= planned.texts
        shown = _STDIN if name == "-" else name
        kept[shown] = ignores.silence(planned.problems, planned.texts)
        whole = whole and planned.plan is not None
    if whole:  # else it is not known what there would have been to ignore
        for problem in ignores.unused():
            owner = problem.file if problem.file in kept else next(iter(kept))
            kept[owner] = sorted([*kept[owner], problem])
    if quiet:
        kept = {name: [p for p in one if p.level is not Level.INFO] for name, one in kept.items()}
    every = sorted({problem for found in kept.values() for problem in found})
    worst = {Level.ERROR, Level.WARNING} if strict else {Level.ERROR}
    failed = any(problem.level in worst for problem in every)
    return Report(kept, every, texts, failed, _colour(), quiet)


def _planned(name: str, on_trial: bool, second_opinion: bool) -> PlanResult:
    with Console(stderr=True).status(Text(f"reading {name}")) as status:  # seen on a terminal only
        if name == "-":
            planned = _planned_from(sys.stdin.buffer.read())
        else:
            planned = make_plan(Path(name), os.environ)
        for spec, specification in planned.specifications.items():
            status.update(Text(f"holding {spec} against the OpenAPI standard"))
            breaches(specification.library, planned.findings)
        audit(planned, os.environ)
        if second_opinion:
            status.update(Text("holding the documents' examples against openapi-core"))
            compare_examples(planned)
    if on_trial and planned.plan is not None:  # behind the status, whose thread no fork may have
        _boot(planned, _STDIN if name == "-" else name)
    return planned


def _boot(planned: PlanResult, shown: str) -> None:
    """Start a plan on trial. What is found then has no place: it is on the disk or elsewhere."""
    trial = try_out(lambda: planned, lambda plan, folder: boot(plan, folder).warning)
    for level, words in ((Level.ERROR, trial.error), (Level.WARNING, trial.warning)):
        if words:
            planned.findings.found.append(Problem(shown, 0, 0, level, "MW322", words))


def _planned_from(data: bytes) -> PlanResult:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 text (byte {error.start})"
        unreadable = Problem(_STDIN, 0, 0, Level.ERROR, "MW002", message)
        return PlanResult(findings=Findings([unreadable]))
    return make_plan(Path(_STDIN), os.environ, text)


def _colour() -> bool:
    """Whether the terminal is one, and nobody asked for none (https://no-color.org)."""
    if os.environ.get("NO_COLOR"):
        return False
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
