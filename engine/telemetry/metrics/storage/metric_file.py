"""One file of numbers, in the format of prometheus_client's multiprocess mode.

    4 bytes   the bytes in use, these included; 4 more are empty
    records   4 bytes the length of a key, the key, spaces up to a multiple of 8 bytes in all,
              the number, and 8 bytes for a time, which is not used

Room is reserved before anything is written to the mapped file (`engine.machine.mapped_numbers`).
The last word of a file is in no record: numbers without a place of their own are written there.
"""

from __future__ import annotations

import mmap
import os
import struct
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from prometheus_client import mmap_dict

from engine.machine.mapped_numbers import reserve

UNCOUNTED = -1
"""The place of a number for which there is no room: the last word, which nobody reads."""

read_file: Callable[[str], Iterable[tuple[str, float, float, int]]]
read_file = mmap_dict.MmapedDict.read_all_values_from_file
"""The keys in a file with their numbers, times, and positions in bytes."""

_STEP = 1 << 14
"""The bytes by which a small file grows; a larger one by an eighth."""
_USED = struct.Struct("i")
_HEADER = 8
_WORD = 8


class MetricFile:
    """A file that one worker writes. `numbers` are its 8-byte words: the number of a key is at its
    place. It is opened, or created, with the first key.

    `is_full` is for the caller to set: nothing more is opened.
    """

    __slots__ = ("_fd", "_map", "_path", "_places", "_size", "_used", "is_full", "numbers")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = -1
        self._map: mmap.mmap | None = None
        self._size = self._used = 0
        self._places: dict[str, int] = {}  # of keys that an earlier worker has written
        self.is_full = False
        self.numbers: Any = memoryview(array("d", [0.0]))

    def open(self, keys: Sequence[str]) -> list[int]:
        """The places of keys, which are added if they are new. Raises OSError if there is no room
        for all of them; then none is added.

        A key is opened once and then forgotten: it takes more memory than everything else that a
        worker has of its number."""
        if self._map is None:
            self._open()
        records = {key: _record(key) for key in keys if key not in self._places}
        self._make_room(sum(map(len, records.values())))
        return [
            self._append(records[key]) if key in records else self._places.pop(key) for key in keys
        ]

    def move(self, path: Path) -> None:
        """Replace the file at another path by this one."""
        os.replace(self._path, path)
        self._path = path

    def close(self) -> None:
        """Close the file; nothing is counted after that."""
        self.numbers.release()
        if self._map is not None:
            self._map.close()
            os.close(self._fd)
            self._map = None

    def _open(self) -> None:
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            size = os.fstat(fd).st_size
            if not size:  # an earlier worker has reserved what there is
                size = _STEP
                reserve(fd, 0, size)
        except OSError:
            os.close(fd)
            raise
        self._fd = fd
        self._remap(size)
        self._used = _USED.unpack_from(self._whole)[0]
        if self._used:
            self._places = {
                key: position // _WORD for key, _, _, position in read_file(str(self._path))
            }
        else:
            self._set_used(_HEADER)

    @property
    def _whole(self) -> mmap.mmap:
        assert self._map is not None
        return self._map

    def _make_room(self, count: int) -> None:
        """Let so many bytes fit before the last word."""
        size = self._size
        while self._used + count > size - _WORD:
            size += max(_STEP, size // 8 // mmap.PAGESIZE * mmap.PAGESIZE)
        if size > self._size:
            reserve(self._fd, self._size, size)
            self._remap(size)

    def _remap(self, size: int) -> None:
        self._map, self._size = mmap.mmap(self._fd, size), size
        self.numbers = memoryview(self._map).cast("d")

    def _append(self, record: bytes) -> int:
        """Write a record, and then that it is in use: others read the file meanwhile."""
        end = self._used + len(record)
        self._whole[self._used : end] = record
        self._set_used(end)
        return end // _WORD - 2

    def _set_used(self, used: int) -> None:
        self._whole[: _USED.size] = _USED.pack(used)
        self._used = used


def _record(key: str) -> bytes:
    """The record of a key with the number 0."""
    data = key.encode()
    spaces = _WORD - (len(data) + _USED.size) % _WORD
    return _USED.pack(len(data)) + data + b" " * spaces + bytes(2 * _WORD)
