"""`modelway diff`: compare two configs by their effect."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from engine.cli.config_file import plan_of, result_or_exit
from engine.cli.output import format_option
from engine.config.config_files import ConfigFiles
from engine.offline.diff.difference import Effect, differences_between
from engine.offline.diff.formats import as_github, as_json, as_markdown, as_text
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import PlanResult

_CONSEQUENCE = "nothing is compared"
_FORMATS = {"text": as_text, "json": as_json, "github": as_github, "markdown": as_markdown}


@click.command()
@click.argument("old")
@click.argument("new")
@format_option(
    tuple(_FORMATS), "text for people, json for programs, github and markdown for reviews."
)
@click.option("--strict", is_flag=True, help="Exit with status 3 also for breaking changes.")
def command(old: str, new: str, output_format: str, strict: bool) -> None:
    """Print the differences in effect from OLD to NEW, each a gateway.yaml or a folder with one.

    Compared are routes, authentication, tokens, limits, validation, targets, timeouts, and the
    requests and responses that the documents allow. Comments, order and style are ignored.
    Overlays follow the file after a colon: gateway.yaml:prod.yaml.

    OLD may be `-` or a pipe, for a config without its files: documents and includes are then read
    from NEW's folder, and the overlays are NEW's. To compare old documents as well, use a folder.

    \b
      git show main:gateway.yaml | modelway diff - gateway.yaml
      modelway diff gateway.yaml:staging.yaml gateway.yaml:prod.yaml
      git worktree add /tmp/main main && modelway diff /tmp/main .

    \b
    Levels: weaker (less protection), breaking (callers may fail), removed, changed, added.
    Exit status: 0 nothing weaker, 3 something weaker, 1 errors in a config, 2 wrong usage.
    """
    if _is_pipe(new):
        raise click.UsageError("NEW is a file or a folder; only OLD may be a pipe")
    _refuse_missing([name for name in (old, new) if not _is_pipe(name)])
    after = result_or_exit(plan_of(_files(new)), _CONSEQUENCE)
    if _is_pipe(old):
        before = _plan_of_pipe(old, _files(new))
    else:
        before = result_or_exit(plan_of(_files(old)), _CONSEQUENCE)
    differences = differences_between(before, after)
    click.echo(_FORMATS[output_format](differences))
    failures = {Effect.WEAKER, Effect.BREAKING} if strict else {Effect.WEAKER}
    sys.exit(3 if any(difference.level in failures for difference in differences) else 0)


def _is_pipe(name: str) -> bool:
    if name == "-":
        return True
    try:
        return stat.S_ISFIFO(os.stat(name).st_mode)
    except OSError:
        return False  # reading it reports the error


def _refuse_missing(names: Sequence[str]) -> None:
    """Raises ClickException with all configs that do not exist."""
    files = [str(_files(name).main) for name in names]
    if missing := [file for file in files if not os.path.lexists(file)]:
        message = f"no such file: {' and '.join(missing)}; {_CONSEQUENCE}"
        raise click.ClickException(f"{message}. Name a gateway.yaml, or a folder with one.")


def _files(name: str) -> ConfigFiles:
    """The files of an argument; the base may be a folder."""
    files = ConfigFiles.parse(name)
    main = files.main / "gateway.yaml" if os.path.isdir(files.main) else files.main
    return ConfigFiles(main, files.overlays)


def _plan_of_pipe(old: str, new: ConfigFiles) -> PlanResult:
    """The plan of a config without its files, read as if it were in the folder of `new`."""
    data = sys.stdin.buffer.read() if old == "-" else Path(old).read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"OLD is not UTF-8 text (byte {error.start})") from error
    plan = make_plan(new.main.parent / "(old)", os.environ, text, new.overlays)
    return result_or_exit(plan, _CONSEQUENCE)
