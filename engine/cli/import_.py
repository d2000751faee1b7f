"""`modelway import`: convert the config of another gateway, or add an OpenAPI document."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click
import yaml

from engine.cli.config_file import errors_exit, lacks_tokens, plan_of
from engine.cli.init import next_steps, unwritable, write_project
from engine.config.config_files import ConfigFiles
from engine.offline.imports import sources
from engine.offline.imports.api_document import Filters, ImportedApi
from engine.offline.imports.api_document import read as read_api
from engine.offline.imports.config_additions import names_in, with_entries
from engine.offline.imports.imported_config import ImportedConfig
from engine.plan.assembly.make_plan import make_plan
from engine.source import files
from engine.source.problem import Findings, Problem
from engine.source.reader import SourceDocument, read_file
from engine.values.units import format_count

_API = "openapi"
_HEAD = "# yaml-language-server: $schema=schemas/gateway.schema.json\nversion: 1\n"


@click.command()
@click.argument("source", type=click.Choice([*sources.names(), _API]))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a project: gateway.yaml, documents, schemas. Without it gateway.yaml is printed.",
)
@click.option("--upstream", help="openapi: the URL of the API. Default: the document's server.")
@click.option("--tag", "tags", multiple=True, help="openapi: only operations with this tag.")
@click.option(
    "--path", "paths", multiple=True, help="openapi: only these paths; `*` stands for any text."
)
@click.option("--name", default="", help="openapi: the name of the spec and the upstream.")
def command(
    source: str,
    file: Path,
    folder: Path | None,
    upstream: str | None,
    tags: tuple[str, ...],
    paths: tuple[str, ...],
    name: str,
) -> None:
    """Write gateway.yaml from FILE, the config of another gateway: LiteLLM's config.yaml, or Kong's
    declarative config; or from an OpenAPI document.

    Each entry names the lines that it comes from. What cannot be imported is listed on standard
    error with its line and the reason, and at the head of the result. Secrets that are written out
    in FILE become variables. The result passes `modelway check` once the variables are set.

    An OpenAPI document becomes a spec, an upstream and a route to it. If the folder of -o has a
    gateway.yaml, they are added to it, and everything else in it stays as it is.

    \b
      modelway import litellm config.yaml -o my-gateway
      modelway import kong kong.yaml > gateway.yaml
      modelway import openapi shop.yaml --upstream https://shop.internal/v1 -o my-gateway
      modelway import openapi shop.yaml --tag orders --path "/orders*" -o .

    \b
    Exit status: 0 imported, 1 FILE cannot be read, or nothing in it can be imported.
    """
    if source == _API:
        _import_api(file, folder, name, upstream or "", Filters(tags, paths))
        return
    if upstream is not None or tags or paths or name:
        raise click.UsageError("--upstream, --tag, --path and --name are for `openapi`")
    _import_config(source, file, folder)


def _import_config(source: str, file: Path, folder: Path | None) -> None:
    """Print the config that an importer makes of a file, or write it as a project."""
    draft = sources.read(source, _document(file))
    for note in sorted(draft.notes):
        click.echo(str(note), err=True)
    if draft.is_empty:
        title = sources.title(source)
        reason = "see above" if draft.notes else f"it has no section of {title}"
        raise click.ClickException(f"nothing of {file} is imported: {reason}")
    text = draft.text(sources.title(source))
    if folder is None:
        click.echo(text, nl=False)
        return
    try:
        write_project(folder, text)
        for document_name, document in draft.documents.items():
            content = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
            (folder / "openapi" / document_name).write_text(content, "utf-8")
    except OSError as error:
        raise unwritable(error, folder) from error
    click.echo(_summary(draft, folder))


def _document(file: Path) -> SourceDocument:
    """The file, whose value is a mapping; else prints its problems and exits with status 1."""
    document = read_file(file, str(file))
    if document.problems:
        texts = {document.file: document.text}
        errors_exit(document.problems, texts, "nothing is imported")
    if not isinstance(document.value, dict):
        raise click.ClickException(f"{file} is not a mapping of sections; nothing is imported")
    return document


def _summary(draft: ImportedConfig, folder: Path) -> str:
    counts = [
        format_count(len(draft.models), "model"),
        format_count(len(draft.upstreams), "upstream"),
        f"{format_count(len(draft.notes), 'part')} not imported",
    ]
    steps = next_steps(folder, draft.variables(), with_token=not draft.tokens)
    return f"Wrote {folder}: {', '.join(counts)}\n\n{steps}"


def _import_api(
    file: Path, folder: Path | None, name: str, upstream: str, filters: Filters
) -> None:
    """Print the entries of an API, or write them to a project."""
    findings = Findings()
    try:
        api = read_api(file, name, upstream, filters, findings)
        if api is None:
            errors_exit(findings.errors, {}, f"nothing of {file} is imported")
        for problem in api.specification.refusals.values():
            click.echo(f"{problem.place}: not imported: {problem.message}", err=True)
        if folder is None:
            click.echo(_with_api(_HEAD, api, str(file)), nl=False)
            return
        _write_api(api, folder.resolve(), folder)
    except ValueError as error:
        raise click.ClickException(f"nothing of {file} is imported: {error}") from error


def _with_api(text: str, api: ImportedApi, document: str, mount: str = "") -> str:
    """The text of a config with the entries of an API."""
    return with_entries(
        text,
        {
            "specs": (api.name, api.spec(document, mount)),
            "upstreams": (api.name, api.upstream_entry()),
            "routes": ("", api.route()),
        },
    )


def _write_api(api: ImportedApi, project: Path, folder: Path) -> None:
    """Add an API to the project in a folder, or make one. Raises ValueError for a config to which
    nothing can be added."""
    config = project / "gateway.yaml"
    try:
        old = config.read_text("utf-8") if config.exists() else ""
        for section in ("specs", "upstreams"):
            if api.name in names_in(old, section):
                raise ValueError(f"{section} has '{api.name}' already: give another --name")
        copies = api.copies(project)
        for source, target in copies.items():
            if target.exists() and target.read_bytes() != source.read_bytes():
                raise ValueError(f"{target} already exists: give another --name")
        document, *_ = copies
        mount = _mount(api, config, old, document)
        text = _with_api(old or _HEAD, api, str(copies[document].relative_to(project)), mount)
        for source, target in copies.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            if target != source:
                shutil.copyfile(source, target)
        config.write_text(text, "utf-8")
        if not old:
            schema = project / files.SCHEMA.parent.name / files.SCHEMA.name
            schema.parent.mkdir(exist_ok=True)
            shutil.copyfile(files.SCHEMA, schema)
    except OSError as error:
        raise unwritable(error, folder) from error
    variables = [api.variable] if api.variable else []
    with_token = lacks_tokens(plan_of(ConfigFiles(config, ())).plan)
    click.echo(
        f"Wrote {folder / 'gateway.yaml'}: {format_count(len(api.operations), 'operation')} of "
        f"'{api.name}'{f' under {mount}' if mount else ''} go to {api.upstream}\n\n"
        f"{next_steps(folder, variables, with_token=with_token)}"
    )


def _mount(api: ImportedApi, config: Path, old: str, document: Path) -> str:
    """The prefix of the paths of an API: its own, "", or one with its name if others have the same
    paths. Exits with status 1 if the config has a new error with both."""
    known = (
        {str(each) for each in make_plan(config, os.environ, old).findings.errors} if old else set()
    )
    errors: list[Problem] = []
    for mount in ("", api.prefix):
        text = _with_api(old or _HEAD, api, str(document), mount)
        current = make_plan(config, os.environ, text).findings.errors
        new = [each for each in current if str(each) not in known]
        if not new:
            return mount
        errors = errors or new
    return errors_exit(errors, {}, "nothing is written")
