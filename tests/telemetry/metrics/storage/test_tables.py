"""Numbers and histograms have places for each set of labels."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from prometheus_client.mmap_dict import mmap_key

from engine.telemetry.metrics.storage.page import MetricsPage
from engine.values.metric import counter, histogram
from tests.support.metric_files import counted, fill_the_file, keys

REQUESTS = counter("modelway_requests_total", "model", "Requests.")
SECONDS = histogram("modelway_seconds", "", "Seconds.", (0.5, 1))
TIMES = histogram("modelway_times", "model", "Seconds.", (0.5, 1))


def test_labels_have_one_number(worker_numbers, tmp_path):
    requests = worker_numbers.numbers(REQUESTS)
    assert requests.place(("a",)) == requests.place(("a",))
    assert requests.place(("a",)) != requests.place(("b",))
    assert ("a",) in requests
    assert ("c",) not in requests
    assert len(requests) == len(keys(tmp_path / "counter_0.db")) == 2


def test_a_number_takes_less_memory_than_its_key(worker_numbers):
    names = [(f"model-{number}",) for number in range(1000)]
    requests = worker_numbers.numbers(REQUESTS)
    requests.place(("first",))
    tracemalloc.start()
    for name in names:
        requests.place(name)
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert taken / len(names) < 120


def test_a_value_counts_in_the_first_bucket_that_holds_it(worker_numbers, tmp_path):
    for value in (0.5, 0.6, 9.0):
        worker_numbers.observe(SECONDS, (), value)
    text = MetricsPage().text(tmp_path).decode()
    for bound, count in (("0.5", 1), ("1.0", 2), ("+Inf", 3)):
        assert f'modelway_seconds_bucket{{le="{bound}"}} {count}.0' in text
    assert "modelway_seconds_sum 10.1" in text


def test_a_further_series_has_only_the_buckets_in_which_something_was_counted(
    worker_numbers, tmp_path
):
    for model in "ab":
        worker_numbers.observe(TIMES, (model,), 0.7)
    worker_numbers.close()
    found = keys(tmp_path / "histogram_0.db")
    assert [sum(f'"{model}"' in key for key in found) for model in "ab"] == [4, 2]


def test_values_that_are_counted_together_count_as_each_alone(worker_numbers, tmp_path):
    times = worker_numbers.histogram(TIMES)
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


def test_keys_are_those_of_prometheus_client(worker_numbers, tmp_path):
    worker_numbers.observe(TIMES, ("ü",), 0.7)
    worker_numbers.close()
    expected = mmap_key("modelway_times", "modelway_times_sum", ["model"], ["ü"], "Seconds.")
    assert json.loads(keys(tmp_path / "histogram_0.db")[0]) == json.loads(expected)


def test_only_the_first_key_of_a_metric_has_its_help(worker_numbers, tmp_path):
    for model in "ab":
        worker_numbers.add(REQUESTS, (model,), 1.0)
    worker_numbers.close()
    parts = [json.loads(key) for key in keys(tmp_path / "counter_0.db")]
    assert [(labels["model"], words) for *_, labels, words in parts] == [
        ("a", "Requests."),
        ("b", ""),
    ]


def test_a_label_without_a_value_is_a_mistake(worker_numbers):
    with pytest.raises(AssertionError):
        worker_numbers.numbers(REQUESTS).place(())


def test_values_without_room_for_their_bucket_are_not_in_the_sum(worker_numbers, full, tmp_path):
    worker_numbers.observe(SECONDS, (), 0.4)
    worker_numbers.observe(TIMES, ("first",), 0.7)
    full()
    fill_the_file(worker_numbers, TIMES)
    times = worker_numbers.histogram(TIMES)
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


def test_a_histogram_has_all_bounds_or_is_not_there(worker_numbers, full, tmp_path, monkeypatch):
    full()
    number = fill_the_file(worker_numbers, TIMES)
    wide = histogram("modelway_wide", "model", "Seconds.", tuple(range(1, 1000)))
    assert number == 0
    monkeypatch.undo()
    worker_numbers.retry()
    worker_numbers.observe(TIMES, ("a",), 0.7)
    full()
    worker_numbers.observe(wide, ("a",), 0.7)
    assert not counted(tmp_path, "modelway_wide")
    monkeypatch.undo()
    worker_numbers.retry()
    worker_numbers.observe(wide, ("b",), 0.7)
    assert len(counted(tmp_path, "modelway_wide_bucket")) == 1000
