"""Exchanges are counted, and counts are summed over workers, also over dead ones."""

from __future__ import annotations

import errno
import os
import signal

import gevent
import pytest
from gevent.event import Event

from engine.exchange.outcome import Outcome
from engine.exchange.request_record import Traffic
from engine.stores.ledger import metrics as ledger
from engine.telemetry.metrics import process, requests
from engine.telemetry.metrics.storage.tables import Histogram
from engine.telemetry.metrics.worker_metrics import WorkerMetrics
from engine.upstream.health import watched_target as health
from engine.upstream.targets import metrics as upstreams
from engine.values.usage import Usage
from tests.support.metric_files import counted
from tests.support.recording_metrics import finished_exchange, record_all, values


def test_samples_are_collected_and_counters_only_grow(tmp_path):
    number = [5.0]

    def read():
        yield requests.IN_FLIGHT, (), number[0]
        yield ledger.LEDGER_LOST, (), number[0]

    recorder = WorkerMetrics(tmp_path, collectors=[read])
    assert values(recorder, "modelway_requests_in_flight") == {(): 5.0}
    number[0] = 7.0
    assert values(recorder, "modelway_requests_in_flight") == {(): 7.0}
    assert values(recorder, "modelway_ledger_rows_lost_total") == {(): 7.0}
    recorder.close()
    number[0] = 1.0  # a worker that begins anew
    next_recorder = WorkerMetrics(tmp_path, collectors=[read])
    assert values(next_recorder, "modelway_requests_in_flight") == {(): 1.0}
    assert values(next_recorder, "modelway_ledger_rows_lost_total") == {(): 8.0}
    next_recorder.close()


def test_gauges_without_a_sample_are_removed_and_return(tmp_path):
    targets = ["a", "b"]
    recorder = WorkerMetrics(
        tmp_path,
        collectors=[
            lambda: [(process.WORKERS, (), 1.0)],
            lambda: [(upstreams.BREAKER, ("up", each), 2.0) for each in targets],
        ],
        max_series=2,
    )
    assert values(recorder, "modelway_breaker_state") == {("a", "up"): 2.0, ("b", "up"): 2.0}
    for targets[:], expected in ((["b"], "b"), ([], ""), (["a", "c"], "ac")):
        states = values(recorder, "modelway_breaker_state")
        assert states == {(each, "up"): 2.0 for each in expected}
        assert values(recorder, "modelway_workers") == {(): 1.0}
    recorder.close()


def test_a_collector_that_raises_removes_no_gauges(tmp_path):
    failing = []

    def read():
        yield process.WORKERS, (), 1.0
        yield requests.IN_FLIGHT, (), 1 / (not failing)

    recorder = WorkerMetrics(tmp_path, collectors=[read])
    assert values(recorder, "modelway_requests_in_flight") == {(): 1.0}
    failing.append(True)
    assert values(recorder, "modelway_requests_in_flight") == {(): 1.0}
    recorder.close()


def test_counters_stay_and_only_grow_when_an_address_returns(tmp_path):
    """Whose ejections begin at 0 again, also between two samples."""
    ejections = {"a": 3.0, "b": 1.0}
    recorder = WorkerMetrics(
        tmp_path,
        collectors=[
            lambda: [(health.EJECTIONS, ("up", a, "errors"), n) for a, n in ejections.items()]
        ],
    )
    for now, total in (({"a": 3.0}, 3.0), ({}, 3.0), ({"a": 4.0}, 7.0), ({"a": 1.0}, 8.0)):
        recorder.collect()
        ejections.clear()
        ejections.update(now)
        counts = values(recorder, "modelway_target_ejections_total")
        assert counts == {("errors", "a", "up"): total, ("errors", "b", "up"): 1.0}
    recorder.close()


def test_samples_are_taken_by_one_at_a_time(tmp_path):
    """A round in the background does not add again what a scrape meanwhile has removed."""
    targets = [(upstreams.BREAKER, (f"up{number}", ""), 0.0) for number in range(1200)]
    recorder = WorkerMetrics(tmp_path, collectors=[lambda: iter(targets.copy())])
    first = gevent.spawn(recorder.collect)
    gevent.sleep(0)
    assert not first.ready()
    del targets[400:]
    recorder.collect()
    first.join()
    assert len(counted(tmp_path, "modelway_breaker_state{")) == 400
    recorder.close()


def test_a_collector_that_raises_is_logged_and_the_others_run(tmp_path, caplog):
    recorder = WorkerMetrics(
        tmp_path, collectors=[lambda: 1 / 0, lambda: [(process.WORKERS, (), 1.0)]]
    )
    assert values(recorder, "modelway_workers") == {(): 1.0}
    assert "a metric cannot be collected" in caplog.text
    recorder.close()


def test_requests_continue_between_thousands_of_samples(tmp_path):
    """As those of a worker that has used thousands of targets."""
    seen = []

    def read():
        for number in range(1000):
            yield upstreams.BREAKER, (f"up{number}", ""), 0.0
            seen.append(number)

    recorder = WorkerMetrics(tmp_path, collectors=[read])
    other = gevent.spawn(lambda: len(seen))
    recorder.collect()
    assert 0 < other.value < 1000
    recorder.close()


@pytest.mark.parametrize("gauge", [upstreams.BREAKER, health.HEALTH])
def test_of_targets_without_room_only_those_with_a_fault_are_shown(tmp_path, gauge):
    states = {"a": 0.0, "b": 0.0, "c": 2.0}
    recorder = WorkerMetrics(
        tmp_path,
        collectors=[lambda: [(gauge, (each, ""), states[each]) for each in states]],
        max_series=1,
    )
    shown = values(recorder, gauge.name)
    assert {labels[1]: value for labels, value in shown.items()} == {"a": 0.0, "c": 2.0}
    states["c"] = 0.0
    shown = values(recorder, gauge.name)
    assert {labels[1]: value for labels, value in shown.items()} == {"a": 0.0, "c": 0.0}
    recorder.close()


def test_gauges_that_name_no_fault_have_no_more_values_than_there_is_room(tmp_path):
    targets = [(upstreams.ANSWER, (f"up{number}", ""), 1.0) for number in range(9)]
    recorder = WorkerMetrics(tmp_path, collectors=[lambda: targets], max_series=2)
    assert len(values(recorder, "modelway_target_answer_seconds")) == 2
    recorder.close()


def test_the_counts_of_a_killed_worker_remain(tmp_path):
    recorder = WorkerMetrics(tmp_path, collectors=[lambda: [(process.WORKERS, (), 1.0)]])
    for _ in range(3):
        reading, writing = os.pipe()
        if not (pid := os.fork()):
            second_recorder = WorkerMetrics(
                tmp_path, collectors=[lambda: [(process.WORKERS, (), 1.0)]]
            )
            second_recorder.collect()
            for _ in range(10):
                record_all(second_recorder, finished_exchange())
            os.write(writing, b"1")
            signal.pause()
        assert os.read(reading, 1) == b"1"
        assert values(recorder, "modelway_workers") == {(): 2.0}
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reading)
        os.close(writing)
    record_all(recorder, finished_exchange())
    assert list(values(recorder, "modelway_requests_total").values()) == [31.0]
    assert values(recorder, "modelway_workers") == {(): 1.0}
    assert len(list(tmp_path.glob("counter_*.db"))) == 2
    recorder.close()


def test_exchanges_recorded_together_count_as_each_alone(metrics, tmp_path):
    exchanges = [
        finished_exchange(duration=0.1),
        finished_exchange(duration=7.0, served_entry="claude"),
        finished_exchange(
            503, Outcome.FAILED, attempts=[], duration=0.1, code="upstream_unavailable"
        ),
        finished_exchange(stream=True, events=11, longest_gap=0.08, response_end=0.0, duration=1.2),
        finished_exchange(uncounted=True, usage=Usage(10, 0, 0), cost=0),
    ]
    (tmp_path / "alone").mkdir()
    alone = WorkerMetrics(tmp_path / "alone", "USD")
    for exchange in exchanges:
        record_all(alone, exchange)
    record_all(metrics, *exchanges)
    pages = [
        sorted(line for line in recorder.page().decode().splitlines() if " 0.0" not in line)
        for recorder in (alone, metrics)
    ]
    alone.close()
    assert pages[0] == pages[1]


def test_an_exchange_that_cannot_be_recorded_does_not_affect_others(metrics, caplog):
    metrics.page()
    record_all(metrics, finished_exchange(duration="no number"))
    assert caplog.text.count("lost") == 1
    caplog.clear()
    record_all(
        metrics, *(finished_exchange(duration=duration) for duration in (0.1, "no number", 0.1))
    )
    counts = values(metrics, "modelway_request_duration_seconds_count")
    assert sum(counts.values()) == 2.0
    (tokens,) = {v for k, v in values(metrics, "modelway_tokens_total").items() if "input" in k}
    assert tokens == 20.0
    assert caplog.text.count("request req_1: its metrics are lost") == 1


def test_a_metric_that_cannot_be_recorded_is_lost_once_and_alone(metrics, monkeypatch, caplog):
    exchange = finished_exchange(first_byte=None)
    metrics(exchange)
    monkeypatch.setattr(Histogram, "row", lambda *_: 1 / 0)  # those of usage come next
    metrics.record([exchange])
    monkeypatch.undo()
    record_all(metrics, finished_exchange())
    assert caplog.text.count("metrics of requests for openai.createChatCompletion are lost") == 1
    counts = values(metrics, "modelway_request_duration_seconds_count")
    assert sum(counts.values()) == 2.0
    counts = values(metrics, "gen_ai_client_token_usage_count")
    assert list(counts.values()) == [1.0, 1.0]


def test_requests_without_room_for_their_labels_are_counted_together(tmp_path):
    recorder = WorkerMetrics(tmp_path, "USD", max_series=1)
    for model in ("gpt", "claude", "gemini"):
        record_all(recorder, finished_exchange(requested_entry=model))
    counts = {labels[0]: count for labels, count in _requests(recorder).items()}  # by model
    assert counts == {"gpt": 1.0, "other": 2.0}
    assert len(values(recorder, "modelway_request_duration_seconds_count")) == 2
    recorder.close()


def test_a_worker_adds_no_labels_to_those_of_the_one_before_it(tmp_path):
    for model, expected in (
        ("gpt", ["gpt"]),
        ("claude", ["gpt", "other"]),
        ("gpt", ["gpt", "other"]),
    ):
        recorder = WorkerMetrics(tmp_path, "USD", max_series=1)
        record_all(recorder, finished_exchange(requested_entry=model))
        assert sorted(labels[0] for labels in _requests(recorder)) == expected
        recorder.close()


def test_sessions_without_room_for_their_labels_are_counted_together(tmp_path):
    recorder = WorkerMetrics(tmp_path, max_series=1)
    for model in ("gpt", "claude", "gemini"):
        exchange = finished_exchange(requested_entry=model)
        exchange.record.traffic = Traffic(code=1000)
        record_all(recorder, exchange)
    assert values(recorder, "modelway_websocket_closes_total") == {
        ("1000", exchange.operation): 1.0,
        ("1000", "other"): 2.0,
    }
    recorder.close()


def _requests(recorder):
    """The numbers of requests by model, operation, outcome, status and upstream."""
    return values(recorder, "modelway_requests_total")


def test_series_without_room_are_counted_once_there_is_some(tmp_path, monkeypatch, caplog):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    lost = [3.0]
    recorder = WorkerMetrics(
        tmp_path, "USD", [lambda: [(ledger.LEDGER_LOST, (), lost[0]), (process.WORKERS, (), 1.0)]]
    )
    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        record_all(recorder, finished_exchange(), finished_exchange())
        recorder.retry(100.0)
        record_all(recorder, finished_exchange())
        assert recorder.page() == b""
    record_all(recorder, finished_exchange())
    recorder.retry(105.0)
    assert not _requests(recorder), "not yet"
    recorder.retry(110.0)
    record_all(recorder, finished_exchange(), finished_exchange())
    assert list(_requests(recorder).values()) == [2.0]
    assert list(values(recorder, "gen_ai_client_operation_duration_seconds_count").values()) == [2]
    assert values(recorder, "modelway_ledger_rows_lost_total") == {(): 3.0}
    assert values(recorder, "modelway_workers") == {(): 1.0}
    assert caplog.text.count("no room for metrics") == len(caplog.records) == 1
    recorder.close()


def test_series_without_room_are_tried_again_in_the_background(tmp_path, monkeypatch):
    tried = Event()
    monkeypatch.setattr(WorkerMetrics, "retry", lambda recorder, now: tried.set())
    monkeypatch.setattr("engine.telemetry.metrics.worker_metrics.INTERVAL", 0.001)
    recorder = WorkerMetrics(tmp_path)
    recorder.start()
    assert tried.wait(10.0)
    recorder.close()


def test_a_closed_recorder_observes_nothing(tmp_path, monkeypatch):
    """Its files are closed, and an observation may be due."""
    spawn, greenlets = gevent.spawn, []
    monkeypatch.setattr(
        gevent, "spawn", lambda *call: greenlets.append(spawn(*call)) or greenlets[-1]
    )
    recorder = WorkerMetrics(tmp_path)
    recorder.start()
    gevent.sleep(0)
    assert [greenlet.dead for greenlet in greenlets] == [False, False]
    recorder.close()
    assert [greenlet.dead for greenlet in greenlets] == [True, True]
