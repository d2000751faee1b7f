"""A journal on a test's clock, and a table in memory."""

import pytest

from engine.stores.ledger.journal import Journal
from tests.support.clock import Clock
from tests.support.memory_table import MemoryTable


@pytest.fixture
def clock():
    return Clock(1e9)


@pytest.fixture
def journal(tmp_path, clock):
    return Journal(tmp_path / "journal", clock=clock)


@pytest.fixture
def table():
    return MemoryTable()
