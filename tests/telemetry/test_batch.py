"""The first item is passed on soon, the following ones together, all in order."""

import gevent

from engine.telemetry.batch import MAX_ITEMS, Batch


def test_a_single_item_is_passed_on_in_the_next_loop_turn():
    done, now = [], [0.0]
    batch = Batch(done.append, clock=lambda: now[0])
    batch.add(1)
    assert done == []
    gevent.sleep(0)
    now[0] = 1.0
    batch.add(2)
    gevent.sleep(0)
    assert done == [[1], [2]]


def test_following_items_are_passed_on_together():
    done = []
    batch = Batch(done.append)
    batch.add(0)
    gevent.sleep(0)
    for number in range(1, 5):
        batch.add(number)
    gevent.sleep(0)
    assert done == [[0]]
    with gevent.Timeout(5):
        while len(done) < 2:
            gevent.sleep(0.001)
    assert done == [[0], [1, 2, 3, 4]]
    batch.add(5)
    batch.flush()
    assert done[2:] == [[5]]


def test_a_full_batch_is_passed_on_at_once():
    done = []
    batch = Batch(done.append, clock=lambda: 0.0)
    for number in range(MAX_ITEMS + 1):
        batch.add(number)
    assert [len(each) for each in done] == [MAX_ITEMS]


def test_an_empty_batch_is_not_passed_on():
    done = []
    Batch(done.append).flush()
    assert done == []


def test_a_consumer_that_raises_does_not_stop_the_others(caplog):
    done = []
    batch = Batch(lambda _: 1 / 0, done.append)
    batch.add(1)
    batch.flush()
    assert done == [[1]]
    assert "telemetry of 1 requests is lost" in caplog.text
