"""The base URL that pages show."""

from __future__ import annotations

import pytest

from engine.config.server import Server
from engine.edge.gateway_origin import base_of
from engine.values.client_address import networks
from tests.support.exchanges import new_exchange

PROXIED = Server(trusted_proxies=networks(["10.0.0.0/8"]))
FORWARDED = {"HTTP_X_FORWARDED_PROTO": "https", "HTTP_X_FORWARDED_HOST": "models.example.com"}


def base(server, **environ):
    default = {"wsgi.url_scheme": "http", "HTTP_HOST": "here:8080", "REMOTE_ADDR": "10.1.1.1"}
    return base_of(new_exchange("GET", "/", "", {**default, **environ}), server)


def test_without_config_it_is_the_requests():
    assert base(Server()) == "http://here:8080"
    assert base(Server(), HTTP_HOST="[::1]:80") == "http://[::1]:80"


def test_the_config_comes_first():
    assert base(Server(base_url="https://m.example.com"), **FORWARDED) == "https://m.example.com"


def test_headers_of_a_trusted_proxy_are_used():
    assert base(PROXIED, **FORWARDED) == "https://models.example.com"
    several = {"HTTP_X_FORWARDED_HOST": "evil.example, models.example.com"}
    assert base(PROXIED, **FORWARDED | several) == "https://models.example.com"


@pytest.mark.parametrize("server", [Server(), PROXIED])
def test_headers_of_other_clients_are_ignored(server):
    assert base(server, REMOTE_ADDR="192.0.2.1", **FORWARDED) == "http://here:8080"


@pytest.mark.parametrize("host", ["a b", 'x"><script>', "x/y", "user@x", "", "x:y", "x\r\ny"])
def test_an_invalid_host_is_replaced(host):
    assert base(Server(), HTTP_HOST=host) == "http://localhost"


def test_an_invalid_scheme_is_replaced():
    assert base(PROXIED, HTTP_X_FORWARDED_PROTO="javascript") == "http://here:8080"
