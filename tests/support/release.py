"""The SQL statements of the last release (0.1.0, tables of r0003)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from alembic import command
from alembic.config import Config
from sqlalchemy import text

from engine.stores.database import migrate
from engine.stores.database.database import Database
from engine.stores.ledger_entry import Entry

REVISION = "r0003"
_COLUMNS = (
    "id, time, token, operation, model_asked, model_served, upstream, status, outcome, input, "
    "output, cached, reasoning, images, seconds, characters, source, cost, currency, first_byte, "
    "duration, bytes_in, bytes_out, stream, attempts, cache_write, cache_write_1h, audio_input, "
    "cached_audio, audio_output, image_input, cached_image, image_output, price"
)
_NAMES = _COLUMNS.split(", ")
_INSERT_SQLITE = (
    f"INSERT INTO usage ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))}) "
    "ON CONFLICT (id) DO NOTHING"
)
_INSERT_POSTGRESQL = (
    f"INSERT INTO usage ({_COLUMNS}) SELECT {_COLUMNS} FROM json_to_recordset(%s::json) AS "
    "row(id text, time float8, token text, operation text, model_asked text, model_served text, "
    "upstream text, status int4, outcome text, input int8, output int8, cached int8, reasoning "
    "int8, images int8, seconds float8, characters int8, source text, cost int8, currency text, "
    "first_byte float8, duration float8, bytes_in int8, bytes_out int8, stream bool, attempts "
    "int4, cache_write int8, cache_write_1h int8, audio_input int8, cached_audio int8, "
    "audio_output int8, image_input int8, cached_image int8, image_output int8, price text) "
    "ON CONFLICT (id) DO NOTHING"
)
_DELETE = (
    "DELETE FROM usage WHERE id IN "
    "(SELECT id FROM usage WHERE time < :before ORDER BY time LIMIT :limit)"
)
_TOTALS = (
    "SELECT usage.token, count(*), sum(usage.input) FROM usage "
    "WHERE usage.time >= 0 AND usage.time < 1000000000000.0 GROUP BY usage.token, usage.currency"
)
_ADD_TOKEN = (
    "INSERT INTO tokens (name, sha256, created, models, operations, ips, rate, token_budget, "
    "budget, concurrency, expires, revoked, previous_sha256, previous_until, note, team) VALUES "
    "(:name, :sha256, 1.5, NULL, NULL, NULL, '60/1m', NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
    "'', 'shop')"
)
_FIND_TOKEN = "SELECT tokens.name, tokens.rate, tokens.team FROM tokens WHERE sha256 = :sha256"


class Release:
    """The last release on a database."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def create_tables(self) -> None:
        """Create the tables of the release."""
        at_revision(self.database, REVISION)

    def can_start(self) -> bool:
        """Whether the tables have its version. It refuses to start on an unknown version, and would
        migrate an older one."""
        query = "SELECT version_num FROM alembic_version"
        version = self.database.read(lambda c: c.exec_driver_sql(query).scalar())
        return version == REVISION

    def insert(self, entries: Sequence[Entry]) -> int:
        """Ship rows; how many were new."""
        rows = [{name: getattr(entry, name) for name in _NAMES} for entry in entries]

        def insert(connection: Any) -> int:
            if self.database.kind == "sqlite":
                values = [tuple(row.values()) for row in rows]
                return sum(
                    connection.exec_driver_sql(_INSERT_SQLITE, row).rowcount for row in values
                )
            parameters = (orjson.dumps(rows).decode(),)
            return int(connection.exec_driver_sql(_INSERT_POSTGRESQL, parameters).rowcount)

        return self.database.write(insert)

    def delete_before(self, before: float, limit: int) -> int:
        """Delete rows as its retention does; the number of rows."""
        values = {"before": before, "limit": limit}
        return self.database.write(lambda c: c.execute(text(_DELETE), values).rowcount)

    def requests_by_token(self) -> dict[str, int]:
        """The requests by token, as its `usage` shows them."""
        rows = self.database.read(lambda c: c.execute(text(_TOTALS)).all())
        counts: dict[str, int] = {}
        for token, requests, _ in rows:
            counts[token] = counts.get(token, 0) + int(requests)
        return counts

    def add_token(self, name: str, sha256: str) -> None:
        """Create a token."""
        values = {"name": name, "sha256": sha256}
        self.database.write(lambda c: c.execute(text(_ADD_TOKEN), values))

    def find_token(self, sha256: str) -> tuple[Any, ...] | None:
        """Look a token up: name, rate, team."""
        query, values = text(_FIND_TOKEN), {"sha256": sha256}
        row = self.database.read(lambda c: c.execute(query, values).first())
        return None if row is None else tuple(row)


def at_revision(database: Database, revision: str) -> None:
    """Bring tables to an older version, as the program of that time did."""
    if database.file is not None:
        database.file.touch()

    def step(connection: Any) -> None:
        command.upgrade(_config(connection), revision)
        connection.exec_driver_sql("ALTER TABLE schema_version RENAME TO alembic_version")

    database.write(step)


def downgrade(database: Database, revision: str) -> None:
    """Take the newest steps back, as an operator does before an older program is started."""
    database.write(lambda connection: command.downgrade(_config(connection), revision))


def _config(connection: Any) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrate.FOLDER))
    config.attributes["connection"] = connection
    return config
