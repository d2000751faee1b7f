"""`modelway import`: convert the config of another gateway."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import yaml

from engine.cli.formats import tally
from engine.cli.init import write_project
from engine.offline import importers
from engine.offline.imported_config import ImportedConfig
from engine.source.problem import render
from engine.source.reader import SourceDocument, read_file


@click.command()
@click.argument("source", type=click.Choice(importers.names()))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a project: gateway.yaml, openapi/, schemas/. Without it gateway.yaml is printed.",
)
def command(source: str, file: Path, folder: Path | None) -> None:
    """Write gateway.yaml from FILE, the config of another gateway: LiteLLM's config.yaml, or Kong's
    declarative config.

    Each entry names the lines that it comes from. What cannot be imported is listed on standard
    error with its line and the reason, and at the head of the result. Secrets that are written out
    in FILE become variables. The result passes `modelway check` once the variables are set.

    \b
      modelway import litellm config.yaml -o my-gateway
      modelway import kong kong.yaml > gateway.yaml

    \b
    Exit status: 0 imported (see the list of what was not), 1 FILE cannot be read, or nothing in it
    can be imported.
    """
    draft = importers.read(source, _document(file))
    for note in sorted(draft.notes):
        click.echo(str(note), err=True)
    if draft.is_empty:
        title = importers.title(source)
        reason = "see above" if draft.notes else f"it has no section of {title}"
        raise click.ClickException(f"nothing of {file} is imported: {reason}")
    text = draft.text(importers.title(source))
    if folder is None:
        click.echo(text, nl=False)
        return
    try:
        write_project(folder, text)
        for name, document in draft.documents.items():
            content = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
            (folder / "openapi" / name).write_text(content, "utf-8")
    except OSError as error:
        message = f"{error.filename or folder} cannot be written: {error.strerror}"
        raise click.ClickException(message) from error
    click.echo(_summary(draft, folder))


def _document(file: Path) -> SourceDocument:
    """The file, whose value is a mapping; else prints its problems and exits with status 1."""
    document = read_file(file, str(file))
    if document.problems:
        texts = {document.file: document.text}
        for problem in document.problems:
            click.echo(render(problem, texts), err=True)
        click.echo(f"{tally(document.problems)}; nothing is imported.", err=True)
        sys.exit(1)
    if not isinstance(document.value, dict):
        raise click.ClickException(f"{file} is not a mapping of sections; nothing is imported")
    return document


def _summary(draft: ImportedConfig, folder: Path) -> str:
    variables = "".join(f"  export {name}=...\n" for name in draft.variables())
    return (
        f"Wrote {folder}: {len(draft.models)} models, {len(draft.upstreams)} upstreams, "
        f"{len(draft.notes)} parts not imported\n\n  cd {folder}\n{variables}  modelway check"
    )
