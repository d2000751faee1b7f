"""`modelway check`: every mistake in gateway.yaml and the documents it names, with its place."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from rich.console import Console

from engine import plan
from engine.cli.show import config_option, show, tally
from engine.problem import Level
from engine.spec.standard import breaches


@click.command()
@config_option
@click.option("-q", "--quiet", is_flag=True, help="Show errors and warnings only, no notes.")
def command(config: Path, quiet: bool) -> None:
    """Look for mistakes in the config and its documents; open no port, send nothing.

    Every problem is shown with file:line:column, the line, and a hint. What this command lets
    pass is what `modelway serve` runs.

    \b
    Exit status: 0 no errors (there may be warnings), 1 errors, 2 wrong usage.
    """
    with Console(stderr=True).status(f"reading {config}") as status:  # seen on a terminal only
        planned = plan.make(config, os.environ)
        for name, specification in planned.specifications.items():
            status.update(f"holding {name} against the OpenAPI standard")
            breaches(specification.library, planned.findings)
    problems = [p for p in planned.problems if not quiet or p.level is not Level.INFO]
    show(problems, planned)
    click.echo(f"{config}: {tally(problems)}")
    sys.exit(1 if planned.findings.errors else 0)
