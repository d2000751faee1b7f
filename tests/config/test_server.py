"""`server:` as values."""

from engine.config.server import Server
from tests.support.configs import read_config


def test_durations_are_seconds_and_sizes_are_bytes():
    config = read_config(
        "server: {listen: '[::]:80', workers: 3, connections: 5, max_body: 1.5MiB,"
        " body_timeout: 250ms, request_timeout: 2m, keepalive: 10m, grace: 1h}\n"
    )
    assert config.server == Server(
        "[::]:80", 3, 5, 1_572_864, 0.25, 600.0, grace=3600.0, request_timeout=120.0
    )


def test_the_grace_of_drain_is_that_of_the_server():
    config = read_config("server: {drain: {delay: 5s, grace: 2m}}\n")
    assert config.server == Server(delay=5.0, grace=120.0)
    assert read_config("server: {grace: 2m}\n").server == Server(grace=120.0)


def test_debug_headers_are_off_by_default():
    assert read_config("").server.debug_headers is False
    assert read_config("server: {debug_headers: true}\n").server.debug_headers is True
