"""What the cases under tests/cases/configs do not show: names that are right are left alone."""

from pathlib import Path

import pytest

from engine import dialects
from engine.plan.assembly.make_plan import make_plan
from engine.relay.request_headers import NEVER_SENT
from engine.source.problem import Level

DOCUMENT = """
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths: {/a: {get: {operationId: getA, responses: {}}}}
"""


@pytest.fixture(autouse=True)
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.yaml").write_text(DOCUMENT)


def problems(upstream="", models="", route="to: [{upstream: one}]", spec="dialect: plain"):
    text = f"""version: 1
specs: {{shop: {{document: shop.yaml, {spec}}}}}
upstreams: {{one: {{url: "http://1.1.1.1"{upstream}}}}}
models: {{{models}}}
routes: [{{operation: shop.getA, {route}}}]
"""
    return make_plan(Path("gateway.yaml"), {}, text).problems


def codes(**parts):
    return [p.code for p in problems(**parts)]


def test_a_right_config_has_no_problems():
    assert problems() == []


@pytest.mark.parametrize("name", dialects.names())
def test_every_dialect_is_known_for_specs_and_upstreams(name):
    assert codes(spec=f"dialect: {name}", upstream=f", dialect: {name}") == []


@pytest.mark.parametrize("name", sorted(NEVER_SENT))
def test_a_header_that_is_never_sent_is_refused_in_any_case(name):
    assert codes(upstream=f", forward_headers: [{name.upper()}]") == ["MW312"]


def test_other_headers_may_be_forwarded():
    assert codes(upstream=", forward_headers: [x-tenant, X-Trace, user-agent]") == []


def test_fallbacks_that_meet_again_are_no_circle():
    to = "to: [{upstream: one}]"
    models = f"a: {{{to}, fallback: [b, c]}}, b: {{{to}, fallback: [d]}}, "
    models += f"c: {{{to}, fallback: [d]}}, d: {{{to}}}"
    assert codes(models=models) == []


def test_a_cycle_is_noted_once_and_not_at_a_model_that_leads_into_it():
    to = "to: [{upstream: one}]"
    models = f"in: {{{to}, fallback: [b]}}, b: {{{to}, fallback: [c]}}, c: {{{to}, fallback: [b]}}"
    warnings = problems(models=models)
    assert [p.message for p in warnings] == ["fallbacks form a cycle: b -> c -> b"]


def test_hundreds_of_fallbacks_are_no_trouble():
    entries = [f"m{n}: {{to: [{{upstream: one}}], fallback: [m{n + 1}]}}" for n in range(200)]
    entries.append("m200: {to: [{upstream: one}]}")
    assert codes(models=", ".join(entries)) == []


def test_an_upstream_in_use_by_a_model_only_is_used():
    text = "a: {to: [{upstream: one}]}"
    assert codes(models=text, route="answer: models") == []


def test_an_upstream_in_use_by_nothing_is_a_warning():
    warnings = problems(route="answer: models")
    assert [(p.code, p.level) for p in warnings] == [("MW318", Level.WARNING)]
