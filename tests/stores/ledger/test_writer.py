"""Entries are written, those at fault are found one by one, and a query has its time limit."""

import json

import gevent
import pytest

from engine.stores.database.failures import DatabaseAway
from engine.stores.ledger.writer import LedgerWriter, hourly, in_thread
from engine.stores.ledger_entry import Entry

ENTRIES = [Entry(id=f"req_{number}", time=1.0) for number in range(25)]


@pytest.fixture
def writer(table, tmp_path):
    return LedgerWriter(table, tmp_path / "refused.jsonl", timeout=20)


def test_it_returns_how_many_entries_were_new(writer, table):
    assert writer.write(ENTRIES[:3]) == 3
    assert writer.write(ENTRIES[:5]) == 2
    assert len(table.rows) == 5


def test_an_entry_that_is_refused_does_not_hold_up_the_others(writer, table, tmp_path):
    table.refused_ids = ("req_3", "req_17")
    assert writer.write(ENTRIES) == 23
    assert len(table.rows) == 23
    assert writer.refusals == 2
    lines = (tmp_path / "refused.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["req_3", "req_17"]


def test_a_database_that_takes_too_long_is_away(table, tmp_path):
    writer = LedgerWriter(table, tmp_path / "refused.jsonl", timeout=0.05)
    table.insert = lambda rows: gevent.sleep(600)
    with pytest.raises(DatabaseAway, match=r"memory does not answer in 0\.05 s"):
        writer.write(ENTRIES)


def test_the_timeout_of_a_caller_is_not_that_of_the_database(writer):
    with pytest.raises(gevent.Timeout), gevent.Timeout(0.01):
        writer.query(lambda: gevent.sleep(600))


def test_a_query_that_blocks_runs_in_a_thread(writer, table):
    table.blocks = True
    hub = gevent.get_hub()
    assert writer.query(gevent.get_hub) is not hub


def test_what_a_thread_raises_is_raised_here(capsys):
    with pytest.raises(ZeroDivisionError):
        in_thread(lambda: 1 // 0)
    assert capsys.readouterr().err == ""


def is_due(file, now):
    with hourly(file, now) as due:
        return due


def test_it_is_due_once_an_hour(tmp_path):
    file = tmp_path / "lock"
    assert [is_due(file, t) for t in (1e9, 1e9 + 3599, 1e9 + 3600, 1e9 + 3601)] == [
        *(True, False),
        *(True, False),
    ]


def test_a_clock_set_back_does_not_delay_the_task(tmp_path):
    file = tmp_path / "lock"
    assert is_due(file, 2e9)
    assert is_due(file, 1e9)


def test_only_one_process_runs_the_task(tmp_path):
    file = tmp_path / "lock"
    with hourly(file, 1e9) as own_turn:
        assert own_turn
        assert not is_due(file, 1e9)


def test_a_task_that_failed_is_due_again(tmp_path):
    file = tmp_path / "lock"
    with pytest.raises(ValueError, match="away"), hourly(file, 1e9):
        raise ValueError("away")
    assert is_due(file, 1e9)
