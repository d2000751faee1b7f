"""The export of metrics by one of the workers."""

from __future__ import annotations

import pytest

pytest.importorskip("opentelemetry.proto", reason="needs the extra otel")

from engine.telemetry.metrics.exporter import MetricsExporter, exports_collector
from engine.values.upstream_request import PostResult


class World:
    def __init__(self, folder, *results):
        self.folder = folder
        self.results = list(results)
        self.posts = []
        self.intervals = []
        self.warnings = []

    def worker(self):
        return MetricsExporter(
            self.folder, lambda: b"page", self.encode, self.post, seconds=60.0, warn=self.warn
        )

    def encode(self, page, interval):
        self.intervals.append(interval)
        yield page.encode() + b" 1"
        yield page.encode() + b" 2"

    def post(self, body):
        self.posts.append(body)
        return self.results.pop(0) if self.results else PostResult(200)

    def warn(self, message, *values):
        self.warnings.append(message % values)


def test_one_of_two_workers_exports_until_it_ends(tmp_path):
    world = World(tmp_path)
    first, second = world.worker(), world.worker()
    first.export()
    second.export()
    assert world.posts == [b"page 1", b"page 2"]
    first.close()
    second.export()
    assert len(world.posts) == 4
    second.close()


def test_the_counting_began_before_the_first_worker_that_exports(tmp_path):
    world = World(tmp_path)
    for _ in range(2):
        worker = world.worker()
        worker.export()
        worker.close()
    first, second = world.intervals
    assert first.start == second.start <= first.now < second.now


def test_what_the_collector_does_not_take_is_reported_and_counted(tmp_path):
    world = World(tmp_path, PostResult(503), PostResult(0, "connection refused"))
    worker = world.worker()
    for _ in range(3):
        worker.export()
    assert world.warnings == [
        "the collector did not take the metrics: status 503",
        "the collector did not take the metrics: connection refused",
    ]
    assert world.posts == [b"page 1", b"page 1", b"page 1", b"page 2"]
    assert [sample[1:] for sample in exports_collector(worker)()] == [
        (("sent",), 1),
        (("failed",), 2),
    ]
    worker.close()
