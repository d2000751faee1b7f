"""`modelway ledger ship`: a journal that was left behind is brought into the database."""

from __future__ import annotations

from pathlib import Path

import click

from engine.cli.token.database import place_of, place_options, records
from engine.stores.ledger.journal import files
from engine.stores.ledger.journal_folder import FolderInUse, ShippedFolder, ship_folder
from engine.stores.ledger.writer import LedgerWriter
from engine.stores.records.usage import UsageTable

_TIMEOUT = 60.0


@click.command("ship")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@place_options
def command(config: Path, database: str | None, folder: Path) -> None:
    """Bring the rows of a journal that was left behind into the database.

    FOLDER is the `stores.journal` of a gateway that does not run any more, or a copy of it: of a
    machine that was lost, or a container that was removed. Each row counts once, however often it
    is brought in. Files are removed once all their rows are in the database.
    """
    if not list(files(folder)):
        click.echo(f"no rows in {folder}: it has no files that end in .rows", err=True)
        return
    place = place_of(config, database)
    with records(place) as opened:
        writer = LedgerWriter(UsageTable(opened), folder / "refused.jsonl", _TIMEOUT)
        try:
            shipped = ship_folder(folder, writer)
        except FolderInUse as error:
            raise click.ClickException(
                f"{folder} is in use: a running process holds {error}, and ships it itself; stop "
                "it first, or name the folder of a gateway that does not run"
            ) from error
        except OSError as error:
            raise click.ClickException(
                f"cannot bring in {error.filename or folder}: {error.strerror}; this user has to "
                "be able to write there, or name a copy of the folder"
            ) from error
        click.echo(_summary(shipped, folder, opened.shown))


def _summary(shipped: ShippedFolder, folder: Path, database: str) -> str:
    lines = [f"{_rows(shipped.new)} brought into {database} from {folder}"]
    if shipped.known:
        lines.append(f"{_rows(shipped.known)} had been there already")
    if shipped.refused:
        aside = folder / "refused.jsonl"
        lines.append(f"{_rows(shipped.refused)} refused by the database, kept in {aside}")
    if shipped.torn:
        lines.append(f"{shipped.torn:,} torn lines skipped (a power cut leaves half a line)")
    return "\n".join(lines)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"
