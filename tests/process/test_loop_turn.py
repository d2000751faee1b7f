"""A turn of the event loop."""

from __future__ import annotations

import time

import gevent
import gevent.socket

from engine.process.loop_turn import await_turn, paced, pacer


def order_of(pause):
    """What happens first where a greenlet that a socket has woken pauses: `sent` has arrived at
    another one meanwhile."""
    order = []
    first, first_end = gevent.socket.socketpair()
    second, second_end = gevent.socket.socketpair()

    def compute():
        first_end.recv(1)
        second.send(b"x")
        pause()
        order.append("computed")

    def small():
        second_end.recv(1)
        order.append("small")

    with first, first_end, second, second_end:
        greenlets = [gevent.spawn(compute), gevent.spawn(small)]
        gevent.sleep(0)
        first.send(b"x")
        gevent.joinall(greenlets)
    return order


def test_what_has_arrived_meanwhile_runs_first():
    assert order_of(await_turn) == ["small", "computed"]


def test_a_sleep_of_no_time_would_not_do():
    assert order_of(lambda: gevent.sleep(0)) == ["computed", "small"]


def test_the_loop_turns_between_items_that_take_milliseconds():
    turns = []

    def others():
        while True:
            turns.append(len(items))
            gevent.sleep(0)

    items = []
    greenlet = gevent.spawn(others)
    for item in paced(range(4)):
        begin = time.monotonic()
        while time.monotonic() - begin < 0.006:
            pass
        items.append(item)
    greenlet.kill()
    assert items == [0, 1, 2, 3]
    assert {1, 2, 3} <= set(turns)


def test_quick_items_take_no_turn():
    greenlet = gevent.spawn(lambda: None)
    assert [*paced("abc")] == ["a", "b", "c"]
    assert not greenlet.dead
    greenlet.join()


def test_what_the_loop_itself_calls_goes_on():
    numbers = []
    pace = pacer()
    time.sleep(0.006)
    gevent.get_hub().loop.run_callback(
        lambda: (pace(), await_turn(), numbers.extend(paced(range(3))))
    )
    gevent.sleep(0)
    assert numbers == [0, 1, 2]
