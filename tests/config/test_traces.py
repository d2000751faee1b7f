"""Where traces go, as gateway.yaml says it."""

from pathlib import Path

import pytest

from engine.config import telemetry as module
from engine.config.load import load
from engine.config.telemetry import Traces
from engine.source.problem import Findings

pytest.importorskip("opentelemetry.proto", reason="needs the extra otel")

HEAD = """version: 1
specs: {shop: {document: shop.yaml}}
routes: [{operation: shop.x, answer: models}]
"""


def read(said):
    findings = Findings()
    made, _ = load(
        f"{HEAD}telemetry: {{traces: {said}}}\n", "gateway.yaml", Path("/x"), {}, findings
    )
    return made.telemetry.traces, [(p.code, p.line, p.message) for p in findings.errors]


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://localhost:4318", "http://localhost:4318/v1/traces"),
        ("http://localhost:4318/", "http://localhost:4318/v1/traces"),
        ("https://x.example/otlp", "https://x.example/otlp/v1/traces"),
        ("https://x.example/otlp/v1/traces", "https://x.example/otlp/v1/traces"),
    ],
)
def test_the_path_of_otlp_is_put_behind_an_endpoint(endpoint, url):
    made, errors = read(f"{{endpoint: '{endpoint}'}}")
    assert (made, errors) == (Traces(url), [])


def test_share_and_headers_are_taken():
    made, errors = read("{endpoint: 'http://x', sample: 0.01, headers: {Authorization: secret}}")
    assert errors == []
    assert (made.sample, made.headers) == (0.01, {"authorization": "secret"})
    assert "secret" not in repr(made)


@pytest.mark.parametrize(
    "said",
    [
        "{}",
        "{endpoint: localhost}",
        "{endpoint: 'grpc://x'}",
        "{endpoint: 'http://x', sample: 2}",
        "{endpoint: 'http://x', sampel: 1}",
        "{endpoint: 'http://x', headers: {'a b': c}}",
        "{endpoint: 'http://x', headers: {Host: c}}",
        "{endpoint: 'http://x', headers: {CONTENT-Length: '1'}}",
        '{endpoint: "http://x", headers: {a: "b\\nc"}}',
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(said):
    _, errors = read(said)
    assert [line for _, line, _ in errors] == [4]


def test_without_the_extra_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    _, errors = read("{endpoint: 'http://x'}")
    assert errors == [("MW108", 4, "traces need the extra otel, which is not installed")]
