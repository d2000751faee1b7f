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

from engine.server.master_state import Publication, State, read, read_all
from engine.server.worker_states import Phase, WorkerState

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
