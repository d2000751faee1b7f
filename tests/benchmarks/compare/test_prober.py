"""Small chats at a steady pace."""

from __future__ import annotations

import socket
import time

import pytest

from benchmarks.compare.prober import Refused, is_whole, read_answer, wait_until


@pytest.mark.parametrize(
    ("data", "is_complete"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", True),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n", False),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", True),
    ],
)
def test_an_answer_is_read_to_its_end(data, is_complete):
    assert is_whole(data) == is_complete


def test_an_answer_without_success_is_a_failure():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        with pytest.raises(Refused, match="413 Too Large"):
            read_answer(ours)
        theirs.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
        theirs.close()
        with pytest.raises(Refused, match="broke off"):
            read_answer(ours)


def test_a_chat_that_had_to_wait_for_a_connection_counts_from_when_it_was_due():
    due = time.monotonic() - 5
    assert wait_until(due) == due


def test_a_timer_that_fires_late_is_not_counted():
    due = time.monotonic() + 0.01
    assert wait_until(due) >= due
