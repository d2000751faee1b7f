"""The first item is passed on soon, the following ones together, all in order."""

import gevent

from engine.telemetry.batch import MAX_ITEMS, Batch
from tests.support.waiting import PATIENCE


def test_a_single_item_is_passed_on_in_the_next_loop_turn():
    batches, now = [], [0.0]
    batch = Batch(batches.append, clock=lambda: now[0])
    batch.add(1)
    assert batches == []
    gevent.sleep(0)
    now[0] = 1.0
    batch.add(2)
    gevent.sleep(0)
    assert batches == [[1], [2]]


def test_following_items_are_passed_on_together():
    batches = []
    batch = Batch(batches.append, clock=lambda: 0.0)
    batch.add(0)
    gevent.sleep(0)
    for number in range(1, 5):
        batch.add(number)
    gevent.sleep(0)
    assert batches == [[0]]
    with gevent.Timeout(PATIENCE):
        while len(batches) < 2:
            gevent.sleep(0.001)
    assert batches == [[0], [1, 2, 3, 4]]
    batch.add(5)
    batch.flush()
    assert batches[2:] == [[5]]


def test_a_full_batch_is_passed_on_at_once():
    batches = []
    batch = Batch(batches.append, clock=lambda: 0.0)
    for number in range(MAX_ITEMS + 1):
        batch.add(number)
    assert [len(each) for each in batches] == [MAX_ITEMS]


def test_an_empty_batch_is_not_passed_on():
    batches = []
    Batch(batches.append).flush()
    assert batches == []


def test_a_consumer_that_raises_does_not_stop_the_others(caplog):
    batches = []
    batch = Batch(lambda _: 1 / 0, batches.append)
    batch.add(1)
    batch.flush()
    assert batches == [[1]]
    assert "telemetry of 1 requests is lost" in caplog.text
