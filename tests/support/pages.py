"""The console in front of a mock, and in front of an upstream that says what a test wants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.recording import Recorder, recorder
from tests.support.running import (
    Platform,
    Running,
    gateway,
    mock,
    patient,
    pointed_at,
    replaced,
    shipped,
)

_PRICES = """
prices:
  gpt-4o: {input: 2.5, output: 10, cached_input: 1.25}
"""
_FAULTS = """
  "fault-*": {to: [{upstream: openai}, {upstream: anthropic}, {upstream: gemini}]}
"""


def _config(folder: Path) -> str:
    config = replaced(shipped(folder), r"\nroutes:\n", f"{_FAULTS}{_PRICES}\nroutes:\n")
    return patient(config).replace("workers: 2", "workers: 1")


@contextmanager
def console(folder: Path) -> Iterator[Platform]:
    """The shipped gateway with prices and faults, before a mock that takes its time."""
    config = _config(folder / "project")
    with (
        mock(folder, "--delay", "0.02") as upstream,
        gateway(folder / "project", config, pointed_at(upstream.url)) as front,
    ):
        yield Platform(front, upstream, folder / "project")


@contextmanager
def told(folder: Path) -> Iterator[tuple[Running, Recorder]]:
    """The same before a Recorder, whose `speak` a test sets."""
    folder.mkdir(exist_ok=True)
    with recorder() as upstream:
        config = _config(folder / "project")
        with gateway(folder / "project", config, pointed_at(upstream.url)) as front:
            yield front, upstream
