"""URLs in response headers: rewritten below the mount prefix, or left out."""

from __future__ import annotations

import pytest

from engine.upstream.targets.upstream_url import UpstreamUrl

UPSTREAM = UpstreamUrl("https://up.example/base")


@pytest.mark.parametrize(
    ("address", "rewrite"),
    [
        ("https://up.example/base/things/2?q=1#part", "/api/things/2?q=1#part"),
        ("https://up.example/base", "/api"),
        ("https://up.example/base/", "/api/"),
        ("https://UP.example:443/base/x", "/api/x"),
        ("http://up.example/base/x", "/api/x"),  # it does not know of the TLS before it
        ("//up.example/base/x", "/api/x"),
        ("/base/x%2Fy", "/api/x%2Fy"),
        ("2", "/api/things/2"),
        ("../other", "/api/other"),
        ("?page=2", "/api/things/1?page=2"),
    ],
)
def test_a_url_below_the_base_path_is_rewritten(address: str, rewrite: str) -> None:
    assert UPSTREAM.rewrite(address, "/base/things/1", "/api") == rewrite


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/base/x",
        "https://up.example.evil.example/base/x",
        "https://up.example:8443/base/x",
        "https://up.example@evil.example/base/x",
        "https://user@up.example/base/x",
        "https://up.example/basement",
        "https://up.example/admin",
        "https://up.example/base/../admin",
        "https://up.example/base/%2e%2e/admin",
        "https://up.example/base/%252e%252e/admin",
        "/admin",
        "../../admin",
        "/base/\\evil.example",
        "\\\\evil.example/base",
        "/base/a b",
        "/base/\u00e9",
        "//evil.example/base/x",
        "javascript:alert(1)",
        "data:text/html,x",
        "https://[::1/base",
        "https://up.example:x/base",
        "",
    ],
)
def test_a_url_elsewhere_is_left_out(address: str) -> None:
    assert UPSTREAM.rewrite(address, "/base/things/1", "/api") is None


@pytest.mark.parametrize(
    "address", ["//evil.example/x", "/%2fevil", "https://up.example//evil.example", "/.//evil"]
)
def test_a_rewritten_url_never_names_another_host(address: str) -> None:
    rewrite = UpstreamUrl("https://up.example").rewrite(address, "/x", "")
    assert rewrite is None or not rewrite.startswith(("//", "/\\"))


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/x"),
        ("http://[::1]:8000", "http://[::1]:8000/x"),
        ("http+unix:///run/app.sock", "http://localhost/x"),
        ("http+unix://%2Frun%2Fapp.sock", "/x"),
        ("https://b\u00fccher.example", "https://xn--bcher-kva.example/x"),
    ],
)
def test_each_kind_of_upstream_url(url: str, address: str) -> None:
    assert UpstreamUrl(url).rewrite(address, "/", "/m") == "/m/x"


def test_a_mount_prefix_is_percent_encoded() -> None:
    assert UPSTREAM.rewrite("/base/x", "/base", "/b\u00fccher/a%20b") == "/b%C3%BCcher/a%20b/x"


@pytest.mark.parametrize(
    ("header", "rewrite"),
    [
        (
            '<https://up.example/base/items?page=2>; rel="next", </base/items>; rel=first',
            '</api/items?page=2>; rel="next", </api/items>; rel=first',
        ),
        ("<https://docs.example/help>; rel=help", "<https://docs.example/help>; rel=help"),
        ("</base/x.js>; rel=preload; as=script", None),
        ("<https://evil.example>; rel=preconnect, </base/2>; rel=next", "</api/2>; rel=next"),
        ('</base/x>; rel="next preload"', None),
        ("</base/x>; REL=Preload", None),
        ("</base/x>", None),
        ("<https://up.example/admin>; rel=up", None),
        ("</base/2>; rel=next; evil", "</api/2>; rel=next; evil"),
        ("/base/2; rel=next", None),
        ('</base/2>; rel=next, </base/x>; rel="preload', None),
        ("", None),
    ],
)
def test_links_that_load_nothing_are_kept(header: str, rewrite: str | None) -> None:
    assert UPSTREAM.rewrite_links(header, "/base/items", "/api") == rewrite


def test_of_thousands_of_links_the_first_hundred_are_read():
    header = ", ".join(f"</base/{number}>; rel=item" for number in range(7_000))
    links = UPSTREAM.rewrite_links(header, "/base/items", "/api")
    assert links == ", ".join(f"</api/{number}>; rel=item" for number in range(100))
