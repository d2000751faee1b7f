"""The states of the masters of one config, in its runtime directory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.server.master_state import (
    Phase,
    Publication,
    State,
    WorkerState,
    WorkerStates,
    read,
    read_all,
)
from tests.support.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(100.0)


@pytest.fixture
def states(clock: Clock) -> WorkerStates:
    """Two workers that serve: 1 and 2."""
    result = WorkerStates(clock)
    for pid in (1, 2):
        result.start(pid, "old")
    result.serve([1, 2])
    return result


def phases(states: WorkerStates) -> dict[int, tuple[str, str, float, str]]:
    return {s.pid: (s.config, str(s.phase), s.since, s.error) for s in states.all()}


def test_a_worker_starts_and_then_serves(states: WorkerStates, clock: Clock) -> None:
    clock.now = 105
    states.start(3, "new")
    assert phases(states)[3] == ("new", "starts", 105, "")
    clock.now = 106
    states.serve([1, 2, 3])
    clock.now = 107
    states.serve([1, 2, 3])
    assert phases(states)[3] == ("new", "serves", 106, "")
    assert phases(states)[1] == ("old", "serves", 100, "")


def test_a_heavy_worker_is_one_for_its_whole_life(states: WorkerStates) -> None:
    states.start(3, "new", is_heavy=True)
    states.serve([3])
    states.end(3)
    assert [state.is_heavy for state in states.all()] == [False, False, True]


def test_an_ended_worker_is_forgotten(states: WorkerStates, clock: Clock) -> None:
    clock.now = 105
    states.end(1)
    clock.now = 106
    states.end(1)  # the master repeats it
    states.keep({1, 2}, {})
    assert phases(states)[1] == ("old", "ends", 105, "")
    states.keep({2}, {})
    assert list(phases(states)) == [2]


def test_a_worker_that_fails_is_remembered_with_its_error(states: WorkerStates) -> None:
    states.start(3, "new")
    states.end(3)  # the reload failed
    states.keep({1, 2}, {3: "the database is gone"})
    assert phases(states)[3] == ("new", "failed", 100, "the database is gone")
    states.forget_failures()
    assert list(phases(states)) == [1, 2]


def test_a_worker_that_died_without_a_word_failed(states: WorkerStates) -> None:
    states.keep({2}, {})
    assert phases(states)[1] == ("old", "failed", 100, "it died")


def test_the_last_failures_are_remembered(states: WorkerStates) -> None:
    for pid in range(3, 30):
        states.start(pid, "old")
        states.keep({1, 2}, {})
    assert list(phases(states)) == [1, 2, *range(22, 30)]


WORKERS = (
    WorkerState(7, "a", Phase.SERVES, 1.0),
    WorkerState(8, "b", Phase.FAILED, 2.0, "no journal"),
)

_OTHER = """
import os, sys
from pathlib import Path
from engine.server.master_state import Publication, State
publication = Publication(Path(sys.argv[1]))
publication.publish(State(os.getpid(), "other", 1.0, 1.0))
print("published", flush=True)
sys.stdin.read()
"""


@contextmanager
def other_master(folder: Path) -> Iterator[int]:
    """Another process that publishes, by its id."""
    with subprocess.Popen(
        [sys.executable, "-c", _OTHER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"published\n"
        yield process.pid
        process.kill()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


def test_what_was_removed_is_published_again_with_one_lock(folder: Path) -> None:
    publication, state = Publication(folder), State(os.getpid(), "a", 1.0, 2.0)
    publication.publish(state)
    count = len(os.listdir("/proc/self/fd"))
    for _ in range(2):
        shutil.rmtree(folder)
        assert publication.is_removed
        publication.publish(state)
        assert (read(folder), publication.is_removed) == (state, False)
    assert len(os.listdir("/proc/self/fd")) == count


def test_a_published_state_is_read_back(folder: Path) -> None:
    assert read(folder) is None
    publication = Publication(folder)
    state = State(os.getpid(), "a", 1.0, 2.0, "an error", WORKERS)
    publication.publish(state)
    assert read(folder) == state
    publication.publish(replace(state, error=""))
    assert read(folder) == replace(state, error="")


def test_two_masters_are_read_in_the_order_of_their_start(folder: Path) -> None:
    with other_master(folder) as pid:
        publication = Publication(folder)
        publication.publish(State(os.getpid(), "own", 1.0, 1.0))
        assert [state.pid for state in read_all(folder)] == [pid, os.getpid()]
        last = read(folder)
        assert last is not None
        assert last.hash == "own"


def test_a_master_that_died_is_not_read_and_its_files_are_removed(folder: Path) -> None:
    with other_master(folder) as pid:
        pass
    assert read(folder) is None
    publication = Publication(folder)
    publication.publish(State(os.getpid(), "own", 1.0, 1.0))
    assert not [path for path in folder.iterdir() if str(pid) in path.name]
    assert read(folder) is not None


def test_a_state_of_another_version_is_no_state(folder: Path) -> None:
    publication = Publication(folder)
    publication.publish(State(os.getpid(), "own", 1.0, 1.0))
    (file,) = folder.glob("*.json")
    file.write_text(json.dumps({"pid": os.getpid(), "more": 1}))
    assert read(folder) is None


def test_a_master_stops_when_all_of_its_workers_end() -> None:
    state = State(1, "a", 1.0, 1.0)
    ending = replace(WORKERS[0], phase=Phase.ENDS)
    assert not state.stops
    assert not replace(state, workers=(WORKERS[0], ending)).stops
    assert replace(state, workers=(ending, ending)).stops
