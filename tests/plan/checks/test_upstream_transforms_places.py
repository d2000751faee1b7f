"""Transforms are checked wherever they stand; their mistakes are cases in tests/cases/configs."""

from pathlib import Path

import pytest

from engine.plan.assembly.make_plan import make_plan
from tests.plan.checks.test_known_names import DOCUMENT

WRONG = "transform: {request: {header: {remove: [host]}}}"
RIGHT = "transform: {request: {header: {remove: [x-a]}}}"


@pytest.fixture(autouse=True)
def document(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.yaml").write_text(DOCUMENT)


def lines(upstream, of_model, of_route):
    text = f"""version: 1
specs: {{shop: {{document: shop.yaml, dialect: plain}}}}
upstreams:
  one: {{url: "https://1.1.1.1", {upstream}}}
models:
  small: {{to: [{{upstream: one, {of_model}}}]}}
routes:
- {{operation: shop.getA, to: [{{upstream: one, {of_route}}}]}}
"""
    errors = make_plan(Path("gateway.yaml"), {}, text).findings.errors
    return [(problem.line, problem.code) for problem in errors]


@pytest.mark.parametrize(
    ("transforms", "line"),
    [((WRONG, RIGHT, RIGHT), 4), ((RIGHT, WRONG, RIGHT), 6), ((RIGHT, RIGHT, WRONG), 8)],
)
def test_a_mistake_is_found_where_it_stands(transforms, line):
    assert lines(*transforms) == [(line, "MW362")]


def test_right_transforms_have_no_mistakes():
    assert lines(RIGHT, RIGHT, RIGHT) == []
