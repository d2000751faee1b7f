"""When a token is fetched, by a clock that stands still."""

from __future__ import annotations

import logging
import math

import gevent
import pytest
from gevent.event import Event

from engine.credentials.access_tokens import source as source_module
from engine.credentials.access_tokens.source import TokenSource
from engine.credentials.access_tokens.token import CredentialUnavailable, Token


class Server:
    """Gives tokens `1`, `2`, ... that live for `life` seconds; `failure` is raised instead. It
    answers when `gate` is set."""

    def __init__(self, life: float = 1000.0) -> None:
        self.now = 0.0
        self.life = life
        self.dice = 0.5
        self.failure: Exception | None = None
        self.gate = Event()
        self.gate.set()
        self.rejected_tokens: list[Token | None] = []
        self.changes = 0
        self.source = TokenSource(
            "a client",
            self.fetch,
            self.changed,
            clock=lambda: self.now,
            dice=lambda: self.dice,
        )

    def fetch(self, rejected_token: Token | None) -> Token:
        self.rejected_tokens.append(rejected_token)
        number = len(self.rejected_tokens)
        self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return Token({"token": str(number)}, self.now, self.now + self.life)

    def changed(self) -> None:
        self.changes += 1

    def get(self, now: float | None = None) -> str:
        """The token at a moment, after which what was begun has ended."""
        self.now = self.now if now is None else now
        token = self.source.get().values["token"]
        gevent.idle()
        return token

    @property
    def fetches(self) -> int:
        return len(self.rejected_tokens)


def test_nothing_is_fetched_before_a_request_needs_it() -> None:
    assert Server().fetches == 0


def test_a_token_is_fetched_once_and_used_until_its_renewal() -> None:
    server = Server()
    assert [server.get(now) for now in (0, 1, 799)] == ["1", "1", "1"]
    assert (server.fetches, server.changes) == (1, 1)


def test_requests_without_a_token_wait_for_the_same_fetch() -> None:
    server = Server()
    server.gate.clear()
    requests = [gevent.spawn(server.get) for _ in range(5)]
    gevent.idle()
    server.gate.set()
    gevent.joinall(requests)
    assert [request.value for request in requests] == ["1"] * 5
    assert server.fetches == 1


@pytest.mark.parametrize(("dice", "due"), [(0.0, 750), (0.5, 800), (0.999, 849.9)])
def test_a_token_is_renewed_at_about_80_percent_of_its_life(dice: float, due: float) -> None:
    server = Server()
    server.dice = dice
    server.get(0)
    server.get(due - 0.1)
    assert server.fetches == 1
    assert server.get(due + 0.1) == "1"  # it serves while the next one is fetched
    assert server.get() == "2"


def test_a_request_that_finds_no_valid_token_waits_for_the_next_one() -> None:
    server = Server()
    server.get(0)
    assert server.get(1000) == "2"


def test_without_an_end_a_token_is_renewed_each_hour() -> None:
    server = Server(math.inf)
    server.get(0)
    assert (server.get(3599), server.get(3601), server.get()) == ("1", "1", "2")


def test_the_old_token_serves_while_the_server_fails(caplog: pytest.LogCaptureFixture) -> None:
    server = Server()
    server.get(0)
    server.failure = CredentialUnavailable("it answered 500", "https://sts.test")
    assert [server.get(now) for now in (801, 999)] == ["1", "1"]
    assert "no new token of a client: it answered 500: https://sts.test" in caplog.text
    with pytest.raises(CredentialUnavailable, match="it answered 500"):
        server.get(1000)


def test_after_a_failure_requests_fail_at_once_until_the_next_fetch() -> None:
    server = Server()
    server.dice = 0.999999  # the longest pauses
    server.failure = CredentialUnavailable("no", lasting=True)
    pauses, now = [1, 2, 4, 8, 16, 32, 60, 60], 0.0
    for index, pause in enumerate(pauses):
        for moment in (now, now + pause - 0.01):
            with pytest.raises(CredentialUnavailable) as excinfo:
                server.get(moment)
            assert excinfo.value.lasting
        assert server.fetches == index + 1
        now += pause
    server.failure = None
    assert server.get(now) == str(len(pauses) + 1)


def test_a_token_that_has_ended_already_is_a_failure() -> None:
    server = Server(life=0)
    with pytest.raises(CredentialUnavailable, match="returned an expired token"):
        server.get(0)


def test_tokens_with_short_lives_are_fetched_once_a_second_at_most() -> None:
    server = Server(life=0.5)
    server.get(0)
    assert (server.get(0.45), server.fetches) == ("1", 1)
    with pytest.raises(CredentialUnavailable):
        server.get(0.6)
    assert (server.get(1.0), server.fetches) == ("2", 2)


def test_a_refused_token_is_fetched_anew() -> None:
    server = Server()
    server.get(0)
    assert server.source.renew()
    assert server.get() == "2"
    assert [token and token.values["token"] for token in server.rejected_tokens] == [None, "1"]


def test_refusals_of_requests_in_flight_do_not_fetch_again() -> None:
    server = Server()
    server.get(0)
    server.source.renew()
    server.get(1)
    assert server.source.renew()  # this one was sent with the first token
    assert server.get() == "2"


def test_a_refused_token_is_fetched_again_at_most_once_a_minute() -> None:
    server = Server()
    server.get(0)
    server.source.renew()
    server.get(0)
    server.now = 59
    assert not server.source.renew()
    server.now = 60
    assert server.source.renew()
    assert server.get() == "3"


def test_without_a_token_there_is_nothing_to_renew() -> None:
    server = Server()
    server.failure = CredentialUnavailable("no")
    with pytest.raises(CredentialUnavailable):
        server.get(0)
    assert not server.source.renew()


def test_the_token_before_the_current_one_is_still_known() -> None:
    server = Server()
    for now in (0, 1000, 2000):
        server.get(now)
    assert [token.values["token"] for token in server.source.tokens] == ["2", "3"]


def test_a_request_waits_as_long_as_it_may() -> None:
    server = Server()
    server.gate.clear()
    with pytest.raises(CredentialUnavailable, match="was not fetched in time"):
        server.source.get(0.01)
    server.gate.set()
    gevent.idle()


def test_no_request_waits_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "WAIT", 0.01)
    server = Server()
    server.gate.clear()
    with pytest.raises(CredentialUnavailable, match="was not fetched in time"):
        server.source.get(600)
    server.gate.set()
    gevent.idle()


def test_a_bug_of_a_fetch_is_a_failure_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    server = Server()
    server.failure = ZeroDivisionError("in the fetch")
    with (
        caplog.at_level(logging.ERROR),
        pytest.raises(CredentialUnavailable, match="ZeroDivisionError"),
    ):
        server.get()
    assert "in the fetch" in caplog.text
