"""`server:` as values."""

from engine.config.server import Server
from tests.support.configs import read_config


def test_durations_are_seconds_and_sizes_are_bytes():
    config = read_config(
        "server: {listen: '[::]:80', workers: 3, connections: 5, max_body: 1.5MiB,"
        " body_timeout: 250ms, request_timeout: 2m, keepalive: 10m, grace: 1h}\n"
    )
    assert config.server == Server(
        "[::]:80", 3, 5, 1_572_864, 0.25, 600.0, 3600.0, request_timeout=120.0
    )


def test_debug_headers_are_off_unless_asked_for():
    assert read_config("").server.debug_headers is False
    assert read_config("server: {debug_headers: true}\n").server.debug_headers is True
