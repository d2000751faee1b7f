"""How a page is sent: its headers, compressed or not, and not at all to who has it."""

import gzip

import pytest

GZIP = {"accept-encoding": "gzip, br"}


def test_a_page_is_guarded(client):
    for path in ("/", "/console/playground", "/docs", "/console/page/style.css"):
        headers = client.simulate_get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; ")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/", "/docs", "/console/page/playground/main.js"])
def test_who_has_it_is_sent_nothing(client, path):
    for headers in ({}, GZIP):
        first = client.simulate_get(path, headers=headers)
        tag = first.headers["etag"]
        for said in (tag, f'W/{tag}, "x"', "*"):
            again = client.simulate_get(path, headers={**headers, "if-none-match": said})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == tag
        other = client.simulate_get(path, headers={**headers, "if-none-match": '"old"'})
        assert other.content == first.content


def test_it_is_compressed_where_that_is_understood(client):
    plain = client.simulate_get("/docs")
    small = client.simulate_get("/docs", headers=GZIP)
    assert "content-encoding" not in plain.headers
    assert small.headers["content-encoding"] == "gzip"
    assert gzip.decompress(small.content) == plain.content
    assert small.headers["etag"] != plain.headers["etag"]
    assert small.headers["vary"] == "accept-encoding"
    refused = client.simulate_get("/docs", headers={"accept-encoding": "gzip;q=0, identity"})
    assert "content-encoding" not in refused.headers


def test_head_tells_the_same_without_a_body(client):
    whole, head = client.simulate_get("/"), client.simulate_head("/")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == str(len(whole.content))
    assert client.simulate_post("/").status_code == 405


@pytest.mark.parametrize(
    "path",
    ["/console/page/", "/console/page/../app.py", "/console/page/x.js", "/console/page/%2e%2e/x"],
)
def test_nothing_else_is_a_file_of_the_console(client, path):
    assert client.simulate_get(path).status_code in (400, 404)
