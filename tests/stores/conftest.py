"""Databases for the tests of what is kept in them: SQLite and PostgreSQL alike."""

from collections.abc import Iterator

import pytest

from engine.stores.records.database import Database, open_database
from engine.stores.records.migrate import upgrade
from tests.support.postgres import Postgres, running


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    with running() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """An empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('records')}/modelway.db"
    server: Postgres = request.getfixturevalue("server")
    return server.fresh()


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    database = open_database(url)
    upgrade(database)
    yield database
    database.close()
