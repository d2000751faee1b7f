"""Settings and fixtures of all tests."""

import gc
import os
import shutil

import pytest
from hypothesis import is_hypothesis_test, settings

from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from tests.support.leaks import Leaks
from tests.support.postgres import running
from tests.support.thorough import examples

# No deadlines: on a shared machine the time of an example depends on the load. In CI the examples
# are the same in each run, so that a failure belongs to the change; elsewhere they are random.
settings.register_profile(
    "shared", deadline=None, derandomize="CI" in os.environ, max_examples=examples(20)
)
settings.load_profile("shared")

_THRESHOLDS = 100_000, 50, 100
"""Rarer collections than Python's, which take a sixth of the time of tests that compute."""


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "keeps(why): may leave resources that a fixture of a wider scope ends"
    )
    config.pluginmanager.register(Leaks())


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Tests and what they import live until the end: the garbage collector looks at them neither
    while they are made, which is a quarter of the time, nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.set_threshold(*_THRESHOLDS)
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items):
    """Exclude tests with random examples from coverage: tracing them takes longer than the test."""
    for item in items:
        if is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(scope="session")
def postgres():
    """A real PostgreSQL, one for all tests of a process."""
    with running() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def records_url(request, tmp_path):
    """The URL of a database without tables, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/records.db"
    return request.getfixturevalue("postgres").emptied()


@pytest.fixture(scope="session")
def sqlite_tables(tmp_path_factory):
    """A file of SQLite with all tables."""
    file = tmp_path_factory.mktemp("tables") / "records.db"
    _make_tables(f"sqlite:///{file}").close()
    return file


@pytest.fixture(scope="session")
def postgres_tables(postgres):
    """The statements that make all tables in a database of PostgreSQL, "" without pg_dump."""
    url = postgres.fresh()
    _make_tables(url).close()
    return postgres.dump(url.rpartition("/")[2])


@pytest.fixture
def records(records_url, request):
    """An open database with its tables, of each kind. To copy them costs a hundredth of the
    migrations in SQLite, and a third in PostgreSQL."""
    kind, _, place = records_url.partition(":///")
    if kind == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_tables"), place)
    elif statements := request.getfixturevalue("postgres_tables"):
        request.getfixturevalue("postgres").run(statements)
    patient = "?options=-c%20statement_timeout%3D60000"  # beside what else the machine does
    database = _make_tables(records_url + (patient if "postgresql" in records_url else ""))
    yield database
    database.close()


def _make_tables(url):
    """Open a database, and make the tables that it lacks."""
    database = open_database(url)
    upgrade(database)
    return database
