"""The page is what prometheus_client makes of the same files, with every bucket."""

from __future__ import annotations

import tracemalloc

import pytest
from prometheus_client import generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.parser import text_string_to_metric_families

from engine.telemetry.metrics.requests import DURATION, REFUSALS
from engine.telemetry.metrics.storage.folder import remove_gauges
from engine.telemetry.metrics.storage.page import MetricsPage
from engine.telemetry.metrics.storage.worker_numbers import WorkerNumbers
from engine.upstream.targets.metrics import BREAKER
from tests.support.metrics import METRICS


def samples(text):
    """Every sample of a page, with the type and the words of its family."""
    return {
        (family.name, family.type, family.documentation, s.name, *sorted(s.labels.items())): s.value
        for family in text_string_to_metric_families(text.decode())
        for s in family.samples
    }


@pytest.fixture
def folder(tmp_path):
    for number in range(3):
        worker_numbers = WorkerNumbers(tmp_path, number)
        for metric in METRICS:
            for text in ("", 'a "b"\\c\nd', "ü")[: number + 1]:
                labels = (text,) * len(metric.labels)
                if metric.kind == "histogram":
                    for value in (0.0003, 0.5, 0.5, 7, 1e9):
                        worker_numbers.observe(metric, labels, value * (number + 1))
                else:
                    worker_numbers.add(metric, labels, number + 0.25)
        worker_numbers.close()
    return tmp_path


def test_the_page_is_that_of_prometheus_client(folder):
    expected = samples(generate_latest(MultiProcessCollector(None, str(folder))))
    page = MetricsPage()
    for _ in range(2):  # and says it again
        values = samples(page.text(folder))
        assert {key: values[key] for key in expected} == pytest.approx(expected)
        others = [key for key in values if key not in expected]
        assert others
        assert all(name.endswith("_bucket") for _, _, _, name, *_ in others)
    assert len(values) > 400


def test_each_series_has_every_bucket(folder):
    buckets: dict[object, set[str]] = {}
    for _, kind, _, name, *labels in samples(MetricsPage().text(folder)):
        if kind == "histogram" and name.endswith("_bucket"):
            series = tuple(pair for pair in labels if pair[0] != "le")
            buckets.setdefault((name, series), set()).add(dict(labels)["le"])
    for metric in METRICS:
        for bounds in [b for (name, _), b in buckets.items() if name == f"{metric.name}_bucket"]:
            assert {float(bound) for bound in bounds} == {*metric.buckets, float("inf")}


def test_removed_files_are_not_on_the_page(folder):
    page = MetricsPage()
    assert b"modelway_workers " in page.text(folder)
    for path in folder.glob("gauge_*"):
        path.unlink()
    assert b"modelway_workers" not in page.text(folder)
    assert b"modelway_requests_total" in page.text(folder)


def test_a_file_of_the_next_worker_in_a_slot_is_another_one(tmp_path):
    page = MetricsPage()
    for upstreams in ("ab", "cab", "bc", "c"):
        worker_numbers = WorkerNumbers(tmp_path, 0)
        for number, upstream in enumerate(upstreams):
            worker_numbers.add(BREAKER, (upstream, ""), number + 1.0)
        worker_numbers.close()
        states = [line for line in page.text(tmp_path).decode().splitlines() if "{" in line]
        assert sorted(states) == sorted(
            f'modelway_breaker_state{{target="",upstream="{upstream}"}} {number + 1.0}'
            for number, upstream in enumerate(upstreams)
        )
        remove_gauges(tmp_path, 0)


def test_an_empty_file_is_ignored(folder):
    text = MetricsPage().text(folder)
    (folder / "counter_3.db").touch()
    assert MetricsPage().text(folder) == text


def test_keys_are_not_kept(tmp_path):
    """A worker that is scraped has the lines of all workers in its memory."""
    worker_numbers = WorkerNumbers(tmp_path, 0)
    for number in range(1000):
        worker_numbers.observe(DURATION, ("openai.createChatCompletion", f"model-{number}"), 0.3)
        worker_numbers.add(REFUSALS, ("openai.createChatCompletion", f"code-{number}"), 1.0)
    worker_numbers.close()
    page = MetricsPage()
    tracemalloc.start()
    page.text(tmp_path)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept / 3000 < 500


def test_an_empty_folder_is_an_empty_page(tmp_path):
    assert MetricsPage().text(tmp_path) == b""


def test_lines_of_addresses_that_left_are_not_kept(tmp_path):
    worker_numbers, page = WorkerNumbers(tmp_path, 0), MetricsPage()
    states = worker_numbers.numbers(BREAKER)

    def come_and_go(count):
        for number in range(count):
            place = states.place(("up", f"10.0.0.{number}:8000"))
            worker_numbers.keep_gauges({states: {place}})
            page.text(tmp_path)

    come_and_go(10)
    tracemalloc.start()
    come_and_go(300)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept < 10_000
    worker_numbers.close()
