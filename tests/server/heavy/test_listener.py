"""A heavy worker serves what is passed to it, until no worker is left."""

from __future__ import annotations

import os
from collections.abc import Iterator

import gevent
import pytest
from gevent.os import make_nonblocking, nb_read

from tests.support.heavy_pair import LARGE, SMALL, Processes
from tests.support.waiting import PATIENCE


@pytest.fixture
def processes() -> Iterator[Processes]:
    both = Processes()
    yield both
    both.close()


def test_it_ends_with_the_last_worker(processes: Processes) -> None:
    gevent.sleep(0)
    assert len(processes.listener.connections) == 1
    processes.channel.keep_receiving()
    processes.listener.connections.join(PATIENCE)
    assert not processes.listener.connections


def test_a_process_that_ends_before_it_has_answered(processes: Processes) -> None:
    processes.heavy.dies = True
    assert processes.answers(LARGE, SMALL) == ["500"]


def test_descriptors_without_a_request_are_closed(processes: Processes) -> None:
    read, write = os.pipe()
    processes.channel.send([write])
    os.close(write)
    make_nonblocking(read)
    with gevent.Timeout(PATIENCE):
        assert nb_read(read, 1) == b""  # its end
    os.close(read)
    assert processes.answers(LARGE) == ["heavy /large 10.0.0.1 20"]
