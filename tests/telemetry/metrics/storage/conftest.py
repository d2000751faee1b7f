"""The numbers of a worker, and a full file system."""

from __future__ import annotations

import errno
import os

import pytest

from engine.telemetry.metrics.storage.worker_numbers import WorkerNumbers


@pytest.fixture
def worker_numbers(tmp_path):
    worker_numbers = WorkerNumbers(tmp_path, 0)
    yield worker_numbers
    worker_numbers.close()


@pytest.fixture
def full(monkeypatch):
    """The file system has room only for what is reserved."""
    calls = []

    def reserve(*_):
        calls.append(1)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fill():
        monkeypatch.setattr(os, "posix_fallocate", reserve)
        return calls

    yield fill
    monkeypatch.undo()
