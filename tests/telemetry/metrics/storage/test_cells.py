"""Numbers in files, one for each set of labels."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from prometheus_client.mmap_dict import MmapedDict, mmap_key

from engine.telemetry.metrics.storage.cells import Cells
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
    cells.histogram(TIMES).row(("ü",))
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
