"""Large requests take turns, fair between callers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import gevent
import pytest
from gevent.os import make_nonblocking, nb_read

from engine.exchange.large_request_turns import Turns
from engine.values.errors import GatewayError
from tests.support.waiting import PATIENCE, until


class Requests:
    """Requests that take turns; `order` is that in which they got theirs, `refusals` are those that
    got none."""

    def __init__(self, most: int = 100) -> None:
        self.turns = Turns(most)
        self.order: list[str] = []
        self.refusals: dict[str, GatewayError] = {}
        self.greenlets: dict[str, gevent.Greenlet] = {}

    def arrive(self, *names: str) -> None:
        """Requests of the callers by their first letters, one after the other."""
        for name in names:
            self.greenlets[name] = gevent.spawn(self._take, name)
            gevent.sleep(0)

    def _take(self, name: str) -> None:
        try:
            self.turns.begin(name, name[0])
            self.order.append(name)
            gevent.sleep(1000)
        except GatewayError as error:
            self.refusals[name] = error
        finally:
            self.turns.end(name)

    def end(self, name: str) -> None:
        self.greenlets[name].kill()
        gevent.sleep(0.01)

    def run(self) -> list[str]:
        """End one after the other as each gets its turn; the order of all."""
        for number in range(len(self.greenlets) - len(self.refusals)):
            until(lambda n=number: len(self.order) > n, "a turn", sleep=gevent.sleep)  # type: ignore[misc]
            self.end(self.order[number])
        return self.order


def test_one_request_has_the_turn() -> None:
    requests = Requests()
    requests.arrive("a1", "a2")
    assert requests.order == ["a1"]
    assert requests.run() == ["a1", "a2"]


def test_a_caller_with_many_requests_waits_for_those_of_others() -> None:
    requests = Requests()
    requests.arrive("a1", "a2", "a3", "a4", "b1", "c1", "b2")
    assert requests.run() == ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]


def test_a_caller_who_leaves_gets_no_turn() -> None:
    requests = Requests()
    requests.arrive("a1", "a2", "b1", "b2")
    for name in ("a2", "b1", "a1"):
        requests.end(name)
    assert requests.order == ["a1", "b2"]
    requests.end("b2")
    requests.arrive("c1")
    assert requests.order == ["a1", "b2", "c1"]
    requests.end("c1")


def test_a_request_may_end_its_turn_before_it_ends() -> None:
    requests = Requests()
    requests.arrive("a1", "a2")
    requests.turns.end("a1")
    gevent.sleep(0.01)
    requests.turns.end("a1")
    assert requests.order == ["a1", "a2"]
    requests.end("a1")
    requests.end("a2")


def test_the_most_may_wait_and_the_newcomer_is_refused() -> None:
    requests = Requests(most=2)
    requests.arrive("a1", "a2", "b1", "a3", "b2")
    assert list(requests.refusals) == ["a3", "b2"]
    for error in requests.refusals.values():
        assert (error.status, error.code) == (503, "too_many_large_requests")
        assert ("retry-after", "1") in error.headers
    assert requests.run() == ["a1", "a2", "b1"]


def test_a_caller_with_many_requests_makes_room_for_others() -> None:
    requests = Requests(most=4)
    requests.arrive("a1", "a2", "a3", "a4", "a5", "b1", "c1", "b2", "a6")
    assert list(requests.refusals) == ["a5", "a4", "b2", "a6"]
    assert requests.run() == ["a1", "a2", "b1", "c1", "a3"]


@pytest.fixture
def pipes() -> Iterator[dict[str, tuple[int, int]]]:
    new_pipes = {name: os.pipe() for name in ("a1", "a2", "a3", "b1")}
    for read, _ in new_pipes.values():
        make_nonblocking(read)
    yield new_pipes
    for ends in new_pipes.values():
        for descriptor in ends:
            os.close(descriptor)


def test_what_arrives_while_one_computes_waits_with_the_others(
    pipes: dict[str, tuple[int, int]],
) -> None:
    """Computing does not let the event loop read: without a pause behind it, requests would compute
    as their bodies happen to be read."""
    turns, order = Turns(100), list[str]()

    def serve(name: str) -> None:
        nb_read(pipes[name][0], 1)
        turns.begin(name, name[0])
        order.append(name)
        if len(order) == 1:
            for other in ("a2", "a3", "b1"):
                os.write(pipes[other][1], b"x")
        time.sleep(0.01)  # it computes
        turns.end(name)

    serving = [gevent.spawn(serve, name) for name in pipes]
    os.write(pipes["a1"][1], b"x")
    gevent.joinall(serving, timeout=PATIENCE, raise_error=True)
    assert order[0] == "a1"
    assert order.index("b1") <= 2
