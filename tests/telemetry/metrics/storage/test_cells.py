"""Numbers in files, one for each set of labels."""

from __future__ import annotations

import errno
import json
import os
import tracemalloc

import pytest
from prometheus_client.mmap_dict import MmapedDict, mmap_key

from engine.telemetry.metrics.storage.cells import Cells
from engine.telemetry.metrics.storage.metric_file import UNCOUNTED
from engine.telemetry.metrics.storage.page import MetricsPage
from engine.values.metric import counter, gauge, histogram

REQUESTS = counter("modelway_requests_total", "model", "Requests.")
OPEN = gauge("modelway_open", "", "Open connections.")
SECONDS = histogram("modelway_seconds", "", "Seconds.", (0.5, 1))
TIMES = histogram("modelway_times", "model", "Seconds.", (0.5, 1))


@pytest.fixture
def cells(tmp_path):
    cells = Cells(tmp_path, 0)
    yield cells
    cells.close()


def keys(file):
    """The keys in a file, in their order."""
    return [key for key, *_ in MmapedDict.read_all_values_from_file(str(file))]


def test_labels_have_one_number(cells, tmp_path):
    requests = cells.numbers(REQUESTS)
    assert requests.place(("a",)) == requests.place(("a",))
    assert requests.place(("a",)) != requests.place(("b",))
    assert ("a",) in requests
    assert ("c",) not in requests
    assert len(requests) == len(keys(tmp_path / "counter_0.db")) == 2


def test_a_number_is_in_the_file_at_once(cells, tmp_path):
    cells.add(REQUESTS, ("a",), 1.0)
    cells.add(REQUESTS, ("a",), 2.0)
    connections = cells.numbers(OPEN)
    for value in (9.0, 7.0):
        connections.set(connections.place(()), value)
    text = MetricsPage().text(tmp_path).decode()
    assert 'modelway_requests_total{model="a"} 3.0' in text
    assert "modelway_open 7.0" in text


def test_the_next_worker_with_the_slot_continues_to_count(cells, tmp_path):
    cells.add(REQUESTS, ("a",), 5.0)
    for _ in range(2):
        cells.observe(TIMES, ("a",), 0.7)
    cells.close()
    before = keys(tmp_path / "counter_0.db"), keys(tmp_path / "histogram_0.db")
    following = Cells(tmp_path, 0)
    following.add(REQUESTS, ("a",), 1.0)
    following.observe(TIMES, ("a",), 0.7)
    following.close()
    assert (keys(tmp_path / "counter_0.db"), keys(tmp_path / "histogram_0.db")) == before
    text = MetricsPage().text(tmp_path).decode()
    assert 'modelway_requests_total{model="a"} 6.0' in text
    assert 'modelway_times_bucket{le="1.0",model="a"} 3.0' in text


def test_numbers_stay_in_their_places_when_the_file_grows(cells, tmp_path):
    """It is mapped into memory anew, wherever there is room."""
    first = cells.numbers(REQUESTS).place(("first",))
    for number in range(2000):
        cells.add(REQUESTS, (f"model-{number}",), number)
        cells.numbers(REQUESTS).add(first, 1.0)
    numbers = {
        json.loads(key)[2]["model"]: value
        for key, value, *_ in MmapedDict.read_all_values_from_file(str(tmp_path / "counter_0.db"))
    }
    assert numbers == {"first": 2000.0} | {f"model-{n}": float(n) for n in range(2000)}


def test_a_number_takes_less_memory_than_its_key(cells):
    names = [(f"model-{number}",) for number in range(1000)]
    requests = cells.numbers(REQUESTS)
    requests.place(("first",))
    tracemalloc.start()
    for name in names:
        requests.place(name)
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert taken / len(names) < 120


def test_a_value_counts_in_the_first_bucket_that_holds_it(cells, tmp_path):
    for value in (0.5, 0.6, 9.0):
        cells.observe(SECONDS, (), value)
    text = MetricsPage().text(tmp_path).decode()
    for bound, count in (("0.5", 1), ("1.0", 2), ("+Inf", 3)):
        assert f'modelway_seconds_bucket{{le="{bound}"}} {count}.0' in text
    assert "modelway_seconds_sum 10.1" in text


def test_a_further_series_has_only_the_buckets_in_which_something_was_counted(cells, tmp_path):
    for model in "ab":
        cells.observe(TIMES, (model,), 0.7)
    cells.close()
    found = keys(tmp_path / "histogram_0.db")
    assert [sum(f'"{model}"' in key for key in found) for model in "ab"] == [4, 2]


def test_values_that_are_counted_together_count_as_each_alone(cells, tmp_path):
    times = cells.histogram(TIMES)
    values = (0.2, 0.7, 0.9, 3.0)
    times.observe_all(times.row(("together",)), values)
    for value in values:
        times.observe_all(times.row(("alone",)), [value])
    page = MetricsPage().text(tmp_path).decode()
    lines = [line for line in page.splitlines() if "together" in line]
    assert len(lines) == 5
    assert [line.replace("together", "alone") for line in lines] == [
        line for line in page.splitlines() if "alone" in line
    ]


def test_keys_are_those_of_prometheus_client(cells, tmp_path):
    cells.observe(TIMES, ("ü",), 0.7)
    cells.close()
    expected = mmap_key("modelway_times", "modelway_times_sum", ["model"], ["ü"], "Seconds.")
    assert json.loads(keys(tmp_path / "histogram_0.db")[0]) == json.loads(expected)


def test_only_the_first_key_of_a_metric_has_its_help(cells, tmp_path):
    for model in "ab":
        cells.add(REQUESTS, (model,), 1.0)
    cells.close()
    parts = [json.loads(key) for key in keys(tmp_path / "counter_0.db")]
    assert [(labels["model"], words) for *_, labels, words in parts] == [
        ("a", "Requests."),
        ("b", ""),
    ]


def test_series_of_several_workers_are_added_whatever_their_help(cells, tmp_path):
    second_cells = Cells(tmp_path, 1)
    for each, models in ((cells, "ab"), (second_cells, "ba")):
        for model in models:
            each.add(REQUESTS, (model,), 1.0)
        each.close()
    text = MetricsPage().text(tmp_path).decode()
    assert text.count("modelway_requests_total{") == 2
    assert 'modelway_requests_total{model="a"} 2.0' in text
    assert 'modelway_requests_total{model="b"} 2.0' in text


def test_a_label_without_a_value_is_a_mistake(cells):
    with pytest.raises(AssertionError):
        cells.numbers(REQUESTS).place(())


@pytest.fixture
def full(monkeypatch):
    """The file system has room only for what is reserved."""
    calls = []

    def reserve(*_):
        calls.append(1)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fill():
        monkeypatch.setattr(os, "posix_fallocate", reserve)
        return calls

    yield fill
    monkeypatch.undo()


def counted(folder, start):
    """The numbers of the page whose lines start so."""
    lines = MetricsPage().text(folder).decode().splitlines()
    return {
        name: float(value)
        for name, _, value in (line.rpartition(" ") for line in lines)
        if name.startswith(start)
    }


def fill_the_file(cells, metric):
    """Count series until a file has no room for another one; the number of the counted ones."""
    for number in range(10_000):
        labels = (f"model-{number}",)
        if metric.kind == "histogram":
            cells.observe(metric, labels, 0.7)
        else:
            cells.add(metric, labels, 1.0)
        if cells.file(metric).is_full:
            return number
    raise AssertionError("there is always room")


def test_without_room_counted_series_count_and_others_are_left_out(cells, full, tmp_path, caplog):
    cells.add(REQUESTS, ("first",), 1.0)
    cells.observe(TIMES, ("first",), 0.7)
    full()
    number = fill_the_file(cells, REQUESTS)
    cells.add(REQUESTS, ("first",), 1.0)
    cells.add(REQUESTS, ("new",), 1.0)
    cells.observe(TIMES, ("first",), 0.7)
    requests = counted(tmp_path, "modelway_requests_total")
    assert len(requests) == number + 1
    assert requests['modelway_requests_total{model="first"}'] == 2.0
    assert counted(tmp_path, "modelway_times_count") == {'modelway_times_count{model="first"}': 2.0}
    (record,) = caplog.records
    assert record.getMessage().startswith(
        f"no room for metrics in {tmp_path} (No space left on device): new series are not counted"
    )


def test_without_room_for_a_file_nothing_is_counted_and_nothing_fails(cells, full, tmp_path):
    full()
    cells.add(REQUESTS, ("a",), 1.0)
    cells.observe(TIMES, ("a",), 0.7)
    times = cells.histogram(TIMES)
    times.observe_all(times.row(("a",)), (0.2, 0.7))
    connections = cells.numbers(OPEN)
    connections.set(connections.place(()), 9.0)
    assert connections.place(()) == UNCOUNTED
    assert len(connections) == 0
    assert MetricsPage().text(tmp_path) == b""


def test_room_is_looked_for_once_until_it_is_retried(cells, full, monkeypatch, tmp_path):
    calls = full()
    for _ in range(3):
        cells.add(REQUESTS, ("a",), 1.0)
    assert len(calls) == 1
    assert cells.retry()
    cells.add(REQUESTS, ("a",), 1.0)
    assert len(calls) == 2
    monkeypatch.undo()
    cells.retry()
    cells.add(REQUESTS, ("a",), 1.0)
    assert counted(tmp_path, "modelway_requests") == {'modelway_requests_total{model="a"}': 1.0}
    assert not cells.retry()


def test_values_without_room_for_their_bucket_are_not_in_the_sum(cells, full, tmp_path):
    cells.observe(SECONDS, (), 0.4)
    cells.observe(TIMES, ("first",), 0.7)
    full()
    fill_the_file(cells, TIMES)
    times = cells.histogram(TIMES)
    row = times.row(("first",))
    times.observe_all(row, (0.2, 0.7, 0.7, 3.0))  # has all buckets: it is the first
    other = times.row(("model-0",))
    times.observe(other, 0.2)
    times.observe_all(other, (0.2, 0.7, 0.7))
    times.observe_all(other, (0.2, 3.0))
    lost = times.row(("lost",))
    times.observe_all(lost, (0.2, 0.7))
    found = counted(tmp_path, "modelway_times")
    assert found['modelway_times_count{model="first"}'] == 5.0
    assert found['modelway_times_sum{model="first"}'] == pytest.approx(5.3)
    assert found['modelway_times_count{model="model-0"}'] == 3.0
    assert found['modelway_times_sum{model="model-0"}'] == pytest.approx(2.1)
    assert not [name for name in found if "lost" in name]


def test_a_histogram_has_all_bounds_or_is_not_there(cells, full, tmp_path, monkeypatch):
    full()
    number = fill_the_file(cells, TIMES)
    wide = histogram("modelway_wide", "model", "Seconds.", tuple(range(1, 1000)))
    assert number == 0
    monkeypatch.undo()
    cells.retry()
    cells.observe(TIMES, ("a",), 0.7)
    full()
    cells.observe(wide, ("a",), 0.7)
    assert not counted(tmp_path, "modelway_wide")
    monkeypatch.undo()
    cells.retry()
    cells.observe(wide, ("b",), 0.7)
    assert len(counted(tmp_path, "modelway_wide_bucket")) == 1000


def test_a_full_file_of_an_earlier_worker_goes_on(cells, full, tmp_path):
    cells.add(REQUESTS, ("a",), 5.0)
    full()
    number = fill_the_file(cells, REQUESTS)
    cells.close()
    following = Cells(tmp_path, 0)
    following.add(REQUESTS, ("a",), 1.0)
    following.add(REQUESTS, ("new",), 1.0)
    following.close()
    found = counted(tmp_path, "modelway_requests_total")
    assert found['modelway_requests_total{model="a"}'] == 6.0
    assert len(found) == number + 1
