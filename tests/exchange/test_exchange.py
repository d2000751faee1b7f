"""What an exchange knows from its beginning."""

import pytest
from gevent import GreenletExit

from engine.exchange.exchange import MISSING, Exchange


def test_what_nobody_said_is_as_it_is_for_every_exchange():
    first, second = (Exchange("GET", "/", "", {}) for _ in range(2))
    assert (first.model, first.value, first.targets) == ("", MISSING, ())
    assert first.on_end is not second.on_end
    assert first.record is not second.record


def test_a_name_that_an_exchange_has_not_is_refused():
    with pytest.raises(TypeError, match="no modle"):
        Exchange("GET", "/", "", {}, modle="gpt")


def ending(*callbacks):
    exchange = Exchange("GET", "/", "", {}, "req_1")
    exchange.on_end += reversed(callbacks)  # the last one is called first
    return exchange


def test_a_callback_that_fails_at_the_end_is_logged_and_the_others_run(caplog):
    seen = []
    exchange = ending(lambda: seen.append(1), lambda: 1 / 0, lambda: seen.append(2))
    exchange.end()
    exchange.end()
    assert seen == [1, 2]
    assert caplog.text.count("request req_1: a step at its end failed") == 1
    assert "ZeroDivisionError" in caplog.text


def test_a_kill_in_the_middle_of_the_end_goes_on_after_the_other_callbacks():
    seen = []

    def killed():
        raise GreenletExit

    exchange = ending(lambda: seen.append(1), killed, lambda: seen.append(2), killed)
    with pytest.raises(GreenletExit):
        exchange.end()
    assert seen == [1, 2]
    assert not exchange.on_end
