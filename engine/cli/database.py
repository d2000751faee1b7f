"""The database of tokens and usage that a command opens: its option, its location, its errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from msgspec import Struct, field

from engine.cli.config_file import config_option, read_config
from engine.config.config import Config
from engine.config.config_files import ConfigFiles
from engine.source.files import is_file
from engine.source.problem import Findings, render
from engine.source.reader import SourceDocument
from engine.source.suggestion import did_you_mean
from engine.stores.database import tokens
from engine.stores.database.database import Database
from engine.stores.database.failures import DatabaseError
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.tokens import UnknownToken
from engine.values.caller import Caller


class DatabaseLocation(Struct, frozen=True):
    """The URL of the database, and the settings of gateway.yaml that the commands need: the
    currency of budgets, the tokens in it, the seconds for which workers cache tokens, the folder
    of the journal, what the names of other issuers' callers begin with, and the names of `tags`;
    None without a config."""

    url: str
    currency: str = "USD"
    configured: Mapping[str, Caller] = field(default_factory=dict)
    ttl: float = 10.0
    journal: Path | None = None
    prefixes: tuple[str, ...] = ()
    tags: tuple[str, ...] | None = None

    def name_problem(self, name: str) -> str:
        """Why a token cannot have a name, "" if it can: names are unique among the tokens of the
        database, of gateway.yaml, and the callers of other issuers."""
        if any(caller.name == name for caller in self.configured.values()):
            return f"token '{name}' is already in gateway.yaml"
        prefix = next((each for each in self.prefixes if name.startswith(each)), None)
        if prefix is not None:
            return f"names that begin with '{prefix}' are those of an issuer in `callers.jwt`"
        return ""


def database_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options `--config` and `--database`, passed as `config` and
    `database_url`."""
    option = click.option(
        "--database",
        "database_url",
        metavar="URL",
        envvar="MODELWAY_DATABASE",
        help="The database, in place of `stores.records` in the config, like "
        "sqlite:///var/modelway.db or postgresql+psycopg://user@host/name.",
    )
    return config_option(option(function))


def location_of(config: ConfigFiles, database_url: str | None) -> DatabaseLocation:
    """The location of the database. Raises ClickException if neither the config nor --database
    names one."""
    settings = _read(config) if os.path.exists(config.main) or database_url is None else None
    if settings is None:
        assert database_url is not None
        return DatabaseLocation(database_url)
    stores = settings.stores
    url = database_url or stores.records
    if url is None:
        raise click.ClickException(
            f"no database is configured: write `stores: {{records: sqlite:///var/modelway.db}}` in "
            f"{config}, or use --database. (`modelway token new` needs none.)"
        )
    prefixes = tuple(issuer.rights.name for issuer in settings.jwt)
    return DatabaseLocation(
        url,
        settings.currency,
        settings.tokens,
        stores.token_ttl,
        stores.journal,
        prefixes,
        tuple(tag.name for tag in settings.tags),
    )


@contextmanager
def database_at(location: DatabaseLocation, *, create: bool = False) -> Iterator[Database]:
    """The database, with its tables up to date; `create` allows a new file.

    Every DatabaseError inside becomes one line on the terminal and exit status 1.
    """
    try:
        database = open_database(location.url)
        try:
            file = database.file
            if not create and file is not None and not is_file(file):
                raise click.ClickException(
                    f"there is no database {file}: create it with `modelway token create`, "
                    "or correct the path"
                )
            upgrade(database)
            yield database
        except UnknownToken as error:
            raise click.ClickException(_unknown_token(error, database, location)) from error
        finally:
            database.close()
    except DatabaseError as error:
        raise click.ClickException(str(error)) from error


def _unknown_token(error: UnknownToken, database: Database, location: DatabaseLocation) -> str:
    if error.name in {caller.name for caller in location.configured.values()}:
        return f"token '{error.name}' is in gateway.yaml: change it there"
    hint = did_you_mean(error.name, tokens.names_near(database, error.name))
    return f"{error}: {hint or 'the database has no tokens yet'}"


def _read(config: ConfigFiles) -> Config:
    """gateway.yaml without its documents; errors outside the sections that are needed here are
    ignored."""
    findings = Findings()
    settings = read_config(config, "name it with --config, or use --database", findings)
    places = set() if settings is None else _places(settings.source)
    errors = [p for p in findings.errors if settings is None or (p.line, p.column) in places]
    if settings is None or errors:
        rendered = "\n".join(render(problem, findings.texts) for problem in errors)
        raise click.ClickException(f"{config} cannot be used:\n{rendered}")
    return settings


def _places(document: SourceDocument) -> set[tuple[int, int]]:
    """The places of the settings that the commands need: `stores` and `currency`."""
    sections = document.value if isinstance(document.value, dict) else {}
    paths = [(key,) for key in ("stores", "currency") if key in sections]
    stores = sections.get("stores")
    children = [("stores", key) for key in stores] if isinstance(stores, dict) else []
    return {document.place(path, key=key) for path in (*paths, *children) for key in (True, False)}
