"""`modelway providers update`: show, then write newer models and prices."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from msgspec import to_builtins

from engine.cli.config_file import config_option, errors_exit, print_problems
from engine.cli.output import complete_file, format_option
from engine.cli.providers.catalog_text import catalog_text
from engine.config.catalog_updates import Catalog, read_catalog_file, with_newer
from engine.config.config_files import ConfigFiles
from engine.config.load import load_file
from engine.offline.diff.catalogs import (
    CatalogChange,
    ProviderChanges,
    catalog_differences,
)
from engine.source.excerpt import printable
from engine.source.problem import Findings

_HINT = "write `providers: {catalog: catalog.yaml}` into gateway.yaml, then it can be written"


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--write", is_flag=True, help="Write the result to the file of `providers.catalog`.")
@format_option()
@config_option
def command(config: ConfigFiles, file: Path, write: bool, output_format: str) -> None:
    """Show what a newer catalog changes of the models and prices in use, and write it with --write.

    FILE is the catalog of a newer release (`modelway providers show --format catalog`), or written
    by hand: providers by name, each with its `date` and the `models` that differ. With --write it
    is added to the file of `providers.catalog`; models that it does not name stay as they are.

    \b
    Exit status: 0 nothing changes, or it was written, 3 something changes, 1 errors, 2 wrong usage.
    """
    path, present = _present(config)
    findings = Findings()
    newer = read_catalog_file(file, str(file), findings)
    if findings.errors:
        errors_exit(findings.errors, findings.texts, "nothing is written")
    print_problems(findings.problems, findings.texts)
    after = Catalog(with_newer(present.entries, newer.entries))
    changes = [*catalog_differences(present, after, newer.entries)]
    _print(changes, output_format)
    if not changes:
        return
    if not write:
        sys.exit(3)
    if path is None:
        raise click.ClickException(f"the config names no catalog; {_HINT}")
    with complete_file(path) as target:
        target.write(catalog_text(after.entries).encode())
    click.echo(f"{path} is written", err=True)


def _present(config: ConfigFiles) -> tuple[Path | None, Catalog]:
    """The file of the config's catalog, None without one, and what it says; a file that is not
    there yet says nothing. Exits if it has errors."""
    findings = Findings()
    settings, document = load_file(config.main, os.environ, findings, config.overlays)
    section = document.value.get("providers") if isinstance(document.value, dict) else None
    name = section.get("catalog") if isinstance(section, dict) else None
    if settings is None or not isinstance(name, str):
        return None, Catalog()
    path = settings.folder / name
    if not path.exists():
        return path, Catalog()
    findings = Findings()
    catalog = read_catalog_file(path, str(path), findings)
    if findings.errors:
        errors_exit(findings.errors, findings.texts, "nothing is written")
    return path, catalog


def _print(changes: Sequence[ProviderChanges], output_format: str) -> None:
    if output_format == "json":
        click.echo(json.dumps({"providers": [to_builtins(each) for each in changes]}, indent=2))
        return
    if not changes:
        click.echo("nothing changes")
    for each in changes:
        click.echo(f"{each.name}: {each.old_date} -> {each.new_date}")
        for line in _lines(each.changes):
            click.echo(f"  {printable(line)}")


def _lines(changes: Iterable[CatalogChange]) -> Iterable[str]:
    for change in changes:
        if change.kind in ("added", "removed"):
            price = change.new if change.kind == "added" else change.old
            yield f"{change.model}: {change.kind}, {_value(price) or 'no price'}"
            continue
        subject = ", ".join(filter(None, (change.model, change.key)))
        percent = "" if change.percent is None else f" ({change.percent:+g}%)"
        yield f"{subject}: {_value(change.old)} -> {_value(change.new)}{percent}"


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(part)}" for key, part in value.items())
    if isinstance(value, tuple | list):
        return "+".join(map(_value, value))
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
