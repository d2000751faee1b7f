"""`modelway init`: a starter project."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from engine.source import files


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def command(folder: Path) -> None:
    """Write a starter project into FOLDER: gateway.yaml, openapi/, schemas/.

    They are the files this program is shipped with, ready for `modelway check`. Nothing that is
    there already is overwritten.
    """
    try:
        _write(folder)
    except OSError as error:
        message = f"{error.filename or folder} cannot be written: {error.strerror}"
        raise click.ClickException(message) from error
    click.echo(
        f"Wrote {folder}: gateway.yaml, openapi/, schemas/\n\n"
        f"  cd {folder}\n"
        "  modelway token new alice     # a token for a caller; put the entry under tokens:\n"
        "  export OPENAI_API_KEY=...    # and of the other vendors you use; see upstreams:\n"
        "  modelway check\n"
        "  modelway serve"
    )


def _write(folder: Path) -> None:
    """Raises OSError, and ClickException for a folder that has such files."""
    names = ("gateway.yaml", "openapi", "schemas")
    there = [name for name in names if (folder / name).exists()]
    if there:
        raise click.ClickException(f"{folder / there[0]} exists already; nothing was written")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(files.CONFIG, folder / "gateway.yaml")
    for source, pattern in ((files.DOCUMENTS, "*.yaml"), (files.SCHEMA.parent, "*.json")):
        made = folder / source.name
        made.mkdir()
        for file in sorted(source.glob(pattern)):
            shutil.copyfile(file, made / file.name)
