"""Where the tokens are: the database that gateway.yaml or --database names, opened with care."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from engine.cli.show import config_option
from engine.config.load import load
from engine.config.model import Config
from engine.source.files import is_file
from engine.source.problem import Findings, render
from engine.source.reader import SourceDocument
from engine.source.suggestion import did_you_mean
from engine.stores.records import tokens
from engine.stores.records.database import Database, file_of, open_database
from engine.stores.records.failures import RecordsError
from engine.stores.records.migrate import upgrade
from engine.stores.records.tokens import UnknownToken
from engine.values.caller import Caller


@dataclass(frozen=True, slots=True)
class Place:
    """The database's URL, the currency of budgets, and the tokens that gateway.yaml has itself;
    `journal` is the folder of the ledger's journal, where gateway.yaml says it."""

    url: str
    currency: str = "USD"
    configured: Mapping[str, Caller] = field(default_factory=dict)
    ttl: float = 10.0
    journal: Path | None = None


def place_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--config` and `--database`; the command gets them as `config` and `database`."""
    database = click.option(
        "--database",
        metavar="URL",
        envvar="MODELWAY_DATABASE",
        help="The database, in place of `stores.records` in the config, like "
        "sqlite:///var/modelway.db or postgresql+psycopg://user@host/name.",
    )
    return config_option(database(function))


def place_of(config: Path, database: str | None) -> Place:
    """Where the tokens are. Raises ClickException when nothing says so."""
    read = _read(config) if os.path.exists(config) or database is None else None
    if read is None:
        assert database is not None
        return Place(database)
    url = database or read.stores.records
    if url is None:
        raise click.ClickException(
            f"no database is configured: write `stores: {{records: sqlite:///var/modelway.db}}` in "
            f"{config}, or give --database. (`modelway token new` makes a token without one.)"
        )
    return Place(url, read.currency, read.tokens, read.stores.token_ttl, read.stores.journal)


@contextmanager
def records(place: Place, *, make: bool = False) -> Iterator[Database]:
    """The database, its tables up to date; `make` allows to begin a new file.

    Turns every RecordsError inside into one line for the terminal and exit status 1.
    """
    try:
        database = open_database(place.url)
        try:
            file = file_of(database)
            if not make and file is not None and not is_file(file):
                raise click.ClickException(
                    f"there is no database {file} yet: `modelway token create` makes it; "
                    "or is the path another one?"
                )
            upgrade(database)
            yield database
        except UnknownToken as error:
            raise click.ClickException(_unknown(error, database, place)) from error
        finally:
            database.close()
    except RecordsError as error:
        raise click.ClickException(str(error)) from error


def _unknown(error: UnknownToken, database: Database, place: Place) -> str:
    if error.name in {caller.name for caller in place.configured.values()}:
        return f"token '{error.name}' stands in gateway.yaml: change it there"
    hint = did_you_mean(error.name, tokens.names_near(database, error.name)) or "there are none yet"
    return f"{error}: {hint}"


def _read(config: Path) -> Config:
    """gateway.yaml without its documents; only what stops us here is an error here."""
    try:
        text = config.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"cannot read {config}: {why}; name it with --config, or give --database"
        raise click.ClickException(message) from error
    findings = Findings()
    read, marked = load(text, str(config), config.parent.resolve(), os.environ, findings)
    ours = _places(marked)
    stopping = [p for p in findings.errors if read is None or (p.line, p.column) in ours]
    if read is None or stopping:
        shown = "\n".join(render(problem, findings.texts) for problem in stopping)
        raise click.ClickException(f"{config} cannot be used:\n{shown}")
    return read


def _places(marked: SourceDocument) -> set[tuple[int, int]]:
    """Where what we need from the config stands."""
    said = marked.value if isinstance(marked.value, dict) else {}
    paths = [(key,) for key in ("stores", "currency") if key in said]
    stores = said.get("stores")
    below = [("stores", key) for key in stores] if isinstance(stores, dict) else []
    return {marked.place(path, key=key) for path in (*paths, *below) for key in (True, False)}
