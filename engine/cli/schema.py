"""`modelway schema`: print the JSON Schema of gateway.yaml, for editors."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from engine import dialects, policies
from engine.cli.config_file import config_option, plan_of
from engine.cli.init import unwritable
from engine.cli.output import format_option
from engine.config import json_schema, providers
from engine.config.config import Config
from engine.config.config_files import ConfigFiles
from engine.config.key_reference import markdown
from engine.config.keys import describe
from engine.config.project_schema import Names, overlay_schema, project_schema
from engine.edge import answers
from engine.spec.spec import Specification
from engine.upstream import choose

_MODELINE = re.compile(r"^#\s*yaml-language-server:\s*\$schema=(\S+)", re.MULTILINE)
_MAX_HEAD = 4000
_DEFAULT = "schemas/gateway.schema.json"
OVERLAY_FILE = "overlay.schema.json"


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the schema to a file.",
)
@click.option("--expanded", is_flag=True, help="For files without ${VAR}.")
@click.option(
    "--project",
    is_flag=True,
    help="Write the schemas of this project, with its names, where its config says.",
)
@config_option
@format_option(
    ("json", "markdown"), "json is the schema; markdown is the reference of all keys, for people."
)
def command(
    output: Path | None, expanded: bool, project: bool, config: ConfigFiles, output_format: str
) -> None:
    """Print the JSON Schema of gateway.yaml, with the options of all policies.

    It accepts ${VAR} in place of any value. `modelway init` writes it to a new project; update it
    after an upgrade: modelway schema -o schemas/gateway.schema.json

    With --project it also has the names of the config's upstreams, models and operations, which an
    editor then suggests. It is written to the file that the first line of the config names (#
    yaml-language-server: $schema=FILE), by default schemas/gateway.schema.json, and beside it
    overlay.schema.json for further files of the command line. Write them again when names change.
    """
    if project:
        for file in _write_project(config, output):
            click.echo(f"{file} written")
        return
    schema_text = reference() if output_format == "markdown" else text(expanded=expanded)
    if output is None:
        click.echo(schema_text, nl=False)
        return
    try:
        output.write_text(schema_text, encoding="utf-8")
    except OSError as error:
        raise unwritable(error, output) from error


def _write_project(config: ConfigFiles, output: Path | None) -> list[Path]:
    """Write the schemas of a project; returns their files."""
    result = plan_of(config)
    if result.config is None:
        problem = result.findings.errors[0] if result.findings.errors else config
        raise click.ClickException(f"the config cannot be read: {problem}")
    schema = project_schema(json.loads(text()), _names(result.config, result.specifications))
    file = output or config.main.parent / _schema_path(config.main)
    texts = {file: schema, file.with_name(OVERLAY_FILE): overlay_schema(schema)}
    for path, document in texts.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_json(document), encoding="utf-8")
        except OSError as error:
            raise unwritable(error, path) from error
    return list(texts)


def _schema_path(config: Path) -> str:
    """The schema that the first lines of a config name for editors, if it is a file."""
    match = _MODELINE.search(config.read_text("utf-8", errors="replace")[:_MAX_HEAD])
    path = match[1] if match else ""
    return _DEFAULT if not path or "://" in path else path


def _names(config: Config, specifications: Mapping[str, Specification]) -> Names:
    operations = [op.id for spec in specifications.values() for op in spec.operations.values()]
    return Names(
        providers=providers.names(),
        dialects=dialects.names(),
        operations=[*operations, *(f"{name}.*" for name in config.specs)],
        specs=list(config.specs),
        upstreams=list(config.upstreams),
        models=list(config.models),
        tokens=[caller.name for caller in config.tokens.values()],
    )


def text(*, expanded: bool = False) -> str:
    """The schema of this version."""
    make = json_schema.full_schema if expanded else json_schema.editor_schema
    return _json(make(json_schema.schema(), *_options()))


def _json(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def reference() -> str:
    """The reference of all keys of this version, as Markdown."""
    return markdown(describe(json_schema.full_schema(json_schema.schema(), *_options())))


def _options() -> tuple[Any, Any, Any]:
    """The schemas of policies, strategies and own answers, which their rooms have."""
    return policies.schema(), choose.forms(), answers.schema()
