"""Copies of files: made once, remembered for their owner, forgotten when they end."""

import gevent
import pytest

from engine.exchange.opened_ids import Holder
from engine.objects.file_copies import FileCopies
from engine.objects.sealed_ids import Identity, Sealer
from engine.stores.database.failures import DatabaseAway
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.response_rows import ResponseRows

SEALER = Sealer(["a key for tests " * 4], ["a", "b"])
FILE = Identity("file-1", Holder("a"), b"owner--1")
THERE = Holder("b")


class Copier:
    """Makes copies, which are numbered."""

    def __init__(self, seconds=100.0, pause=0.0):
        self.made, self._seconds, self._pause = 0, seconds, pause

    def __call__(self):
        self.made += 1
        gevent.sleep(self._pause)
        return f"file_{self.made}", self._seconds


def copies(store=None, now=0.0):
    return FileCopies(store, SEALER, 10.0, lambda: now)


@each("store", [None, ResponseRows()])
def test_a_file_is_copied_once_for_each_owner_and_place(store):
    known, copier = copies(store), Copier()
    for _ in range(2):
        assert known.copy(FILE, THERE, copier) == "file_1"
    others = [
        (FILE._replace(owner=b"owner--2"), THERE),
        (FILE._replace(vendor_id="file-2"), THERE),
        (FILE, Holder("b", 1)),
    ]
    assert [known.copy(*other, copier) for other in others] == ["file_2", "file_3", "file_4"]


def test_all_workers_share_a_copy():
    store, copier = ResponseRows(), Copier()
    assert [copies(store).copy(FILE, THERE, copier) for _ in range(3)] == ["file_1"] * 3
    ((_, data),) = store.rows.values()
    assert b"file_1" not in data


@each("store", [None, ResponseRows()])
def test_who_comes_while_a_file_is_copied_waits(store):
    copier, one, two = Copier(pause=0.01), copies(store), copies(store)
    known = [one, one, two] if store is not None else [one, one]
    runs = [gevent.spawn(each.copy, FILE, THERE, copier) for each in known]
    gevent.joinall(runs)
    assert {run.value for run in runs} == {"file_1"}


@each("store", [None, ResponseRows()])
def test_a_copy_that_failed_is_made_by_the_next(store):
    def fail():
        raise ValueError("no")

    known = copies(store)
    with pytest.raises(ValueError, match="no"):
        known.copy(FILE, THERE, fail)
    assert known.copy(FILE, THERE, Copier()) == "file_1"


def test_a_copy_ends_with_its_time_and_when_it_is_forgotten():
    store, copier = ResponseRows(), Copier(seconds=100.0)
    assert copies(store).copy(FILE, THERE, copier) == "file_1"
    assert copies(store, now=99.0).copy(FILE, THERE, copier) == "file_1"
    assert copies(store, now=101.0).copy(FILE, THERE, copier) == "file_2"
    known = copies(store, now=102.0)
    known.forget(FILE, THERE)
    assert known.copy(FILE, THERE, copier) == "file_3"


def test_without_the_records_nothing_is_copied():
    store, copier = ResponseRows(), Copier()
    store.error = DatabaseAway("away")
    with pytest.raises(GatewayError) as excinfo:
        copies(store).copy(FILE, THERE, copier)
    assert (excinfo.value.status, copier.made) == (503, 0)
    copies(store).forget(FILE, THERE)  # it is logged
