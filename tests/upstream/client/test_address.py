"""URLs of upstreams and proxies, and who needs no proxy."""

from __future__ import annotations

import pytest

from engine.upstream.client.address import (
    Origin,
    Proxy,
    is_excluded,
    origin_of,
    proxy_of,
)

URLS = {
    "http://h": Origin(False, "h", 80, "h", ""),
    "http://H:8080/base/": Origin(False, "h", 8080, "h:8080", "/base"),
    "http://h:80/a/b": Origin(False, "h", 80, "h", "/a/b"),
    "https://api.openai.com/v1": Origin(True, "api.openai.com", 443, "api.openai.com", "/v1"),
    "https://h:80": Origin(True, "h", 80, "h:80", ""),
    "http://[::1]:9": Origin(False, "::1", 9, "[::1]:9", ""),
    "https://[2001:DB8::1]/": Origin(True, "2001:db8::1", 443, "[2001:db8::1]", ""),
    "https://bücher.example": Origin(
        True, "xn--bcher-kva.example", 443, "xn--bcher-kva.example", ""
    ),
    "http+unix:///run/my a.sock": Origin(False, "localhost", 0, "localhost", "", "/run/my a.sock"),
    "http+unix:///run/a.sock": Origin(False, "localhost", 0, "localhost", "", "/run/a.sock"),
    "http+unix://%2Frun%2Fa.sock/b/": Origin(
        False, "localhost", 0, "localhost", "/b", "/run/a.sock"
    ),
}


@pytest.mark.parametrize("url", URLS)
def test_origin(url: str) -> None:
    assert origin_of(url) == URLS[url]


@pytest.mark.parametrize(
    "url",
    [
        "h:80",
        "ftp://h",
        "http://",
        "http:///path",
        "http://h:x",
        "http://h:99999",
        "http://user:secret@h",
        "http://h/?secret",
        "http://h/#secret",
        "http://a b",
        "http://[::1",
        "http://" + "a" * 64,
        "http+unix://",
        "http+unix://run/a.sock",
        "http://h/a b",
        "http://h/\u00e9",
        "http+unix://%2Frun%2Fa.sock/a b",
    ],
)
def test_odd_urls_are_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ValueError) as excinfo:
        origin_of(url)
    assert "secret" not in str(excinfo.value)


PLAIN, TLS = origin_of("http://h.example"), origin_of("https://h.example")


def test_a_given_proxy_is_used_whatever_the_environment_says() -> None:
    environ = {"HTTP_PROXY": "http://other:1", "NO_PROXY": "*"}
    assert proxy_of(PLAIN, "http://p:3128", environ) == Proxy("p", 3128)
    assert proxy_of(PLAIN, "", environ) is None


def test_the_environment_is_asked_by_scheme() -> None:
    environ = {"HTTP_PROXY": "http://plain:1", "https_proxy": "tls:2", "HTTPS_PROXY": "http://no:3"}
    assert proxy_of(PLAIN, None, environ) == Proxy("plain", 1)
    assert proxy_of(TLS, None, environ) == Proxy("tls", 2)
    assert proxy_of(TLS, None, {}) is None


@pytest.mark.parametrize(
    "url", ["http://localhost", "http://127.1.2.3", "http://[::1]", "http+unix:///a"]
)
def test_this_machine_needs_no_proxy(url: str) -> None:
    assert proxy_of(origin_of(url), None, {"HTTP_PROXY": "http://p:1"}) is None


def test_the_password_of_a_proxy() -> None:
    proxy = proxy_of(TLS, "http://us%40er:p%3Aw@p:1", {})
    assert proxy == Proxy("p", 1, "Basic dXNAZXI6cDp3")


@pytest.mark.parametrize(
    "proxy", ["https://u:secret@p", "socks5://u:secret@p", "http://u:secret@p:x", "http://"]
)
def test_odd_proxies_are_refused_and_not_shown(proxy: str) -> None:
    with pytest.raises(ValueError) as excinfo:
        proxy_of(TLS, proxy, {})
    assert "secret" not in str(excinfo.value)


@pytest.mark.parametrize(
    ("no_proxy", "host", "port", "verdict"),
    [
        ("", "h", 80, False),
        (" , ", "h", 80, False),
        ("*", "h", 80, True),
        ("h", "h", 80, True),
        ("H", "h", 80, True),
        ("example.com", "example.com", 80, True),
        ("example.com", "a.example.com", 80, True),
        (".example.com", "a.example.com", 80, True),
        (".example.com", "example.com", 80, True),
        ("*.example.com", "a.example.com", 80, True),
        ("example.com", "badexample.com", 80, False),
        ("example.com", "example.com.evil", 80, False),
        ("example.com", "example.com.", 80, True),
        ("a.example.com", "example.com", 80, False),
        ("x, y example.com", "example.com", 80, True),
        ("example.com:80", "a.example.com", 80, True),
        ("example.com:80", "example.com", 443, False),
        ("10.0.0.0/8", "10.1.2.3", 80, True),
        ("10.0.0.0/8", "11.1.2.3", 80, False),
        ("10.0.0.1/8", "10.1.2.3", 80, True),
        ("10.0.0.0/8", "ten.example", 80, False),
        ("10.0.0.1", "10.0.0.1", 80, True),
        ("10.0.0.1:81", "10.0.0.1", 80, False),
        ("fd00::/8", "fd00::1", 80, True),
        ("::1", "0:0:0:0:0:0:0:1", 80, True),
        ("[::1]", "::1", 80, True),
        ("[::1]:80", "::1", 80, True),
        ("[::1]:81", "::1", 80, False),
        ("localhost", "localhost", 80, True),
        ("10.0.0.0/99", "10.0.0.1", 80, False),
    ],
)
def test_no_proxy(no_proxy: str, host: str, port: int, verdict: bool) -> None:
    assert is_excluded(no_proxy, host, port) is verdict
