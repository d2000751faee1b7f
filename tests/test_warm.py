"""A warm start does what a cold one does: `support/warm.py`."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.leaks import current_resources
from tests.support.running import engine, environment, modelway
from tests.support.waiting import PATIENCE, until
from tests.support.warm import Warm, WarmProcess

BROKEN = "version: 1\nupstreams: {main: {url: '${ADDRESS}'}}\n"


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    process = Warm()
    yield process
    process.stop()


def start(warm: Warm, folder: Path, *arguments: str, **variables: str) -> WarmProcess:
    with (folder / "output").open("wb") as out:
        return warm.start(arguments, folder, environment(variables), out)


def test_status_and_output_are_those_of_a_cold_start(warm: Warm, tmp_path: Path) -> None:
    """In the same folder and environment."""
    (tmp_path / "gateway.yaml").write_text(BROKEN)
    for words in (["check"], ["--version"], ["no-such-command"]):
        cold = subprocess.run(
            engine(*words),
            cwd=tmp_path,
            env=environment({"ADDRESS": "http://x"}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert start(warm, tmp_path, *words, ADDRESS="http://x").wait(PATIENCE) == cold.returncode
        assert (tmp_path / "output").read_bytes() == cold.stdout, words


def test_it_leads_a_session_and_ends_by_a_signal(warm: Warm, tmp_path: Path) -> None:
    process = start(warm, tmp_path, "mock", "--port", "0")
    try:
        until(lambda: os.getsid(process.pid) == process.pid, "a session")
        assert process.poll() is None
        assert process.pid in current_resources().processes, "a test may not leave it behind"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05)
    finally:
        process.kill()
    assert process.wait(PATIENCE) == -signal.SIGKILL
    assert process.pid not in current_resources().processes


def test_a_command_has_two_outputs(tmp_path: Path) -> None:
    """Cold and warm alike."""
    (tmp_path / "gateway.yaml").write_text(BROKEN)
    for words in (["check"], ["check", "--format", "json"], ["serve"], ["no-such-command"]):
        cold, warm = (
            modelway(*words, cwd=tmp_path, environ={"ADDRESS": "http://x"}, warm=warm)
            for warm in (False, True)
        )
        assert (warm.returncode, warm.stdout) == (cold.returncode, cold.stdout), words
        assert warm.stderr == cold.stderr, words
