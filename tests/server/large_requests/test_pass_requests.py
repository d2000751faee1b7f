"""Requests with large bodies are passed, and their connections go on."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

import gevent
import gevent.socket
import pytest

from engine.process.loop_turn import SECONDS
from engine.server.large_requests.large_sizes import Lesson
from engine.server.large_requests.passed_request import receive_request
from tests.support.heavy_pair import CHUNKED, LARGE, LAST, SMALL, Processes

SIZES = ((b"/costly", 4_096), (b"/costly", 5_000), (b"/other", 5_000))


@pytest.fixture
def processes() -> Iterator[Processes]:
    both = Processes()
    yield both
    both.close()


def test_a_large_request_is_passed_and_its_connection_goes_on(processes: Processes) -> None:
    assert processes.answers(SMALL + LARGE + SMALL, LARGE) == [
        "worker /small 10.0.0.1 2",
        "heavy /large 10.0.0.1 20",
        "worker /small 10.0.0.1 2",
        "heavy /large 10.0.0.1 20",
    ]


def test_a_body_in_chunks_stays_if_all_of_it_has_arrived(processes: Processes) -> None:
    assert processes.answers(CHUNKED + LAST) == ["worker /chunked 10.0.0.1 3"]


def test_a_body_in_chunks_that_has_not_arrived_may_become_large(processes: Processes) -> None:
    processes.caller.sendall(CHUNKED)
    gevent.sleep(0.05)
    assert processes.answers(LAST) == ["heavy /chunked 10.0.0.1 3"]


def test_a_body_in_chunks_that_looks_complete_is_read_to_see(processes: Processes) -> None:
    head = CHUNKED.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    processes.caller.sendall(head + b"b\r\nxxxxxx" + LAST)
    gevent.sleep(0.05)
    assert processes.answers(b"\r\n" + LAST) == ["heavy /chunked 10.0.0.1 11"]


def test_a_body_in_wrong_chunks_is_left_to_the_worker(processes: Processes) -> None:
    head = CHUNKED.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    assert processes.answers(head + b"wrong\r\n") == ["400"]


def test_bodies_of_a_costly_operation_are_passed_before_others() -> None:
    both = Processes(above=100_000)
    both.passing.sizes.learn(Lesson("/costly", 8_000, 2 * SECONDS))
    head, body = b"POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", b"x" * 5_000
    requests = [head % (path, size) + body[:size] for path, size in SIZES]
    chunked = CHUNKED.partition(b"3\r\n")[0] + b"1388\r\n" + body + b"\r\n" + LAST
    try:
        assert both.answers(*requests, chunked) == [
            "worker /costly 10.0.0.1 4096",
            "heavy /costly 10.0.0.1 5000",
            "worker /other 10.0.0.1 5000",
            "heavy /chunked 10.0.0.1 5000",
        ]
    finally:
        both.close()


def test_bodies_that_may_be_costly_are_passed_until_one_has_shown_what_it_costs() -> None:
    both = Processes(above=100_000)
    both.heavy.seconds = 0.0
    head, body = b"POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", b"x" * 9_000
    slow, other = (head % (path, len(body)) + body for path in (b"/slow", b"/other"))
    try:
        assert both.answers(slow, slow, other) == [
            "heavy /slow 10.0.0.1 9000",
            "worker /slow 10.0.0.1 9000",
            "worker /other 10.0.0.1 9000",
        ]
    finally:
        both.close()


def test_heavy_workers_that_do_not_keep_up(processes: Processes) -> None:
    processes.listener.connections.kill()
    while processes.channel.send([0]):
        pass
    assert processes.answers(LARGE) == ["503"]


def test_a_heavy_worker_that_does_not_begin_in_time(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.server.large_requests.pass_requests.START_SECONDS", 0.05)
    processes.listener.connections.kill()
    assert processes.answers(LARGE) == ["503"]


@pytest.mark.parametrize(("deaths", "answer"), [(1, "heavy /large 10.0.0.1 20"), (2, "503")])
def test_a_heavy_worker_that_dies_before_it_has_read_the_request(
    processes: Processes, deaths: int, answer: str
) -> None:
    processes.listener.connections.kill()

    def die() -> None:
        for _ in range(deaths):
            for descriptor in processes.channel.receive() or ():
                os.close(descriptor)
        processes.listener.start()

    gevent.spawn(die)
    assert processes.answers(LARGE) == [answer]


@pytest.mark.parametrize("is_read", [True, False])
def test_a_heavy_worker_that_dies_with_the_request(processes: Processes, is_read: bool) -> None:
    """One that it has read may have gone to an upstream."""
    processes.listener.connections.kill()

    def die() -> None:
        caller, report = processes.channel.receive() or ()
        os.close(caller)
        with gevent.socket.socket(fileno=report) as worker:
            if is_read:
                receive_request(worker)
            else:
                worker.sendall(b"y")
        processes.listener.start()

    gevent.spawn(die)
    assert processes.answers(LARGE) == ["500" if is_read else "heavy /large 10.0.0.1 20"]


def test_without_descriptors_the_worker_serves_it_itself(
    processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted() -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(
        "engine.server.large_requests.pass_requests.gevent.socket.socketpair", exhausted
    )
    assert processes.answers(LARGE) == ["worker /large 10.0.0.1 20"]


def test_without_heavy_workers_the_worker_serves_it_itself(processes: Processes) -> None:
    processes.listener.connections.kill()
    processes.channel.keep_sending()
    assert processes.answers(LARGE) == ["worker /large 10.0.0.1 20"]
