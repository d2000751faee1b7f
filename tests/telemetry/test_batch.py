"""The first soon, what follows together, all of it in order."""

import gevent

from engine.telemetry.batch import MOST, Later


def test_what_comes_alone_is_done_when_whoever_adds_it_waits():
    done, now = [], [0.0]
    later = Later(done.append, clock=lambda: now[0])
    later.add(1)
    assert done == []
    gevent.sleep(0)
    now[0] = 1.0
    later.add(2)
    gevent.sleep(0)
    assert done == [[1], [2]]


def test_what_follows_is_gathered_for_a_moment():
    done = []
    later = Later(done.append)
    later.add(0)
    gevent.sleep(0)
    for number in range(1, 5):
        later.add(number)
    gevent.sleep(0)
    assert done == [[0]]
    with gevent.Timeout(5):
        while len(done) < 2:
            gevent.sleep(0.001)
    assert done == [[0], [1, 2, 3, 4]]
    later.add(5)
    later.flush()
    assert done[2:] == [[5]]


def test_much_does_not_wait():
    done = []
    later = Later(done.append, clock=lambda: 0.0)
    for number in range(MOST + 1):
        later.add(number)
    assert [len(each) for each in done] == [MOST]


def test_nothing_is_done_with_nothing():
    done = []
    Later(done.append).flush()
    assert done == []


def test_a_work_that_fails_stops_no_other(caplog):
    done = []
    later = Later(lambda _: 1 / 0, done.append)
    later.add(1)
    later.flush()
    assert done == [[1]]
    assert "the end of 1 requests was not noted" in caplog.text
