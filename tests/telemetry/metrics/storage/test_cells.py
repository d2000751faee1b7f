"""Numbers in files, one for each set of labels."""

from __future__ import annotations

import json

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


def test_a_cell_is_made_once_for_its_labels(cells):
    assert cells.cell(REQUESTS, "a") is cells.cell(REQUESTS, "a")
    assert cells.cell(REQUESTS, "a") is not cells.cell(REQUESTS, "b")


def test_numbers_are_in_the_file_once_they_are_written(cells, tmp_path):
    cells.cell(REQUESTS, "a").add(1.0)
    cells.cell(REQUESTS, "a").add(2.0)
    cells.cell(OPEN).set(7.0)
    assert b"3.0" not in MetricsPage().text(tmp_path)
    cells.write()
    text = MetricsPage().text(tmp_path).decode()
    assert 'modelway_requests_total{model="a"} 3.0' in text
    assert "modelway_open 7.0" in text


def test_the_next_worker_with_the_number_continues_to_count(cells, tmp_path):
    cells.cell(REQUESTS, "a").add(5.0)
    cells.close()
    following = Cells(tmp_path, 0)
    assert following.cell(REQUESTS, "a").value == 5.0
    following.close()


def test_a_value_counts_in_the_first_bucket_that_holds_it(cells, tmp_path):
    for value in (0.5, 0.6, 9.0):
        cells.distribution(SECONDS).observe(value)
    cells.write()
    text = MetricsPage().text(tmp_path).decode()
    for bound, count in (("0.5", 1), ("1.0", 2), ("+Inf", 3)):
        assert f'modelway_seconds_bucket{{le="{bound}"}} {count}.0' in text
    assert "modelway_seconds_sum 10.1" in text


def test_a_further_series_has_only_the_buckets_in_which_something_was_counted(cells, tmp_path):
    for model in "ab":
        cells.distribution(TIMES, model).observe(0.7)
    cells.close()
    keys = [
        key for key, *_ in MmapedDict.read_all_values_from_file(str(tmp_path / "histogram_0.db"))
    ]
    assert [sum(f'"{model}"' in key for key in keys) for model in "ab"] == [4, 2]


def test_keys_are_those_of_prometheus_client(cells, tmp_path):
    cells.distribution(TIMES, "ü")
    cells.close()
    keys = [
        key for key, *_ in MmapedDict.read_all_values_from_file(str(tmp_path / "histogram_0.db"))
    ]
    expected = mmap_key("modelway_times", "modelway_times_sum", ["model"], ["ü"], "Seconds.")
    assert json.loads(keys[0]) == json.loads(expected)


def test_only_the_first_key_of_a_metric_has_its_help(cells, tmp_path):
    for model in "ab":
        cells.cell(REQUESTS, model)
    cells.close()
    file = str(tmp_path / "counter_0.db")
    parts = [json.loads(key) for key, *_ in MmapedDict.read_all_values_from_file(file)]
    assert [(labels["model"], words) for *_, labels, words in parts] == [
        ("a", "Requests."),
        ("b", ""),
    ]


def test_series_of_several_workers_are_added_whatever_their_help(cells, tmp_path):
    second_cells = Cells(tmp_path, 1)
    for each, models in ((cells, "ab"), (second_cells, "ba")):
        for model in models:
            each.cell(REQUESTS, model).add(1.0)
        each.close()
    text = MetricsPage().text(tmp_path).decode()
    assert text.count("modelway_requests_total{") == 2
    assert 'modelway_requests_total{model="a"} 2.0' in text
    assert 'modelway_requests_total{model="b"} 2.0' in text


def test_a_label_without_a_value_is_a_mistake(cells):
    with pytest.raises(AssertionError):
        cells.cell(REQUESTS)
