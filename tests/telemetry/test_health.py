"""A worker reports its health: the details to operators only."""

from __future__ import annotations

import pytest

from engine.telemetry.health import ConfigStatus, Health, StoreCheck, pages
from engine.values.client_address import networks
from engine.values.errors import GatewayError
from tests.support.exchanges import new_exchange

LOOPBACK = networks(["127.0.0.0/8", "::1"])


def ask(path, health=None, proxies=(), page=lambda: b"numbers", unix_socket=False, **environ):
    environ.setdefault("REMOTE_ADDR", "127.0.0.1")
    handlers = pages(
        health or Health(),
        metrics="/metrics",
        page=page,
        allowed=LOOPBACK,
        proxies=proxies,
        clock=lambda: 107.5,
        unix_socket=unix_socket,
    )
    return handlers[path](new_exchange("GET", path, "", environ))


def away(error="no answer", needed=True, clock=lambda: 0.0):
    return StoreCheck(lambda: error, lambda reached: needed, clock)


def test_liveness_is_public():
    answer = ask("/healthz", REMOTE_ADDR="203.0.113.9")
    assert (answer.status, answer.body) == (200, b"ok\n")


def test_operators_see_the_details_of_readiness():
    health = Health(ConfigStatus("abc", 100.0), {"records": away(error="")}, version="1.2")
    answer = ask("/readyz", health)
    assert answer.status == 200
    assert b'"status":"ready"' in answer.body
    assert b'"hash":"abc","loaded":100.0,"age":7.5,"last_reload_error":null' in answer.body
    assert b'"stores":{"records":"ok"}' in answer.body


def test_others_see_only_whether_it_is_ready():
    health = Health(checks={"records": away("postgres at db1")})
    answer = ask("/readyz", health, REMOTE_ADDR="203.0.113.9")
    assert (answer.status, answer.body) == (503, b"not ready\n")


def test_an_unreachable_store_stops_a_worker_that_needs_it():
    assert ask("/readyz", Health(checks={"counters": away(needed=False)})).status == 200
    assert ask("/readyz", Health(checks={"counters": away(needed=True)})).status == 503


def test_a_stopping_worker_is_not_ready():
    health = Health()
    health.stop()
    answer = ask("/readyz", health)
    assert (answer.status, b'"status":"stopping"' in answer.body) == (503, True)


def test_a_worker_stays_ready_after_a_refused_reload():
    health = Health(ConfigStatus(error="gateway.yaml:3:1: no such upstream"))
    answer = ask("/readyz", health)
    assert answer.status == 200
    assert b"gateway.yaml:3:1" in answer.body


def test_a_store_is_probed_at_most_every_two_seconds():
    times, probes = [0.0], []
    check = StoreCheck(
        lambda: probes.append(1) or "", lambda reached: not reached, lambda: times[0]
    )
    check.refresh()
    check.refresh()
    times[0] = 3.0
    check.refresh()
    assert len(probes) == 2


def test_a_store_may_be_needed_only_until_it_was_reached():
    error, times = [""], [0.0]
    check = StoreCheck(lambda: error[0], lambda reached: not reached, lambda: times[0])
    check.refresh()
    error[0], times[0] = "away", 5.0
    check.refresh()
    assert (check.error, check.fatal) == ("away", False)


@pytest.mark.parametrize(
    ("environ", "proxies", "passes"),
    [
        ({"REMOTE_ADDR": "127.0.0.1"}, (), True),
        ({"REMOTE_ADDR": "::1"}, (), True),
        ({"REMOTE_ADDR": "203.0.113.9"}, (), False),
        ({"REMOTE_ADDR": ""}, (), False),
        # A proxy on this machine that the config does not know.
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_X_FORWARDED_FOR": "127.0.0.1"}, (), False),
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_FORWARDED": "for=::1"}, (), False),
        ({"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "127.0.0.1"}, ["10.0.0.1"], True),
        ({"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "8.8.8.8"}, ["10.0.0.1"], False),
    ],
)
def test_metrics_are_for_allowed_addresses(environ, proxies, passes):
    if passes:
        assert ask("/metrics", proxies=networks(proxies), **environ).body == b"numbers"
    else:
        with pytest.raises(GatewayError) as excinfo:
            ask("/metrics", proxies=networks(proxies), **environ)
        assert excinfo.value.status == 403


def test_callers_of_a_unix_socket_may_read_the_metrics():
    assert ask("/metrics", unix_socket=True, REMOTE_ADDR="").body == b"numbers"
    with pytest.raises(GatewayError):
        ask("/metrics", unix_socket=True, REMOTE_ADDR="", HTTP_X_FORWARDED_FOR="127.0.0.1")


def test_without_metrics_there_is_no_page():
    with pytest.raises(KeyError):
        ask("/metrics", page=None)


def test_a_source_replaces_the_status_unless_it_knows_none():
    answers = [("abc", 10.0, "refused"), None]
    status = ConfigStatus(source=lambda: answers.pop(0))
    for _ in range(2):
        status.refresh()
        assert (status.hash, status.loaded, status.error) == ("abc", 10.0, "refused")


def test_without_a_source_a_refresh_changes_nothing():
    status = ConfigStatus("abc", 10.0)
    status.refresh()
    assert (status.hash, status.loaded) == ("abc", 10.0)
