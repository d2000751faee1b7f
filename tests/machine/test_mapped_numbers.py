"""Files of numbers that processes map."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.machine.mapped_numbers import CHUNK, PLACES, MappedNumbers, reserve
from engine.machine.worker_locks import try_lock


def test_two_mappings_of_a_file_have_the_same_numbers(tmp_path):
    one, other = (MappedNumbers(tmp_path / "a", "q", bytes_too=True) for _ in range(2))
    with closing(one), closing(other):
        one.view[CHUNK - 1], one.bytes[PLACES - 1] = -7, 255
        assert (other.view[CHUNK - 1], other.bytes[PLACES - 1]) == (-7, 255)
        assert (other.view[0], other.bytes[0]) == (0, 0)
        other.clear()
        assert (one.view[CHUNK - 1], one.bytes[PLACES - 1]) == (0, 0)


def test_a_mapping_has_the_lock_of_its_file_until_it_is_closed(tmp_path):
    with closing(MappedNumbers(tmp_path / "a", "d", fd=try_lock(tmp_path / "a"))):
        assert try_lock(tmp_path / "a") is None
    os.close(try_lock(tmp_path / "a"))


def test_a_file_has_all_its_room_before_it_is_written(tmp_path):
    with closing(MappedNumbers(tmp_path / "a", "q", bytes_too=True)):
        status = (tmp_path / "a").stat()
        assert status.st_size == CHUNK * 8 + PLACES
        assert status.st_blocks * 512 >= CHUNK * 8 + PLACES


@pytest.fixture
def file(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT, 0o600)
    yield fd
    os.close(fd)


@pytest.fixture
def most_bytes() -> Iterator[int]:
    """The size to which files can grow."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, hard))
    yield 150_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def not_supported(*_: int) -> None:
    raise OSError(errno.EOPNOTSUPP, "Operation not supported")


@pytest.fixture(params=["reserved", "written", "missing"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that can reserve, one that cannot, and a platform without the call."""
    if request.param == "written":
        monkeypatch.setattr(os, "posix_fallocate", not_supported)
    if request.param == "missing":
        monkeypatch.delattr(os, "posix_fallocate")


@pytest.mark.usefixtures("system")
def test_a_file_is_longer_has_its_bytes_and_its_blocks(file: int) -> None:
    os.pwrite(file, b"numbers", 0)
    for start, end in ((0, 100_000), (100_000, 200_000), (0, 4096)):
        reserve(file, start, end)
    status = os.fstat(file)
    assert status.st_size == 200_000
    assert status.st_blocks * 512 >= 200_000
    assert os.pread(file, 1 << 20, 0) == b"numbers".ljust(200_000, b"\0")


@pytest.mark.usefixtures("system")
def test_a_file_without_room_keeps_its_size(file: int, most_bytes: int) -> None:
    reserve(file, 0, 50_000)
    with pytest.raises(OSError, match="too large"):
        reserve(file, 50_000, most_bytes + 1)
    assert os.fstat(file).st_size == 50_000
    reserve(file, 50_000, most_bytes)
