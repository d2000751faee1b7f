"""What computes in a thread while the event loop goes on."""

import threading
import time

import gevent
import pytest

from engine.process.native_thread import in_native_thread

pytestmark = pytest.mark.keeps("the thread of the process's event loop")


def test_the_result_is_that_of_the_function():
    assert in_native_thread(lambda: 1 + 1) == 2


def test_its_exception_is_raised():
    with pytest.raises(ZeroDivisionError):
        in_native_thread(lambda: 1 / 0)


def test_others_of_the_loop_run_meanwhile():
    ran = threading.Event()
    gevent.spawn_later(0.01, ran.set)
    assert in_native_thread(lambda: ran.wait(5))


def test_two_follow_one_another():
    spans = []

    def compute():
        start = time.monotonic()
        time.sleep(0.02)
        spans.append((start, time.monotonic()))

    gevent.joinall([gevent.spawn(in_native_thread, compute) for _ in range(2)], raise_error=True)
    (_, first_end), (second_start, _) = sorted(spans)
    assert second_start >= first_end
