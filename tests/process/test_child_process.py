"""Functions that run in a child process: their results, and children that hang, die or fail."""

from __future__ import annotations

import os
import posix
import signal
import threading
from pathlib import Path

import pytest

from engine.process.child_process import MEMORY, ChildFailed, run, run_in_child
from engine.process.gc_pause import release_memory
from tests.support.waiting import until

LARGE = 40_000_000


@pytest.fixture(autouse=True)
def own_threads_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count the threads that a test starts, not those of fixtures that live for the whole session:
    the end-to-end tests' browser and recorder keep some, and with threads no child is made."""
    others = frozenset(threading.enumerate()) - {threading.current_thread()}

    def count() -> int:
        return len(frozenset(threading.enumerate()) - others)

    monkeypatch.setattr("engine.process.child_process.threading.active_count", count)


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


def test_the_value_comes_from_another_process() -> None:
    assert run_in_child(lambda *arguments: (os.getpid(), *arguments), "a", 1)[1:] == ("a", 1)
    assert run_in_child(os.getpid) != os.getpid()


def test_an_exception_is_raised_here() -> None:
    with pytest.raises(ZeroDivisionError):
        run_in_child(divmod, 1, 0)


def test_a_result_is_written_in_as_many_parts_as_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    write = posix.write
    monkeypatch.setattr(posix, "write", lambda file, data: write(file, bytes(data[:7])))
    assert run_in_child(os.getpid) != os.getpid()


def test_a_result_that_cannot_be_pickled_is_computed_here() -> None:
    function = run_in_child(lambda: lambda: os.getpid())  # noqa: PLW0108 - it cannot be pickled
    assert function() == os.getpid()


def test_a_child_that_dies_costs_nothing() -> None:
    own_pid = os.getpid()
    assert run_in_child(lambda: os.getpid() if os.getpid() == own_pid else os._exit(3)) == own_pid


def test_a_result_counts_where_the_exit_status_is_unknown() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert run_in_child(os.getpid) != os.getpid()
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


def hang() -> None:
    threading.Event().wait()


def test_the_result_comes_back() -> None:
    assert run(lambda: {"pid": os.getpid()}, seconds=5)["pid"] != os.getpid()


def test_this_process_does_something_meanwhile() -> None:
    here, there = os.pipe()
    result = run(
        lambda: os.read(here, 9), seconds=10, meanwhile=lambda: void(os.write(there, b"it"))
    )
    assert result == b"it"
    os.close(here)
    os.close(there)


def void(_: object) -> None:
    """No result."""


def test_a_child_ends_if_what_happens_meanwhile_fails(tmp_path: Path) -> None:
    def hang() -> None:
        (tmp_path / "pid").write_text(str(os.getpid()))
        threading.Event().wait()

    def fail() -> None:
        until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(hang, seconds=60, meanwhile=fail)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_large_result_is_complete() -> None:
    assert run(lambda: "x" * 3_000_000, seconds=20) == "x" * 3_000_000


def test_changes_by_the_child_are_not_seen_here() -> None:
    changed: list[int] = []
    run(lambda: changed.append(1), seconds=5)
    assert changed == []


def test_an_exception_is_one_line_with_its_place() -> None:
    def fails() -> None:
        raise KeyError("two\nlines")

    with pytest.raises(ChildFailed, match=r"failed: KeyError: .* \(test_child_process.py:\d+\)$"):
        run(fails, seconds=5)


def test_a_child_that_hangs_is_ended_in_time(tmp_path: Path) -> None:
    def write_and_hang() -> None:
        (tmp_path / "pid").write_text(str(os.getpid()))
        hang()

    with pytest.raises(ChildFailed, match=r"did not end within 1 s"):
        run(write_and_hang, seconds=1)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_killed_child_fails_with_its_signal() -> None:
    with pytest.raises(ChildFailed, match="was killed by SIGKILL"):
        run(lambda: os.kill(os.getpid(), signal.SIGKILL), seconds=5)


def test_a_child_that_exits_without_a_result_fails() -> None:
    with pytest.raises(ChildFailed, match="ended without a result"):
        run(lambda: os._exit(0), seconds=5)


def test_memory_is_bounded() -> None:
    with pytest.raises(ChildFailed, match="more memory than it may have"):
        run(lambda: bytearray(MEMORY), seconds=20)


def test_a_child_has_no_signal_handlers_of_its_parent() -> None:
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with pytest.raises(ChildFailed, match="was killed by SIGTERM"):
            run(lambda: os.kill(os.getpid(), signal.SIGTERM), seconds=5)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_child_ends_soon_after_stop(tmp_path: Path) -> None:
    def write_and_hang() -> None:
        draft = tmp_path / "draft"
        draft.write_text(str(os.getpid()))
        draft.replace(tmp_path / "pid")
        hang()

    with pytest.raises(ChildFailed, match="was cancelled"):
        run(write_and_hang, seconds=600, stop=(tmp_path / "pid").exists)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
