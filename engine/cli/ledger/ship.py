"""`modelway ledger ship`: ship the rows of an abandoned journal to the database."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from engine.cli.database import database_at, database_options, location_of
from engine.cli.output import format_option
from engine.config.config_files import ConfigFiles
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal_folder import FolderInUse, ShippedFolder, ship_folder
from engine.stores.ledger.journal_segments import files
from engine.stores.ledger.writer import LedgerWriter
from engine.values.units import format_count

_TIMEOUT = 60.0


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@format_option()
@database_options
def command(
    config: ConfigFiles, database_url: str | None, folder: Path, output_format: str
) -> None:
    """Ship the rows of an abandoned journal to the database.

    FOLDER is the `stores.journal` of a gateway that no longer runs, or a copy of it, such as of a
    lost machine or a removed container. A row that is shipped several times counts once. Files are
    removed once all their rows are in the database.
    """
    if not files(folder):
        click.echo(f"no rows in {folder}: it has no files that end in .rows", err=True)
        if output_format == "json":
            click.echo(_json(ShippedFolder()))
        return
    location = location_of(config, database_url)
    with database_at(location) as database:
        writer = LedgerWriter(UsageTable(database), folder / "refused.jsonl", _TIMEOUT)
        try:
            shipped = ship_folder(folder, writer)
        except FolderInUse as error:
            raise click.ClickException(
                f"{folder} is in use: a running process locks {error} and ships it itself; stop "
                "it first, or name the folder of a gateway that does not run"
            ) from error
        except OSError as error:
            raise click.ClickException(
                f"cannot ship {error.filename or folder}: {error.strerror}; this user needs write "
                "permission there, or name a copy of the folder"
            ) from error
        text = _summary(shipped, folder, database.display_url)
        click.echo(_json(shipped) if output_format == "json" else text)


def _json(shipped: ShippedFolder) -> str:
    return json.dumps(asdict(shipped))


def _summary(shipped: ShippedFolder, folder: Path, database: str) -> str:
    lines = [f"{format_count(shipped.new, 'row')} shipped to {database} from {folder}"]
    if shipped.duplicates:
        lines.append(f"{format_count(shipped.duplicates, 'row')} already in the database")
    if shipped.refusals:
        file = folder / "refused.jsonl"
        lines.append(
            f"{format_count(shipped.refusals, 'row')} refused by the database, written to {file}"
        )
    if shipped.torn:
        lines.append(
            f"{format_count(shipped.torn, 'incomplete line')} skipped (after a power failure)"
        )
    return "\n".join(lines)
