"""Large requests take turns, fair between callers."""

from __future__ import annotations

import gevent
import pytest

from engine.exchange.turns import Turns
from engine.values.errors import GatewayError


class Requests:
    """Requests that take turns; `order` is that in which they got theirs."""

    def __init__(self, most: int = 100) -> None:
        self.turns = Turns(most)
        self.order: list[str] = []
        self.greenlets: dict[str, gevent.Greenlet] = {}

    def arrive(self, *names: str) -> None:
        """Requests of the callers by their first letters, one after the other."""
        for name in names:
            self.greenlets[name] = gevent.spawn(self._take, name)
            gevent.sleep(0)

    def _take(self, name: str) -> None:
        try:
            self.turns.enter(name)
            self.turns.begin(name, name[0])
            self.order.append(name)
            gevent.sleep(1000)
        finally:
            self.turns.leave(name)

    def end(self, name: str) -> None:
        self.greenlets[name].kill()
        gevent.sleep(0)

    def run(self) -> list[str]:
        """End one after the other as each gets its turn; the order of all."""
        for number in range(len(self.greenlets)):
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
    requests.end("a2")
    requests.end("b1")
    requests.end("a1")
    assert requests.order == ["a1", "b2"]
    requests.end("b2")
    requests.arrive("c1")
    assert requests.order == ["a1", "b2", "c1"]
    requests.end("c1")


def test_a_request_may_leave_before_it_ends() -> None:
    requests = Requests()
    requests.arrive("a1", "a2")
    requests.turns.leave("a1")
    gevent.sleep(0)
    requests.turns.leave("a1")
    assert requests.order == ["a1", "a2"]
    requests.end("a1")
    requests.end("a2")


def test_a_request_beyond_the_most_is_refused() -> None:
    turns = Turns(2)
    turns.enter("a")
    turns.enter("b")
    with pytest.raises(GatewayError) as refused:
        turns.enter("c")
    assert (refused.value.status, refused.value.code) == (503, "too_many_large_requests")
    assert ("retry-after", "1") in refused.value.headers
    turns.leave("a")
    turns.enter("c")
