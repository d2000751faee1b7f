"""How a file of the console is served: security headers, gzip and entity tags."""

import gzip

import pytest

from engine.console.asset import file
from tests.support.exchanges import new_exchange

GZIP = {"accept-encoding": "gzip, br"}


def test_pages_have_security_headers(client):
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
def test_a_matching_entity_tag_gives_304(client, path):
    for headers in ({}, GZIP):
        first = client.simulate_get(path, headers=headers)
        tag = first.headers["etag"]
        for value in (tag, f'W/{tag}, "x"', "*"):
            unchanged = client.simulate_get(path, headers={**headers, "if-none-match": value})
            assert (unchanged.status_code, unchanged.content) == (304, b"")
            assert unchanged.headers["etag"] == tag
        other = client.simulate_get(path, headers={**headers, "if-none-match": '"old"'})
        assert other.content == first.content


def test_a_file_is_compressed_if_the_client_accepts_gzip(client):
    plain = client.simulate_get("/docs")
    small = client.simulate_get("/docs", headers=GZIP)
    assert "content-encoding" not in plain.headers
    assert small.headers["content-encoding"] == "gzip"
    assert gzip.decompress(small.content) == plain.content
    assert small.headers["etag"] != plain.headers["etag"]
    assert small.headers["vary"] == "accept-encoding"
    without_gzip = client.simulate_get("/docs", headers={"accept-encoding": "gzip;q=0, identity"})
    assert "content-encoding" not in without_gzip.headers


def test_head_has_the_headers_of_get(client):
    page, head = client.simulate_get("/"), client.simulate_head("/")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == str(len(page.content))
    assert client.simulate_post("/").status_code == 405


@pytest.mark.parametrize(
    "path",
    ["/console/page/", "/console/page/../app.py", "/console/page/x.js", "/console/page/%2e%2e/x"],
)
def test_other_files_are_not_served(client, path):
    assert client.simulate_get(path).status_code in (400, 404)


def test_a_file_is_read_once_and_at_its_first_request(tmp_path):
    path = tmp_path / "x.css"
    handle = file(path)  # it need not exist yet
    path.write_text("a {}")
    request = new_exchange("GET", "/x.css", "", {}, "req-1")
    assert handle(request).body == b"a {}"
    path.unlink()
    assert handle(request).body == b"a {}"
