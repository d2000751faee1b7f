"""A file of numbers has room for what is written to it, also on a full file system."""

from __future__ import annotations

import mmap
import os
import subprocess
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.mmap_dict import MmapedDict

from engine.telemetry.metrics.storage.metric_file import UNCOUNTED, MetricFile, read_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "counter_0.db"


@pytest.fixture
def file(path: Path) -> Iterator[MetricFile]:
    file = MetricFile(path)
    yield file
    file.close()


@pytest.fixture
def small_memory(tmp_path: Path) -> Iterator[Path]:
    """A file system in memory of 1 MB."""
    folder = tmp_path / "memory"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.getuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a file system can be mounted by root only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path, free: int = 0) -> None:
    """Fill a file system but for some bytes."""
    status = os.statvfs(folder)
    with open(folder / "other", "wb") as other:
        os.posix_fallocate(other.fileno(), 0, status.f_bavail * status.f_frsize - free)


def test_it_is_what_prometheus_client_writes(file: MetricFile, path: Path) -> None:
    keys = ["", "ü", *("x" * length for length in range(1, 30))]
    other = MmapedDict(str(path.with_name("other.db")))
    for number, (key, place) in enumerate(zip(keys, file.open(keys), strict=True)):
        file.numbers[place] = float(number)
        other.write_value(key, float(number), 0.0)
    other.close()
    written, expected = path.read_bytes(), path.with_name("other.db").read_bytes()
    used = int.from_bytes(expected[:4], "little")
    assert written[:used] == expected[:used]


def test_it_has_room_before_it_is_written(file: MetricFile, path: Path) -> None:
    sizes = set()
    for number in range(3000):
        (place,) = file.open([f"key {number}"])
        file.numbers[place] = 1.0
        status = path.stat()
        assert status.st_blocks * 512 >= status.st_size > place * 8 + 16
        sizes.add(status.st_size)
    assert 3 < len(sizes) < 12
    assert status.st_size < 1.3 * 3000 * 40


def test_the_word_of_the_uncounted_is_in_no_record(file: MetricFile, path: Path) -> None:
    for number in range(3000):
        file.open([f"key {number}"])
        file.numbers[UNCOUNTED] += 1.0
    found = {key: value for key, value, *_ in read_file(str(path))}
    assert found == {f"key {number}": 0.0 for number in range(3000)}


def test_keys_are_opened_together_or_not_at_all(small_memory: Path) -> None:
    file = MetricFile(small_memory / "counter_0.db")
    (first,) = file.open(["first"])
    fill(small_memory)
    keys = [f"key {number}" for number in range(3000)]
    with pytest.raises(OSError, match="No space left"):
        file.open(keys)
    file.numbers[first] += 1.0
    assert [key for key, *_ in read_file(str(small_memory / "counter_0.db"))] == ["first"]
    (small_memory / "other").unlink()
    assert len(file.open(keys)) == 3000
    file.close()


def test_a_worker_without_room_lives(small_memory: Path) -> None:
    """It writes all that it may, and a write to a page without room would end it."""
    pid = os.fork()
    if not pid:
        kept, file = MetricFile(small_memory / "counter_0.db"), MetricFile(small_memory / "new.db")
        kept.open(["first"])
        fill(small_memory, free=20_000)
        refused = 0
        for number in range(3000):
            for each in (kept, file):
                try:
                    (place,) = each.open([f"key {number}"])
                except OSError:
                    refused, place = refused + 1, UNCOUNTED
                each.numbers[place] += 1.0
        os._exit(0 if refused else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_a_worker_takes_a_file_over_without_room(small_memory: Path) -> None:
    path = small_memory / "counter_0.db"
    earlier = MetricFile(path)
    for number in range(3000):
        earlier.open([f"key {number}"])
    earlier.close()
    fill(small_memory)
    following = MetricFile(path)
    (place,) = following.open(["key 2999"])
    following.numbers[place] = 7.0
    following.close()
    assert [value for key, value, *_ in read_file(str(path)) if key == "key 2999"] == [7.0]


def test_a_full_file_has_a_word_more_for_the_uncounted(file: MetricFile, path: Path) -> None:
    file.open(["x" * ((1 << 14) - 8 - 21)])  # a record of all of the first size
    file.numbers[UNCOUNTED] += 1.0
    assert [(value, time) for _, value, time, _ in read_file(str(path))] == [(0.0, 0.0)]


def test_a_record_is_complete_before_it_is_in_use(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys_by_write = []

    class ReadAtEachWrite(mmap.mmap):
        def __setitem__(self, *args: Any) -> None:
            super().__setitem__(*args)
            keys_by_write.append([key for key, *_ in read_file(str(path))])

    monkeypatch.setattr(mmap, "mmap", ReadAtEachWrite)
    file = MetricFile(path)
    file.open(["a", "bc"])
    file.close()
    assert keys_by_write == [[], [], ["a"], ["a"], ["a", "bc"]]


def test_a_large_file_seldom_grows(file: MetricFile, path: Path) -> None:
    sizes = set()
    for number in range(200):
        file.open([f"key {number}" + "x" * 20_000])
        sizes.add(path.stat().st_size)
    assert len(sizes) < 50
    assert path.stat().st_size < 1.2 * 200 * 20_000


def test_a_key_of_an_earlier_worker_is_forgotten_as_well(path: Path) -> None:
    keys = [f"key {number}" for number in range(1000)]
    earlier_file = MetricFile(path)
    places = earlier_file.open(keys)
    earlier_file.close()
    tracemalloc.start()
    file = MetricFile(path)
    file.open(keys[:1])
    all_keys = tracemalloc.get_traced_memory()[0]
    assert file.open(keys[1:]) == places[1:]
    assert tracemalloc.get_traced_memory()[0] < all_keys / 2
    tracemalloc.stop()
    file.close()
