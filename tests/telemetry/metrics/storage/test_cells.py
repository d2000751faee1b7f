"""The numbers of a worker, and when they are in its file."""

from __future__ import annotations

from pathlib import Path

from prometheus_client.mmap_dict import MmapedDict

from engine.telemetry.metrics.storage.cells import Cells
from engine.values.metric import counter, gauge, histogram

REQUESTS = counter("requests_total", "route", "Requests.")
OPEN = gauge("open_connections", "", "Connections.")
SECONDS = histogram("seconds", "", "Seconds.", (1.0, 2.0))


def numbers(folder: Path, kind: str) -> list[float]:
    """What another process reads in the file of a kind of metric."""
    values = MmapedDict.read_all_values_from_file(str(folder / f"{kind}_7.db"))
    return [value for _, value, _, _ in values]


def test_numbers_that_changed_are_written_together(tmp_path: Path) -> None:
    cells = Cells(tmp_path, 7)
    for _ in range(3):
        cells.cell(REQUESTS, "a").add(2.0)
    cells.cell(OPEN).set(5.0)
    cells.distribution(SECONDS).observe(1.5)
    assert numbers(tmp_path, "counter") == [0.0]
    cells.write()
    assert numbers(tmp_path, "counter") == [6.0]
    assert numbers(tmp_path, "gauge_livesum") == [5.0]
    assert numbers(tmp_path, "histogram") == [0.0, 1.0, 0.0, 1.5]
    cells.close()


def test_a_number_can_be_written_at_once(tmp_path: Path) -> None:
    cells = Cells(tmp_path, 7)
    cells.cell(REQUESTS, "a").add(2.0)
    cells.cell(REQUESTS, "a").write()
    assert numbers(tmp_path, "counter") == [2.0]
    cells.close()
    again = Cells(tmp_path, 7)
    again.cell(REQUESTS, "a").add(1.0)
    again.write()
    assert numbers(tmp_path, "counter") == [3.0]
    again.close()
