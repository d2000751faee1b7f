"""Numbers in files, which the workers of a slot and a page share."""

from __future__ import annotations

import json
import os

from prometheus_client.mmap_dict import MmapedDict

from engine.telemetry.metrics.storage.metric_file import UNCOUNTED
from engine.telemetry.metrics.storage.page import MetricsPage
from engine.telemetry.metrics.storage.worker_numbers import WorkerNumbers
from engine.values.metric import counter, gauge, histogram
from tests.support.metric_files import counted, fill_the_file, keys

REQUESTS = counter("modelway_requests_total", "model", "Requests.")
STATE = gauge("modelway_state", "target", "States.", "livemax")
OPEN = gauge("modelway_open", "", "Open connections.")
TIMES = histogram("modelway_times", "model", "Seconds.", (0.5, 1))


def test_a_number_is_in_the_file_at_once(worker_numbers, tmp_path):
    worker_numbers.add(REQUESTS, ("a",), 1.0)
    worker_numbers.add(REQUESTS, ("a",), 2.0)
    connections = worker_numbers.numbers(OPEN)
    for value in (9.0, 7.0):
        connections.set(connections.place(()), value)
    text = MetricsPage().text(tmp_path).decode()
    assert 'modelway_requests_total{model="a"} 3.0' in text
    assert "modelway_open 7.0" in text


def test_the_next_worker_with_the_slot_continues_to_count(worker_numbers, tmp_path):
    worker_numbers.add(REQUESTS, ("a",), 5.0)
    for _ in range(2):
        worker_numbers.observe(TIMES, ("a",), 0.7)
    worker_numbers.close()
    before = keys(tmp_path / "counter_0.db"), keys(tmp_path / "histogram_0.db")
    following = WorkerNumbers(tmp_path, 0)
    following.add(REQUESTS, ("a",), 1.0)
    following.observe(TIMES, ("a",), 0.7)
    following.close()
    assert (keys(tmp_path / "counter_0.db"), keys(tmp_path / "histogram_0.db")) == before
    text = MetricsPage().text(tmp_path).decode()
    assert 'modelway_requests_total{model="a"} 6.0' in text
    assert 'modelway_times_bucket{le="1.0",model="a"} 3.0' in text


def test_numbers_stay_in_their_places_when_the_file_grows(worker_numbers, tmp_path):
    """It is mapped into memory anew, wherever there is room."""
    first = worker_numbers.numbers(REQUESTS).place(("first",))
    for number in range(2000):
        worker_numbers.add(REQUESTS, (f"model-{number}",), number)
        worker_numbers.numbers(REQUESTS).add(first, 1.0)
    numbers = {
        json.loads(key)[2]["model"]: value
        for key, value, *_ in MmapedDict.read_all_values_from_file(str(tmp_path / "counter_0.db"))
    }
    assert numbers == {"first": 2000.0} | {f"model-{n}": float(n) for n in range(2000)}


def test_series_of_several_workers_are_added_whatever_their_help(worker_numbers, tmp_path):
    second_numbers = WorkerNumbers(tmp_path, 1)
    for each, models in ((worker_numbers, "ab"), (second_numbers, "ba")):
        for model in models:
            each.add(REQUESTS, (model,), 1.0)
        each.close()
    text = MetricsPage().text(tmp_path).decode()
    assert text.count("modelway_requests_total{") == 2
    assert 'modelway_requests_total{model="a"} 2.0' in text
    assert 'modelway_requests_total{model="b"} 2.0' in text


def test_without_room_counted_series_count_and_others_are_left_out(
    worker_numbers, full, tmp_path, caplog
):
    worker_numbers.add(REQUESTS, ("first",), 1.0)
    worker_numbers.observe(TIMES, ("first",), 0.7)
    full()
    number = fill_the_file(worker_numbers, REQUESTS)
    worker_numbers.add(REQUESTS, ("first",), 1.0)
    worker_numbers.add(REQUESTS, ("new",), 1.0)
    worker_numbers.observe(TIMES, ("first",), 0.7)
    requests = counted(tmp_path, "modelway_requests_total")
    assert len(requests) == number + 1
    assert requests['modelway_requests_total{model="first"}'] == 2.0
    assert counted(tmp_path, "modelway_times_count") == {'modelway_times_count{model="first"}': 2.0}
    (record,) = caplog.records
    assert record.getMessage().startswith(
        f"no room for metrics in {tmp_path} (No space left on device): new series are not counted"
    )


def test_without_room_for_a_file_nothing_is_counted_and_nothing_fails(
    worker_numbers, full, tmp_path
):
    full()
    worker_numbers.add(REQUESTS, ("a",), 1.0)
    worker_numbers.observe(TIMES, ("a",), 0.7)
    times = worker_numbers.histogram(TIMES)
    times.observe_all(times.row(("a",)), (0.2, 0.7))
    connections = worker_numbers.numbers(OPEN)
    connections.set(connections.place(()), 9.0)
    assert connections.place(()) == UNCOUNTED
    assert len(connections) == 0
    assert MetricsPage().text(tmp_path) == b""


def test_room_is_looked_for_once_until_it_is_retried(worker_numbers, full, monkeypatch, tmp_path):
    calls = full()
    for _ in range(3):
        worker_numbers.add(REQUESTS, ("a",), 1.0)
    assert len(calls) == 1
    assert worker_numbers.retry()
    worker_numbers.add(REQUESTS, ("a",), 1.0)
    assert len(calls) == 2
    monkeypatch.undo()
    worker_numbers.retry()
    worker_numbers.add(REQUESTS, ("a",), 1.0)
    assert counted(tmp_path, "modelway_requests") == {'modelway_requests_total{model="a"}': 1.0}
    assert not worker_numbers.retry()


def test_a_full_file_of_an_earlier_worker_goes_on(worker_numbers, full, tmp_path):
    worker_numbers.add(REQUESTS, ("a",), 5.0)
    full()
    number = fill_the_file(worker_numbers, REQUESTS)
    worker_numbers.close()
    following = WorkerNumbers(tmp_path, 0)
    following.add(REQUESTS, ("a",), 1.0)
    following.add(REQUESTS, ("new",), 1.0)
    following.close()
    found = counted(tmp_path, "modelway_requests_total")
    assert found['modelway_requests_total{model="a"}'] == 6.0
    assert len(found) == number + 1


def test_gauges_that_are_not_kept_leave_the_page_and_return(worker_numbers, tmp_path):
    states, connections = worker_numbers.numbers(STATE), worker_numbers.numbers(OPEN)
    for number, target in enumerate("abc"):
        states.set(states.place((target,)), float(number))
    connections.set(connections.place(()), 9.0)
    worker_numbers.add(REQUESTS, ("a",), 1.0)
    page = MetricsPage()
    assert page.text(tmp_path).count(b"modelway_state{") == 3
    worker_numbers.keep_gauges(
        {states: {states.place(("c",))}, connections: {connections.place(())}}
    )
    assert ("a",) not in states
    expected = (
        b'modelway_state{target="c"} 2.0',
        b"modelway_open 9.0",
        b"modelway_requests_total{",
    )
    assert page.text(tmp_path).count(b"modelway_state{") == 1
    assert all(line in page.text(tmp_path) for line in expected)
    states.set(states.place(("a",)), 7.0)
    states.set(states.place(("c",)), 8.0)
    assert counted(tmp_path, "modelway_state") == {
        'modelway_state{target="a"}': 7.0,
        'modelway_state{target="c"}': 8.0,
    }
    assert page.text(tmp_path) == MetricsPage().text(tmp_path)
    worker_numbers.keep_gauges({})
    assert not counted(tmp_path, "modelway_state")
    assert not counted(tmp_path, "modelway_open")
    assert counted(tmp_path, "modelway_requests_total")


def test_the_last_gauge_of_a_file_leaves_the_page_and_returns(worker_numbers, tmp_path):
    states, page = worker_numbers.numbers(STATE), MetricsPage()
    places = [states.place((target,)) for target in "ab"]
    assert page.text(tmp_path).count(b"modelway_state{") == 2
    worker_numbers.keep_gauges({states: {places[0]}})
    assert page.text(tmp_path).count(b"modelway_state{") == 1
    assert states.place(("b",)) == places[1]
    assert page.text(tmp_path).count(b"modelway_state{") == 2


def test_gauges_that_all_stay_are_not_written_anew(worker_numbers, tmp_path):
    states = worker_numbers.numbers(STATE)
    for kept in ("a", "ab"):
        places = {states.place((target,)) for target in kept}
        file = (tmp_path / "gauge_livemax_0.db").stat().st_ino
        worker_numbers.keep_gauges({states: places})
        assert (tmp_path / "gauge_livemax_0.db").stat().st_ino == file


def test_gauges_that_come_and_go_take_no_room_for_ever(worker_numbers, tmp_path):
    states = worker_numbers.numbers(STATE)
    states.place(("first",))
    descriptors = len(os.listdir("/proc/self/fd"))
    for number in range(3000):
        place = states.place((f"10.0.{number // 250}.{number % 250}",))
        worker_numbers.keep_gauges({states: {place}})
    assert (tmp_path / "gauge_livemax_0.db").stat().st_size == 16384
    assert [*tmp_path.iterdir()] == [tmp_path / "gauge_livemax_0.db"]
    assert len(states) == 1
    assert len(os.listdir("/proc/self/fd")) <= descriptors


def test_without_room_no_file_stays_open(worker_numbers, full):
    descriptors = len(os.listdir("/proc/self/fd"))
    full()
    for _ in range(3):
        worker_numbers.add(REQUESTS, ("a",), 1.0)
        worker_numbers.retry()
    assert len(os.listdir("/proc/self/fd")) <= descriptors


def test_without_room_gauges_stay_until_there_is_some(
    worker_numbers, full, tmp_path, monkeypatch, caplog
):
    states = worker_numbers.numbers(STATE)
    for target in "ab":
        states.set(states.place((target,)), 1.0)
    kept = {states: {states.place(("a",))}}
    calls = full()
    for _ in range(2):
        worker_numbers.keep_gauges(kept)
    states.set(states.place(("a",)), 2.0)
    assert counted(tmp_path, "modelway_state") == {
        'modelway_state{target="a"}': 2.0,
        'modelway_state{target="b"}': 1.0,
    }
    assert len(calls) == len(caplog.records) == 1
    assert [*tmp_path.iterdir()] == [tmp_path / "gauge_livemax_0.db"]
    monkeypatch.undo()
    worker_numbers.retry()
    worker_numbers.keep_gauges(kept)
    assert counted(tmp_path, "modelway_state") == {'modelway_state{target="a"}': 2.0}


def test_a_draft_of_a_killed_worker_is_not_used(worker_numbers, tmp_path):
    draft = WorkerNumbers(tmp_path, 7)
    draft.numbers(STATE).place(("old",))
    draft.close()
    (tmp_path / "gauge_livemax_7.db").rename(tmp_path / "gauge_livemax_0.new")
    states = worker_numbers.numbers(STATE)
    for target in "ab":
        states.place((target,))
    worker_numbers.keep_gauges({states: {states.place(("a",))}})
    assert [*counted(tmp_path, "modelway_state")] == ['modelway_state{target="a"}']
