"""What keeps people from signing in to the pages, and what lets in more than is meant."""

from pathlib import Path

import pytest

from engine.plan.assembly.make_plan import make_plan
from tests.support.each import each
from tests.support.page_sign_in import KEY, config

HEAD = """
specs: {api: {document: api.yaml}}
upstreams: {main: {url: "http://1.1.1.1/v1"}}
routes: [{operation: api.show, to: [{upstream: main}]}]
"""
DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
security: [{bearer: []}]
paths: {/show: {get: {operationId: show, responses: {"200": {description: ok}}}}}
components: {securitySchemes: {bearer: {type: http, scheme: bearer}}}
"""
URL = "https://models.example.com"


@pytest.fixture(autouse=True)
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.yaml").write_text(DOCUMENT)


def codes(*changes: tuple[str, str]) -> list[str]:
    text = config() + HEAD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    problems = make_plan(Path("gateway.yaml"), {}, text).findings.problems
    return [problem.code for problem in problems if problem.code.startswith("MW55")]


@each(
    ("old", "new", "expected"),
    [
        ("version: 1", "version: 1", []),
        ("issuer: https://login.example.com/,", "issuer: https://other.example.com/,", ["MW550"]),
        (f'base_url: "{URL}"', "", ["MW551"]),
        (URL, "http://models.example.com", ["MW551"]),
        (URL, "http://127.0.0.1:8080", []),
        (URL, "http://localhost:8080", []),
        (f'["{KEY}"]', '[""]', ["MW552"]),
        (f'["{KEY}"]', "[short]", ["MW552"]),
        (f'["{KEY}"]', f"['{'ab' * 40}']", ["MW552"]),
        (f'["{KEY}"]', f"['{KEY}', '{KEY}']", ["MW552"]),
        ("client_id:", "scopes: [email], client_id:", ["MW554"]),
        ("client_id:", "scopes: [openid], client_id:", ["MW555"]),
        ("client_id:", "scopes: [openid, email], client_id:", []),
        ("audience: modelway", "audience: [modelway, modelway-console]", ["MW556"]),
        ("console:", "console:\n  playground: false", ["MW557"]),
        ("console:", "console:\n  enabled: false", ["MW557"]),
    ],
)
def test_each_mistake_has_its_code(old, new, expected):
    assert codes((old, new)) == expected


@each(
    ("issuer", "expected"),
    [
        ("http://login.example.com/", ["MW553"]),
        ("login", ["MW553"]),
        ("http://127.0.0.1:3000", []),
    ],
)
def test_a_provider_is_found_behind_tls_or_on_this_machine(issuer, expected):
    (Path() / "keys.json").write_text('{"keys": [{"kty": "EC"}]}')
    changes = ("https://login.example.com/", issuer)
    assert codes(changes, ("audience:", "jwks_file: keys.json\n      audience:")) == expected
