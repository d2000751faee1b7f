"""Lines are written complete and in order, and no writer waits for a reader."""

from __future__ import annotations

import os
import socket
import stat
import time

import gevent
import pytest

from engine.telemetry import log_sink as module
from engine.telemetry.log_sink import Sink


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    yield reading, writing
    for fd in (reading, writing):
        os.close(fd)


def read(fd, size=1 << 20):
    os.set_blocking(fd, False)
    data_read = b""
    try:
        while data := os.read(fd, size):
            data_read += data
    except BlockingIOError:
        pass
    return data_read


def test_a_line_is_written_at_once(pipe):
    sink = Sink(pipe[1])
    sink.write(b"one\n")
    sink.write(b"two\n")
    assert read(pipe[0]) == b"one\ntwo\n"
    sink.close()


def test_lines_are_dropped_when_nobody_reads(pipe):
    sink = Sink(pipe[1], limit=100_000)
    line = b"x" * 999 + b"\n"
    for _ in range(1000):
        sink.write(line)
    assert 700 < sink.dropped < 1000
    sink.close(timeout=0.05)
    assert sink.dropped + len(read(pipe[0])) // 1000 == 1000


def test_queued_lines_follow_in_order(pipe):
    sink = Sink(pipe[1])
    lines = [b"%d %s\n" % (n, b"x" * 500) for n in range(300)]
    for line in lines:
        sink.write(line)
    data_read = b""
    with gevent.Timeout(10):
        while len(data_read) < sum(map(len, lines)):
            data_read += read(pipe[0])
            gevent.sleep(0.001)
    assert data_read == b"".join(lines)
    assert sink.dropped == 0
    sink.close()


def test_the_pipe_stays_blocking_for_others(pipe):
    Sink(pipe[1]).close()
    assert os.get_blocking(pipe[1])


def test_a_closed_pipe_drops_the_line(pipe):
    reading, writing = os.pipe()
    sink = Sink(writing)
    os.close(reading)
    sink.write(b"one\n")
    assert sink.dropped == 1
    sink.close()
    os.close(writing)


def test_a_socket_does_not_block():
    near, far = socket.socketpair()
    sink = Sink(near.fileno(), limit=1000)
    for _ in range(10_000):
        sink.write(b"x" * 99 + b"\n")
    assert sink.dropped > 0
    assert near.getblocking()
    assert far.recv(100) == b"x" * 99 + b"\n"
    sink.close(0.01)
    near.close()
    far.close()


def test_a_moved_file_is_created_again(tmp_path, monkeypatch):
    path = tmp_path / "logs" / "access.log"
    now = time.monotonic()
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    sink = Sink(str(path))
    sink.write(b"one\n")
    path.rename(tmp_path / "old")
    sink.write(b"two\n")  # within the second
    now += 2
    sink.write(b"three\n")
    assert (tmp_path / "old").read_bytes() == b"one\ntwo\n"
    assert path.read_bytes() == b"three\n"
    assert stat.S_IMODE(path.stat().st_mode) & 0o007 == 0
    sink.close()


def test_a_file_that_cannot_be_written_drops_lines(tmp_path):
    (tmp_path / "taken").write_text("")
    sink = Sink(str(tmp_path / "taken" / "access.log"))
    sink.write(b"one\n")
    assert sink.dropped == 1
    sink.close()


def test_a_descriptor_that_cannot_be_reopened_is_written_by_a_thread(pipe, monkeypatch):
    def refuses(*arguments):
        raise PermissionError

    monkeypatch.setattr(module.os, "open", refuses)
    sink = Sink(pipe[1])
    monkeypatch.undo()
    sink.write(b"one\n")
    sink.write(b"two\n")
    sink.close(5)
    assert read(pipe[0]) == b"one\ntwo\n"
