"""`modelway init`: a starter project."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from engine.source import files


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
def command(folder: Path) -> None:
    """Write a starter project to FOLDER: gateway.yaml, openapi/, schemas/.

    These are the files shipped with this program, ready for `modelway check`. Existing files are
    never overwritten.
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
    """Raises OSError, and ClickException if the folder has such files."""
    names = ("gateway.yaml", "openapi", "schemas")
    existing = [name for name in names if (folder / name).exists()]
    if existing:
        raise click.ClickException(f"{folder / existing[0]} already exists; nothing was written")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(files.CONFIG, folder / "gateway.yaml")
    for source, pattern in ((files.DOCUMENTS, "*.yaml"), (files.SCHEMA.parent, "*.json")):
        target = folder / source.name
        target.mkdir()
        for file in sorted(source.glob(pattern)):
            shutil.copyfile(file, target / file.name)
