"""Locks of files, and numbers of workers."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from engine.machine.worker_locks import lock_number, locked, try_lock


def test_a_lock_is_free_when_its_descriptor_is_closed(tmp_path):
    fd = try_lock(tmp_path / "a")
    assert try_lock(tmp_path / "a") is None
    os.close(fd)
    os.close(try_lock(tmp_path / "a"))
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_a_lock_is_free_when_its_process_is_killed(tmp_path):
    program = (
        "import sys\nfrom pathlib import Path\nfrom engine.machine.worker_locks import try_lock\n"
        "print(try_lock(Path(sys.argv[1])) is not None, flush=True)\ninput()\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "a")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == b"True\n"
        assert try_lock(tmp_path / "a") is None
        process.kill()
        process.wait()
    os.close(try_lock(tmp_path / "a"))


def test_the_first_number_that_no_process_has_locked_is_taken(tmp_path):
    def path_of(number: int):
        return tmp_path / f"{number}.lock"

    locks = [lock_number(path_of) for _ in range(3)]
    assert [number for number, _ in locks] == [0, 1, 2]
    os.close(locks[1][1])
    locks[1] = lock_number(path_of)
    assert locks[1][0] == 1
    for _, fd in locks:
        os.close(fd)


def test_a_file_is_locked_within_the_context(tmp_path):
    with locked(tmp_path / "a"):
        assert try_lock(tmp_path / "a") is None
    os.close(try_lock(tmp_path / "a"))


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        try_lock(tmp_path / "none" / "a")
