"""A small ledger that commands export."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from engine import cli
from engine.stores.database.migrate import upgrade
from engine.stores.database.open_database import open_database
from engine.stores.database.usage import UsageTable
from engine.stores.ledger_entry import Entry

START = 1_801_440_000.0  # 2027-02-01
OPTIONS = ("--since", "2027-02-01", "--until", "2027-02-02")
ROWS = [
    Entry("b", START, "ann", "chat", team="lab", status=200, cost=1_500_000_001, margin=-1,
          currency="USD", input=5, stream=True, tags='{"a":"x"}', first_byte=0.5),
    Entry("a", START, "ann", "chat", status=200, cost=2**62, currency="USD"),
    Entry("c", START + 0.25, "=cmd()", status=429, outcome="refused"),
    Entry("late", START + 3 * 86_400, "ann", cost=1),
]  # fmt: skip


def run(*args: str) -> Result:
    """`modelway usage` for two days of the ledger."""
    return CliRunner().invoke(cli.main, ("usage", *args, *OPTIONS))


def write_ledger(folder: Path) -> None:
    """A config and its ledger."""
    (folder / "gateway.yaml").write_text("version: 1\nstores: {records: 'sqlite:///u.db'}\n")
    database = open_database(f"sqlite:///{folder}/u.db")
    upgrade(database)
    UsageTable(database).insert(ROWS)
    database.close()
