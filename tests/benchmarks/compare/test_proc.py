"""What processes take, read from /proc."""

from __future__ import annotations

import pytest

from benchmarks.compare.proc import TICKS, Stat, below, parse_memory, parse_stat, seconds
from tests.support import paths

CASES = paths.CASES / "benchmarks"


def case(name: str) -> str:
    return (CASES / name).read_text()


def test_cpu_of_a_process_holds_that_of_its_ended_children():
    assert parse_stat(case("stat.txt")) == Stat(parent=4700, ticks=512 + 88 + 7 + 3)


def test_all_below_a_process_are_found():
    stats = {1: Stat(0, 5), 2: Stat(1, 7), 3: Stat(2, 11), 4: Stat(1, 13), 5: Stat(9, 17)}
    assert sorted(below(stats, 1)) == [1, 2, 3, 4]
    assert below(stats, 5) == [5]
    assert seconds([Stat(0, TICKS), Stat(1, TICKS)]) == 2.0


def test_memory_is_read_in_bytes():
    text = "00400000-7ffe [rollup]\nRss:  2048 kB\nPss:  1024 kB\nPss_Dirty: 4 kB\n"
    assert (parse_memory(text), parse_memory(text, "Rss")) == (1024 * 1024, 2048 * 1024)
    assert (
        0 < parse_memory(case("smaps_rollup.txt")) <= parse_memory(case("smaps_rollup.txt"), "Rss")
    )
    with pytest.raises(ValueError, match="no Pss"):
        parse_memory("")
