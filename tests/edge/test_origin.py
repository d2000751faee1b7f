"""Which pages may use a credential that a browser attaches, and which may call by what name."""

from __future__ import annotations

import pytest

from engine.config.server import Server
from engine.edge.origin import PageOrigins, SameOrigin, base_of
from engine.values.client_address import networks
from tests.support.exchanges import new_exchange

HERE = {"HTTP_HOST": "gw.example.com"}


def allowed(
    site: str = "", origin: str = "", same_origin: SameOrigin | None = None, **more: str
) -> bool:
    environ = {**HERE, **more}
    environ |= {"HTTP_SEC_FETCH_SITE": site} if site else {}
    environ |= {"HTTP_ORIGIN": origin} if origin else {}
    return (same_origin or SameOrigin()).allows(environ)


@pytest.mark.parametrize(
    ("site", "origin", "allows"),
    [
        ("", "", True),  # no browser
        ("same-origin", "", True),
        ("none", "", True),  # a person who typed the address
        ("same-site", "", False),
        ("cross-site", "", False),
        ("anything else", "", False),
        ("cross-site, same-origin", "", False),
        ("", "https://gw.example.com", True),
        ("", "http://gw.example.com", True),
        ("", "HTTPS://GW.example.com", True),
        ("", "https://gw.example.com:443", True),
        ("", "https://gw.example.com:8443", False),
        ("", "https://evil.example.com", False),
        ("", "https://gw.example.com.evil.org", False),
        ("", "https://evil.org/gw.example.com", False),
        ("", "https://gw.example.com@evil.org", False),
        ("", "https://gw.example.com,https://evil.org", False),
        ("", "chrome-extension://gw.example.com", False),
        ("", "null", False),
        ("", "gw.example.com", False),
        ("cross-site", "https://evil.example.com", False),
        ("same-site", "https://app.example.com", False),
        # Behind a proxy that rewrites Host the browser's own word counts.
        ("same-origin", "https://models.example.com", True),
    ],
)
def test_a_request_is_of_this_gateways_own_pages(site: str, origin: str, allows: bool) -> None:
    assert allowed(site, origin) is allows


@pytest.mark.parametrize(
    ("host", "origin", "allows"),
    [
        ("gw.example.com:443", "https://gw.example.com", True),
        ("gw.example.com:80", "https://gw.example.com", False),
        ("127.0.0.1:8080", "http://127.0.0.1:8080", True),
        ("127.0.0.1:8080", "http://127.0.0.1:3000", False),
        ("[::1]:8080", "http://[::1]:8080", True),
        ("[::1]", "http://[::1]", True),
        ("[::1]", "http://[::1]:8080", False),
        ("", "http://", False),
    ],
)
def test_the_origin_must_have_the_host_and_port_of_the_request(
    host: str, origin: str, allows: bool
) -> None:
    assert allowed(origin=origin, HTTP_HOST=host) is allows


def test_listed_origins_count_and_a_star_does_not() -> None:
    listed = SameOrigin(["https://app.example.com", "*"])
    assert allowed("cross-site", "https://app.example.com", listed)
    assert not allowed("cross-site", "https://app.example.com:8443", listed)
    assert not allowed("cross-site", "https://evil.example.com", listed)
    assert not allowed("cross-site", "*", listed)


def test_the_address_that_the_config_names_is_ours() -> None:
    same_origin = SameOrigin(base_url="https://Models.example.com/prefix")
    assert allowed("", "https://models.example.com", same_origin)
    assert not allowed("", "http://models.example.com", same_origin)


def test_a_forwarded_host_counts_from_a_trusted_proxy_alone() -> None:
    same_origin = SameOrigin(proxies=networks(["10.0.0.0/8"]))
    forwarded = {"HTTP_X_FORWARDED_HOST": "spoofed.example.com, models.example.com"}
    ask = ("", "https://models.example.com", same_origin)
    assert allowed(*ask, **forwarded, REMOTE_ADDR="10.0.0.1")
    assert not allowed(*ask, **forwarded, REMOTE_ADDR="203.0.113.1")
    assert not allowed(
        "", "https://spoofed.example.com", same_origin, **forwarded, REMOTE_ADDR="10.0.0.1"
    )


@pytest.mark.parametrize(
    ("origin", "host", "allows"),
    [
        (None, "anything.example.com", True),  # no page
        ("http://127.0.0.1:8080", "127.0.0.1:8080", True),
        ("http://localhost:8080", "LOCALHOST:8080", True),
        ("http://[::1]:8080", "[::1]:8080", True),
        ("http://localhost", "localhost:80", True),
        ("https://models.example.com", "localhost:8080", True),  # base_url, behind a proxy
        ("https://app.example.com", "localhost:8080", True),  # cors.origins
        # DNS rebinding: a name of the attacker's resolves to this machine.
        ("http://evil.example.com:8080", "evil.example.com:8080", False),
        ("http://localhost.evil.example.com", "localhost.evil.example.com", False),
        ("http://127.0.0.1.evil.example.com", "127.0.0.1.evil.example.com", False),
        ("http://localhost:8080@evil.example.com", "localhost:8080@evil.example.com", False),
        ("http://evil.example.com", "localhost:8080", False),
        ("http://localhost:3000", "localhost:8080", False),
        ("null", "localhost:8080", False),
        ("", "localhost:8080", False),
        ("file://localhost:8080", "localhost:8080", False),
        ("http://[::1", "[::1", False),
    ],
)
def test_pages_of_other_sites_may_not_call_by_a_name_that_they_rebind(
    origin: str | None, host: str, allows: bool
) -> None:
    origins = PageOrigins(["https://app.example.com"], "https://models.example.com/ai")
    environ = {"HTTP_HOST": host, **({} if origin is None else {"HTTP_ORIGIN": origin})}
    assert origins.allow(environ) is allows
    assert PageOrigins(["*"]).allow(environ)


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
