"""Work in a child process: what it returns, and what becomes of one that hangs or dies."""

import os
import signal
import threading

import pytest

from engine.server.child_process import MEMORY, ChildFailed, run


def hang():
    threading.Event().wait()


def test_what_the_function_returns_comes_back():
    assert run(lambda: {"pid": os.getpid()}, seconds=5)["pid"] != os.getpid()


def test_a_large_value_comes_back_whole():
    assert run(lambda: "x" * 3_000_000, seconds=20) == "x" * 3_000_000


def test_nothing_that_it_changes_is_seen_here():
    changed = []
    run(lambda: changed.append(1), seconds=5)
    assert changed == []


def test_an_exception_is_told_in_a_line_with_its_place():
    def fails():
        raise KeyError("two\nlines")

    with pytest.raises(ChildFailed, match=r"failed: KeyError: .* \(test_child_process.py:\d+\)$"):
        run(fails, seconds=5)


def test_one_that_hangs_is_ended_in_time(tmp_path):
    def write_and_hang():
        (tmp_path / "pid").write_text(str(os.getpid()))
        hang()

    with pytest.raises(ChildFailed, match=r"did not end within 1 s"):
        run(write_and_hang, seconds=1)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_one_that_is_killed_is_told_by_its_signal():
    with pytest.raises(ChildFailed, match="was ended by SIGKILL"):
        run(lambda: os.kill(os.getpid(), signal.SIGKILL), seconds=5)


def test_one_that_exits_without_a_word_is_told():
    with pytest.raises(ChildFailed, match="ended without a word"):
        run(lambda: os._exit(0), seconds=5)


def test_it_has_no_more_memory_than_it_may_have():
    with pytest.raises(ChildFailed, match="more memory than it may have"):
        run(lambda: bytearray(MEMORY), seconds=20)


def test_it_does_not_have_the_signal_handlers_of_its_parent():
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with pytest.raises(ChildFailed, match="was ended by SIGTERM"):
            run(lambda: os.kill(os.getpid(), signal.SIGTERM), seconds=5)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_one_that_is_no_longer_waited_for_is_ended_soon(tmp_path):
    def write_and_hang():
        (tmp_path / "pid").write_text(str(os.getpid()))
        hang()

    with pytest.raises(ChildFailed, match="was broken off"):
        run(write_and_hang, seconds=600, stop=(tmp_path / "pid").exists)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
