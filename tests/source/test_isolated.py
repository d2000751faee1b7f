"""Work done in another process, for the memory that it needs."""

from __future__ import annotations

import os
import posix
import signal
import threading
from pathlib import Path

import pytest

from engine.source import reader
from engine.source.isolated import release_memory, run_in_child
from engine.source.reader import read

LARGE = 40_000_000


@pytest.fixture(autouse=True)
def own_threads_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the threads that a test starts, not those of fixtures that live for the whole session:
    the end-to-end tests' browser and recorder keep some, and with threads no child is made."""
    others = frozenset(threading.enumerate()) - {threading.current_thread()}

    def count() -> int:
        return len(frozenset(threading.enumerate()) - others)

    monkeypatch.setattr("engine.source.isolated.threading.active_count", count)


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


def test_the_value_comes_from_another_process() -> None:
    assert run_in_child(lambda *said: (os.getpid(), *said), "a", 1)[1:] == ("a", 1)
    assert run_in_child(os.getpid) != os.getpid()


def test_an_exception_is_raised_here() -> None:
    with pytest.raises(ZeroDivisionError):
        run_in_child(divmod, 1, 0)


def test_what_cannot_be_pickled_is_made_here() -> None:
    made = run_in_child(lambda: lambda: os.getpid())  # noqa: PLW0108 - a lambda is what cannot be pickled
    assert made() == os.getpid()


def test_a_child_that_dies_costs_nothing() -> None:
    ours = os.getpid()
    assert run_in_child(lambda: os.getpid() if os.getpid() == ours else os._exit(3)) == ours


def test_where_children_are_not_waited_for_it_is_done_here() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert run_in_child(os.getpid) == os.getpid()
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_with_threads_it_is_done_here() -> None:
    ending = threading.Event()
    other = threading.Thread(target=ending.wait)
    other.start()
    try:
        assert run_in_child(os.getpid) == os.getpid()
    finally:
        ending.set()
        other.join()


def test_without_another_process_it_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(posix, "fork", refuse)
    assert run_in_child(os.getpid) == os.getpid()
    assert len(os.listdir("/proc/self/fd")) == before


def children() -> str:
    """The processes of this thread, also those that have ended and were not waited for."""
    return Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text()


def test_no_child_and_no_pipe_is_left() -> None:
    before = len(os.listdir("/proc/self/fd")), children()
    run_in_child(os.getpid)
    assert (len(os.listdir("/proc/self/fd")), children()) == before


def test_the_memory_goes_with_it() -> None:
    before = resident()
    assert run_in_child(lambda: len([str(n) for n in range(LARGE // 60)])) == LARGE // 60
    release_memory()
    assert resident() - before < LARGE // 4


@pytest.mark.parametrize(
    "text",
    [
        "a: &x {b: [1, 2.5, yes, null, 'é\\u2028']}\nc: *x\n",
        "a: 1\na: 2\n",
        "a: !!set {b}\n",
        "a: [1,\n  b: {\n",
        "a: \x01\n",
        "",
        "a: " + "[" * 300 + "]" * 300,
    ],
)
def test_a_large_text_is_read_as_a_small_one(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = read(text, "f")
    monkeypatch.setattr(reader, "_LARGE", 0)
    there = read(text, "f")
    assert (there.value, there.problems) == (here.value, here.problems)
    for path in [] if here.value is None else [(), ("a",), ("a", "b", 1), ("c", "b"), ("d",)]:
        for key in (True, False):
            assert there.place(path, key=key) == here.place(path, key=key)


def test_places_of_large_json_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_LARGE", 0)
    assert read('{"a": 1,\n "b": [2]}', "f").place(("b", 0)) == (2, 8)
    assert read('{"a": "\\ud800",\n "b": [2]}', "f").place(("b", 0)) == (2, 8)
