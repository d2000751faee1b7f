"""`modelway schema`: print the JSON Schema of gateway.yaml, for editors."""

from __future__ import annotations

import json
from pathlib import Path

import click

from engine import policies
from engine.cli.output_format import format_option
from engine.config import json_schema
from engine.config.key_reference import markdown
from engine.config.keys import describe
from engine.upstream import choose


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the schema to a file.",
)
@click.option("--expanded", is_flag=True, help="For files without ${VAR}.")
@format_option(
    ("json", "markdown"), "json is the schema; markdown is the reference of all keys, for people."
)
def command(output: Path | None, expanded: bool, output_format: str) -> None:
    """Print the JSON Schema of gateway.yaml, with the options of all policies.

    It accepts ${VAR} in place of any value. `modelway init` writes it to a new project; update it
    after an upgrade: modelway schema -o schemas/gateway.schema.json
    """
    schema_text = reference() if output_format == "markdown" else text(expanded=expanded)
    if output is None:
        click.echo(schema_text, nl=False)
        return
    try:
        output.write_text(schema_text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}") from error


def text(*, expanded: bool = False) -> str:
    """The schema of this version."""
    make = json_schema.full_schema if expanded else json_schema.editor_schema
    document = make(json_schema.schema(), policies.schema(), choose.forms())
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def reference() -> str:
    """The reference of all keys of this version, as Markdown."""
    return markdown(
        describe(json_schema.full_schema(json_schema.schema(), policies.schema(), choose.forms()))
    )
