"""`transform` as a value of its entry."""

import pytest
from msgspec import structs

from engine.config import providers
from engine.config.load import load
from engine.source.problem import Findings
from tests.support.configs import read_config, read_errors

PATH = {"request": {"path": "/x{target.path}"}}
QUERY = {"request": {"query": {"set": {"a": "1"}}}}
TEXT = "transform: {request: {query: {set: {a: '1'}}}}"


def test_an_entry_has_its_transform_with_its_place():
    config = read_config(
        f"upstreams: {{main: {{url: http://h, {TEXT}}}}}\n"
        f"models: {{small: {{to: [{{upstream: main}}, {{upstream: main, {TEXT}}}]}}}}\n"
    )
    (upstream,) = config.upstreams["main"].transform
    first, second = config.models["small"].to
    assert (upstream.options, upstream.at) == (QUERY, ("upstreams", "main", "transform"))
    assert first.transform == ()
    assert second.transform[0].at == ("models", "small", "to", 1, "transform")


def test_the_transform_of_a_provider_comes_before_that_of_the_entry(monkeypatch):
    provider = structs.replace(
        providers.read("openai"), upstream={"url": "https://h/v1", "transform": PATH}
    )
    monkeypatch.setattr(providers, "read", lambda name: provider)
    entry = f'{{provider: openai, credential: {{bearer: "${{KEY}}"}}, {TEXT}}}'
    config = read_config(f"upstreams: {{main: {entry}}}\n", {"KEY": "sk-1"})
    first, second = config.upstreams["main"].transform
    assert (first.options, first.at) == (PATH, ("upstreams", "main", "provider"))
    assert second.options == QUERY


def header_of(value, environ):
    """The template of a header that is written as `value`."""
    config = read_config(
        "upstreams: {main: {url: http://h, transform: {request: {header: {set: {x-a: "
        f"'{value}'}}}}}}}}}}}}\n",
        environ,
    )
    (transform,) = config.upstreams["main"].transform
    return transform.options["request"]["header"]["set"]["x-a"]


@pytest.mark.parametrize(
    ("value", "template"),
    [
        ("${A} {token.name}", "s{{e}}cret {token.name}"),
        ("${B:-{token.name}", "{{token.name"),
        ("$${{a}}", "${{a}}"),
        ("{token.name}", "{token.name}"),
        ("${C}", "plain"),
    ],
)
def test_the_value_of_a_variable_is_no_template(value, template):
    assert header_of(value, {"A": "s{e}cret", "C": "plain"}) == template


def test_braces_of_variables_elsewhere_are_left_alone():
    config = read_config('upstreams: {main: {url: "${U}"}}\n', {"U": "http://h/{a}"})
    assert config.upstreams["main"].url == "http://h/{a}"


def test_a_variable_of_an_included_file_is_no_template_either(tmp_path):
    part = tmp_path / "part.yaml"
    part.write_text(
        "upstreams: {main: {url: http://h, "
        "transform: {request: {query: {set: {a: '${file:f}'}}}}}}\n"
    )
    (tmp_path / "f").write_text("{x}")
    findings = Findings()
    text = "version: 1\ninclude: [part.yaml]\n"
    config, _ = load(text, str(tmp_path / "gateway.yaml"), tmp_path, {}, findings)
    (transform,) = config.upstreams["main"].transform
    assert transform.options["request"]["query"]["set"] == {"a": "{{x}}"}


def test_an_unset_variable_is_one_problem():
    text = (
        "upstreams: {main: {url: http://h, transform: {request: {header: {set: {a: '${N}'}}}}}}\n"
    )
    assert [code for *_, code in read_errors(text)] == ["MW005"]
