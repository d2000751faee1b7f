"""Files of numbers that processes map."""

from __future__ import annotations

import os
from contextlib import closing

from engine.machine.mapped_numbers import CHUNK, PLACES, MappedNumbers
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
