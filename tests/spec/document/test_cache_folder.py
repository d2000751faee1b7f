"""The user's folder for cache entries. Who may write it is tested with entries: test_cache.py."""

from __future__ import annotations

import os
import time
from pathlib import Path

from engine.spec.document.cache_folder import folder_of, read, write
from tests.support.each import each


@each(
    ("environ", "expected"),
    [
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/modelway"),
        ({"HOME": "/h"}, "/h/.cache/modelway"),
        ({"XDG_CACHE_HOME": "relative"}, None),
        ({}, None),
    ],
)
def test_the_folder_is_the_users(environ: dict[str, str], expected: str | None) -> None:
    assert folder_of(environ) == (None if expected is None else Path(expected))


def test_an_entry_is_what_was_written(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "a.json"
    assert read(file) is None
    write(file, b"1", most=2)
    assert read(file) == b"1"


def test_only_entries_of_the_same_kind_make_room(tmp_path: Path) -> None:
    for name in ("a.json", "b.findings", "c.findings", "d.findings"):
        write(tmp_path / "cache" / name, b"", most=1)
    assert len(list((tmp_path / "cache").glob("*.findings"))) == 1
    assert (tmp_path / "cache" / "a.json").exists()


def test_the_entry_that_was_read_last_stays(tmp_path: Path) -> None:
    first, second, third = (tmp_path / "cache" / f"{name}.json" for name in "abc")
    for age, file in ((20, first), (10, second)):
        write(file, b"", most=2)
        os.utime(file, (time.time() - age,) * 2)
    read(first)
    write(third, b"", most=2)
    assert {first, third} == {*first.parent.iterdir()}
