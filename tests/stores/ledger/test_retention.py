"""Once an hour, by one process."""

import pytest

from engine.stores.ledger.retention import hourly


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
