"""The path at the upstream for each spelling of a caller's path, directly and through a proxy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.recorded import RecordedGateway, recorded_gateway
from tests.support.recording import Recorder, ask, request

CONFIG = """
version: 1
server: {listen: "{listen}"}
specs:
  api: {document: api.yaml, mount: [/api, /deep/er, "/sp%20ace"]}
  root: {document: root.yaml}
upstreams:
  direct: {url: "${UPSTREAM}/base", credential: {bearer: upstream-secret}, proxy: ""}
  proxied:
    url: "http://upstream.test"
    credential: {bearer: upstream-secret}
    proxy: "${UPSTREAM}"
routes:
  - {operation: api.direct, to: [{upstream: direct}], auth: none}
  - {operation: api.proxied, to: [{upstream: proxied}], auth: none}
  - {operation: root.any, to: [{upstream: proxied}], auth: none}
"""
API = """
openapi: 3.1.0
info: {title: Any API, version: "1"}
paths:
  /public/{name}:
    parameters: [{name: name, in: path, required: true, schema: {type: string}}]
    get: {operationId: direct, responses: {"200": {description: fine}}}
  /proxied/{name}:
    parameters: [{name: name, in: path, required: true, schema: {type: string}}]
    get: {operationId: proxied, responses: {"200": {description: fine}}}
"""
ROOT = """
openapi: 3.1.0
info: {title: Without a prefix, version: "1"}
paths:
  /open/{name}:
    parameters: [{name: name, in: path, required: true, schema: {type: string}}]
    get: {operationId: any, responses: {"200": {description: fine}}}
"""
PROXIED = "http://upstream.test"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedGateway]:
    folder = tmp_path_factory.mktemp("paths")
    (folder / "api.yaml").write_text(API)
    (folder / "root.yaml").write_text(ROOT)
    with recorded_gateway(folder, CONFIG) as running:
        yield running


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/api/public/1", "/base/public/1"),
        ("/%61pi/public/1", "/base/public/1"),
        ("/%61%70%69/public/1", "/base/public/1"),
        ("/deep/er/public/1", "/base/public/1"),
        ("/d%65ep/%65r/public/1", "/base/public/1"),
        ("/sp%20ace/public/1", "/base/public/1"),
        ("/%73p%20%61ce/public/1", "/base/public/1"),
        ("/%61pi/p%75blic/a%2Fb?q=%61", "/base/p%75blic/a%2Fb?q=%61"),
        ("http://anybody.test/%61pi/public/1", "/base/public/1"),
        ("/api/proxied/1", f"{PROXIED}/proxied/1"),
        ("/%61pi/proxied/1", f"{PROXIED}/proxied/1"),
        ("/%61%70%69/proxied/@evil.test", f"{PROXIED}/proxied/@evil.test"),
        ("/d%65ep/%65r/proxied/1", f"{PROXIED}/proxied/1"),
        ("/open/1", f"{PROXIED}/open/1"),
        ("http://anybody.test/open/1", f"{PROXIED}/open/1"),
    ],
)
def test_path_stands_under_the_upstreams_base_path(
    port: int, upstream: Recorder, target: str, expected: str
) -> None:
    response = ask(port, request(target))
    assert response.status == 200, response
    assert [received.target for received in upstream.requests] == [expected]


@pytest.mark.parametrize(
    "target",
    [
        "@evil.test/open/1",
        ".evil.test/open/1",
        ":1@evil.test/open/1",
        "evil.test/api/proxied/1",
        "x/open/1",
        "//open/1",
        "//api/public/1",
        "/api//public/1",
        "/api/public/..%2f..%2fadmin",
        "/api/public/%2e%2e",
        "/api/public/%252e%252e",
        "/api/%2e%2e/open/1",
        "/v1/..%2fopen/1",
        "/api;x=1/public/1",
        "/api/..;/open/1",
        "/api\\public\\1",
        "/api%5cpublic/1",
        "/api/public/..%5c..%5cadmin",
        "/%2561pi/public/1",
        "/api%2fpublic/1",
        "/deep%2fer/public/1",
        "/a%70i",
        "/api/public/a%00b",
        "http://x/../open/1",
    ],
)
def test_odd_path_never_reaches_an_upstream(port: int, upstream: Recorder, target: str) -> None:
    response = ask(port, request(target))
    assert response.status in (400, 404), response
    assert upstream.requests == []
