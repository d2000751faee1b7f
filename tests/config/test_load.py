"""gateway.yaml as one Config: defaults, variables, texts that are no config."""

from pathlib import Path

from engine.config.load import load
from engine.config.server import Server
from engine.source.problem import Findings
from engine.values.price import price_of
from tests.support.configs import read_config, read_errors
from tests.support.each import each


def test_the_least_config_has_the_defaults():
    config = read_config("")
    assert config.server == Server()
    assert (config.upstreams, config.models, config.policies, config.tokens) == ({}, {}, (), {})
    assert (config.folder, config.source.file) == (Path("/folder"), "gateway.yaml")


def test_a_number_may_come_from_a_variable():
    assert read_config("server:\n  workers: ${WORKERS:-4}\n").server.workers == 4
    assert read_config("server:\n  workers: ${WORKERS:-4}\n", {"WORKERS": "7"}).server.workers == 7


def test_an_empty_text_is_one_problem():
    findings = Findings()
    assert load("", "f", Path(), {}, findings)[0] is None
    assert [p.code for p in findings.problems] == ["MW102"]


def test_a_value_that_could_not_be_read_is_not_found_missing_as_well():
    assert read_errors("server:\n  workers: ${N}\n  listen: ${L}\n") == [
        (5, 12, "MW005"),
        (6, 11, "MW005"),
    ]


def test_prices_are_by_the_name_of_a_model():
    config = read_config("prices: {small: {input: 1, output: 2}, 'large-*': {image: 0.5}}\n")
    assert config.prices == {
        "small": price_of({"input": 1, "output": 2}),
        "large-*": price_of({"image": 0.5}),
    }


HUGE = "tokens: [{name: 123456789012345678901234567890}]\n"
"""An integer that orjson refuses."""


@each("more", ["", HUGE])
def test_a_nul_character_is_a_problem_at_its_place(more):
    errors = read_errors(f'models:\n  m: {{title: "a\\0b", to: [{{upstream: u}}]}}\n{more}')
    assert [error for error in errors if error[0] == 5] == [(5, 14, "MW104")]


@each("more", ["", HUGE])
def test_braces_of_a_reference_in_a_transform_are_doubled(more):
    text = "upstreams:\n  u: {url: http://h, transform: {request: {query: {set: {a: '${V}'}}}}}\n"
    findings = Findings()
    config, _ = load(f"version: 1\n{text}{more}", "f", Path("/"), {"V": "{x}"}, findings)
    assert config is not None
    (transform,) = config.upstreams["u"].transform
    assert transform.options["request"]["query"]["set"] == {"a": "{{x}}"}
