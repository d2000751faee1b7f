"""The services of a worker are closed when it ends."""

import logging

from engine.exchange.stage_services import Services


def test_services_are_closed_last_in_first_out():
    order = []
    Services(closing=[lambda: order.append("first"), lambda: order.append("last")]).close()
    assert order == ["last", "first"]


def test_a_failure_is_logged_and_the_others_are_closed(caplog):
    order = []

    def fail():
        raise OSError("the disk is full")

    with caplog.at_level(logging.ERROR, "modelway"):
        Services(closing=[lambda: order.append("first"), fail]).close()
    assert order == ["first"]
    assert "the disk is full" in caplog.text


def test_default_services_know_no_token_and_count_nothing():
    services = Services()
    assert services.tokens.get("digest") is None
    assert services.counters is None
