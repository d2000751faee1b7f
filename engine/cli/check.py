"""`modelway check`: find the problems of a config and its documents."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click
from click.core import ParameterSource
from msgspec.structs import replace

from engine.cli import check_formats, unexpected_errors
from engine.cli.check_formats import Report
from engine.cli.config_file import config_option, lacks_tokens, plan_of
from engine.cli.output import format_option, has_colour, is_terminal
from engine.config.config_files import ConfigFiles
from engine.offline.check.audit import audit
from engine.offline.check.ignores import Ignores, of_documents
from engine.offline.check.plugin_findings import note_plugins
from engine.offline.check.translation_limits import note_limits
from engine.offline.check.unreached_parts import lower_unreached
from engine.offline.explanations import codes, explanation
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import PlanResult
from engine.process.gc_pause import no_collection
from engine.source.problem import Findings, Level, Problem
from engine.source.suggestion import did_you_mean
from engine.spec.document.checks.mistakes import note_mistakes
from engine.spec.document.checks.standard_breaches import breaches
from engine.spec.schemas.schema_validator import compile_on_use
from engine.spec.spec import Specification

_STDIN = "<stdin>"


@click.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@config_option
@format_option(
    check_formats.names(),
    "text for people, json for programs, github for annotations, sarif for code scanning.",
)
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option(
    "-q",
    "--quiet",
    is_flag=True,
    help="Print only errors and warnings; nothing if there are none.",
)
@click.option(
    "--all", "complete", is_flag=True, help="Print every problem; text has three of each code."
)
@click.option(
    "--boot",
    "trial",
    is_flag=True,
    help="Also start the gateway on trial: open its stores, rehearse requests.",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Also list the features that translated requests to each model lose, by format.",
)
@click.option(
    "--second-opinion/--no-second-opinion",
    default=None,
    help="Warn where openapi-core reads an example differently.  "
    "[default: with --strict, and where the variable CI is set]",
)
@click.option("--explain", metavar="CODE", help="Explain a problem code like MW101.")
@click.pass_context
def command(
    context: click.Context,
    files: tuple[str, ...],
    config: ConfigFiles,
    output_format: str,
    strict: bool,
    quiet: bool,
    complete: bool,
    trial: bool,
    verbose: bool,
    second_opinion: bool | None,
    explain: str | None,
) -> None:
    """Check the config and its documents, without opening a port or sending anything.

    FILES are configs, in place of --config; `-` is standard input, whose paths are relative to the
    working directory. Every problem is printed with file:line:column, the line, and a hint.
    `modelway serve` runs a config if it has no errors. Warnings are about settings that are valid
    but unsafe; `# modelway: ignore MW401 reason` on a line silences one.

    With --strict, where CI is set, and with --second-opinion, the examples in the documents are
    also validated by openapi-core, which takes a second or two: a warning shows both results where
    they differ.

    With --boot the gateway is also started in a separate process, as before each reload: it opens
    its stores and rehearses a request of each kind. Nothing is sent to upstreams.

    \b
    Exit status: 0 no errors (there may be warnings), 1 errors (with --strict also warnings),
    2 wrong usage.
    """
    if explain is not None:
        click.echo(_explanation(explain), nl=False)
        return
    is_named = context.get_parameter_source("config") is ParameterSource.COMMANDLINE
    configs = [config] if is_named or not files else []
    configs += [ConfigFiles(Path(file)) for file in dict.fromkeys(files)]
    if second_opinion is None:
        second_opinion = strict or _in_ci(os.environ)
    plan = partial(_plan, trial=trial, second_opinion=second_opinion, verbose=verbose)
    serve = _serve(configs) if files or is_named else "modelway serve"
    report = _check(configs, quiet, strict, plan)
    report = replace(report, complete=complete or verbose, serve=serve)
    click.echo(check_formats.render(output_format, report), nl=False, color=report.colour)
    sys.exit(1 if report.failed else 0)


def _explanation(code: str) -> str:
    manual = explanation(code.upper())
    if manual is None:
        hint = did_you_mean(code.upper(), codes())
        raise click.BadParameter(f"there is no code '{code}'; {hint}", param_hint="--explain")
    return manual.text


def _check(
    configs: Sequence[ConfigFiles],
    quiet: bool,
    strict: bool,
    plan: Callable[[ConfigFiles], PlanResult],
) -> Report:
    """Check every config; `plan` plans one. A problem of a file that several configs use is
    reported once."""
    ignores, complete, no_tokens = Ignores(), True, False
    texts: dict[str, str] = {}
    files: dict[str, list[Problem]] = {}
    for config in configs:
        with no_collection(keep=len(configs) == 1):  # the process ends with it
            result = _result(plan, config)
        texts |= result.texts
        silenced = of_documents(result.config, result.specifications)
        files[_name(config)] = ignores.silence(result.problems, result.texts, silenced)
        complete = complete and result.plan is not None
        no_tokens = no_tokens or lacks_tokens(result.plan)
    if complete:  # an incomplete check cannot tell which ignores are unused
        for problem in ignores.unused():
            owner = problem.file if problem.file in files else next(iter(files))
            files[owner] = sorted([*files[owner], problem])
    if quiet:
        files = {
            name: [problem for problem in problems if problem.level is not Level.INFO]
            for name, problems in files.items()
        }
    all_problems = sorted({problem for problems in files.values() for problem in problems})
    failures = {Level.ERROR, Level.WARNING} if strict else {Level.ERROR}
    failed = any(problem.level in failures for problem in all_problems)
    colour = has_colour(sys.stdout)
    return Report(files, all_problems, texts, failed, colour, quiet, lacks_tokens=no_tokens)


def _result(plan: Callable[[ConfigFiles], PlanResult], config: ConfigFiles) -> PlanResult:
    """The plan of a config; an unexpected exception is its only problem, and the other configs are
    checked all the same."""
    try:
        return plan(config)
    except (click.ClickException, OSError):
        raise
    except Exception as error:  # noqa: BLE001 - it becomes a finding
        problem = unexpected_errors.finding(error, _name(config))
        return PlanResult(findings=Findings([problem], unexpected_errors.texts(problem)))


def _name(config: ConfigFiles) -> str:
    return _STDIN if str(config) == "-" else str(config)


def _serve(configs: Sequence[ConfigFiles]) -> str:
    """The command that serves these configs, for people."""
    if len(configs) > 1 or str(configs[0]) == "-":
        return "modelway serve -c FILE"
    files = (configs[0].main, *configs[0].overlays)
    return shlex.join(
        ["modelway", "serve", *(word for file in files for word in ("-c", str(file)))]
    )


def _in_ci(environ: Mapping[str, str]) -> bool:
    """Whether this is a build in CI, as its services and most tools read the variable."""
    return environ.get("CI", "").lower() not in ("", "0", "false")


def _plan(config: ConfigFiles, *, trial: bool, second_opinion: bool, verbose: bool) -> PlanResult:
    with _status(f"reading {config}") as say, compile_on_use():
        if str(config) == "-":
            result = _plan_of(sys.stdin.buffer.read())
        else:
            result = plan_of(config)
        for spec, specification in result.specifications.items():
            say(f"validating {spec} against the OpenAPI standard")
            _note_mistakes(specification, result.findings)
        lower_unreached(result)
        audit(result, os.environ)
        note_plugins(result)
        if verbose and result.plan is not None:
            note_limits(result)
        if second_opinion:
            from engine.offline.second_opinion.compare import compare_examples

            say("validating the examples of the documents with openapi-core")
            compare_examples(result)
    if trial and result.plan is not None:  # after the status: its thread must not be forked
        _boot(result, _name(config))
    return result


def _note_mistakes(specification: Specification, findings: Findings) -> None:
    """Note breaches of the standard, and mistakes that it allows."""
    files = {marked.file for marked in specification.library.documents}
    places = {(p.file, p.line, p.column) for p in findings.unsorted if p.file in files}

    def note(findings: Findings) -> None:
        library = specification.library.unpacked()
        breaches(library, findings)
        note_mistakes(library, findings)

    # A breach is not noted where another finding is.
    specification.note("standard", sorted(places), findings, note)


@contextmanager
def _status(text: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done; the block gets a function that changes the text."""
    if not is_terminal(sys.stderr):
        yield lambda text: None
        return
    from rich.console import Console  # a tenth of the time of a check
    from rich.text import Text

    with Console(stderr=True).status(Text(text)) as status:
        yield lambda text: status.update(Text(text))


def _boot(result: PlanResult, file: str) -> None:
    """Start a plan on trial. Its problems have no line: their cause is outside the file."""
    from engine.offline.rehearsal.boot import boot  # the whole gateway, which only this needs
    from engine.server.config_trial import try_out

    trial = try_out(lambda: result, lambda plan, folder: boot(plan, folder).warning)
    for level, message in ((Level.ERROR, trial.error), (Level.WARNING, trial.warning)):
        if message:
            result.findings.unsorted.append(Problem(file, 0, 0, level, "MW322", message))


def _plan_of(data: bytes) -> PlanResult:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"not UTF-8 text (byte {error.start})"
        unreadable = Problem(_STDIN, 0, 0, Level.ERROR, "MW002", message)
        return PlanResult(findings=Findings([unreadable]))
    return make_plan(Path(_STDIN), os.environ, text)
