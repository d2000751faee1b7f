"""`modelway schema`: the JSON Schema of gateway.yaml, for editors and other validators."""

from __future__ import annotations

import json
from pathlib import Path

import click

from engine import policies
from engine.config.json_schema import schema, written


@click.command()
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write it to a file."
)
@click.option("--expanded", is_flag=True, help="For files in which every ${VAR} is filled in.")
def command(output: Path | None, expanded: bool) -> None:
    """Print the JSON Schema of gateway.yaml, that of every policy's options included.

    It describes the file as it is written, where any value may be ${VAR}. `modelway init` writes it
    into a new project; after an upgrade: modelway schema -o schemas/gateway.schema.json
    """
    made = text(expanded=expanded)
    if output is None:
        click.echo(made, nl=False)
        return
    try:
        output.write_text(made, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}") from error


def text(*, expanded: bool = False) -> str:
    """The schema of this version."""
    made = schema()
    if expanded:
        policy_list = {**made["$defs"]["policies"], "items": policies.schema()}
        made = {**made, "$defs": {**made["$defs"], "policies": policy_list}}
    else:
        made = written(made, policies.schema())
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"
