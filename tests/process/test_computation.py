"""Computing in a child process, while the event loop goes on."""

from __future__ import annotations

import os
import threading
import time

import gevent
import pytest
from gevent.os import make_nonblocking, nb_read

from engine.process.child_process import ChildFailed
from engine.process.computation import compute_in_child, in_native_thread
from tests.support.waiting import PATIENCE


def test_the_result_comes_back() -> None:
    assert compute_in_child(lambda: (sum(range(10)), os.getpid() != os.getppid())) == (45, True)


def test_it_is_computed_in_another_process() -> None:
    changed: list[int] = []
    assert compute_in_child(lambda: (changed.append(1), os.getpid())[1]) != os.getpid()
    assert changed == []


def test_the_event_loop_goes_on() -> None:
    read, write = os.pipe()
    computing = gevent.spawn(compute_in_child, lambda: os.read(read, 1), keep=[read])
    gevent.sleep(0.01)
    assert not computing.ready()
    os.write(write, b"x")
    assert computing.get(timeout=PATIENCE) == b"x"
    os.close(read)
    os.close(write)


def test_a_connection_ends_although_a_child_computes() -> None:
    read, write = os.pipe()
    end, go = os.pipe()
    computing = gevent.spawn(compute_in_child, lambda: os.read(end, 1), keep=[end])
    gevent.sleep(0.01)
    os.close(write)
    make_nonblocking(read)
    with gevent.Timeout(PATIENCE):
        assert nb_read(read, 1) == b""
    assert not computing.ready()
    os.write(go, b"x")
    computing.get(timeout=PATIENCE)
    for descriptor in (read, end, go):
        os.close(descriptor)


def test_two_compute_at_one_time() -> None:
    before, pipes = children(), [os.pipe() for _ in range(3)]
    computing = [
        gevent.spawn(compute_in_child, lambda read=read: os.read(read, 1), keep=[read])
        for read, _ in pipes
    ]
    gevent.sleep(0.05)
    assert len(children() - before) == 2
    for _, write in pipes:
        os.write(write, b"x")
    assert [each.get(timeout=PATIENCE) for each in computing] == [b"x"] * 3
    for read, write in pipes:
        os.close(read)
        os.close(write)


def children() -> set[str]:
    """The process ids of this process's children, of which other tests may have some."""
    with open(f"/proc/{os.getpid()}/task/{threading.get_native_id()}/children") as file:
        return set(file.read().split())


def test_an_exception_is_a_failure_that_names_its_place() -> None:
    with pytest.raises(ChildFailed, match=r"failed: ZeroDivisionError: .*\(test_computation\.py:"):
        compute_in_child(lambda: 1 // 0)


def test_a_child_that_dies_is_a_failure() -> None:
    with pytest.raises(ChildFailed, match="ended without a result"):
        compute_in_child(lambda: os._exit(3))


def test_a_child_that_does_not_end_is_ended() -> None:
    before = children()
    with pytest.raises(ChildFailed, match=r"did not end within 0\.05 s"):
        compute_in_child(lambda: time.sleep(1000), 0.05)
    assert children() <= before


def test_a_child_ends_with_the_greenlet_that_waits_for_it() -> None:
    before, (read, write) = children(), os.pipe()
    computing = gevent.spawn(compute_in_child, lambda: os.read(read, 1), keep=[read])
    gevent.sleep(0.01)
    assert len(children() - before) == 1
    computing.kill()
    assert children() <= before
    os.close(read)
    os.close(write)


@pytest.mark.keeps("the thread of the process's event loop")
def test_the_result_is_that_of_the_function():
    assert in_native_thread(lambda: 1 + 1) == 2


@pytest.mark.keeps("the thread of the process's event loop")
def test_its_exception_is_raised():
    with pytest.raises(ZeroDivisionError):
        in_native_thread(lambda: 1 / 0)


@pytest.mark.keeps("the thread of the process's event loop")
def test_others_of_the_loop_run_meanwhile():
    ran = threading.Event()
    gevent.spawn_later(0.01, ran.set)
    assert in_native_thread(lambda: ran.wait(5))


@pytest.mark.keeps("the thread of the process's event loop")
def test_two_follow_one_another():
    spans = []

    def compute():
        start = time.monotonic()
        time.sleep(0.02)
        spans.append((start, time.monotonic()))

    gevent.joinall([gevent.spawn(in_native_thread, compute) for _ in range(2)], raise_error=True)
    (_, first_end), (second_start, _) = sorted(spans)
    assert second_start >= first_end
