"""`providers.catalog` of gateway.yaml: newer models and prices."""

from datetime import date

import pytest

from engine.config import providers
from engine.config.catalog_updates import SHIPPED, with_newer
from engine.config.listed_models import ListedModels
from engine.config.load import load
from engine.config.prices import default_prices
from engine.source.problem import Findings

CONFIG = """version: 1
specs: {api: {document: api.yaml}}
routes: [{operations: api.*, to: [{upstream: fast}]}]
providers: {catalog: catalog.yaml}
upstreams: {fast: {provider: groq, credential: {bearer: x}}}
models: {"*": {to: [{upstream: fast, model: "*"}]}}
"""
MODEL = "llama-3.3-70b-versatile"
CATALOG = f"""groq:
  date: 2030-01-31
  models:
    {MODEL}: {{price: {{input: 9}}}}
    new: {{context: 5, price: {{input: 1, output: 2}}}}
    openai/gpt-oss-20b: null
"""


def loaded(folder, catalog=CATALOG):
    (folder / "catalog.yaml").write_text(catalog)
    findings = Findings()
    config, _ = load(CONFIG, "gateway.yaml", folder, {}, findings)
    return config, [(p.file, p.line, p.code) for p in findings.problems]


def test_a_catalog_comes_before_what_is_shipped(tmp_path):
    config, problems = loaded(tmp_path)
    assert problems == []
    shipped, newer = providers.read("groq"), config.catalog.read("groq")
    assert newer.date == date(2030, 1, 31)
    assert newer.models[MODEL].price == {"input": 9}
    assert newer.models[MODEL].context == shipped.models[MODEL].context
    assert newer.models["new"].tasks == ("chat",)
    assert "openai/gpt-oss-20b" in shipped.models
    assert "openai/gpt-oss-20b" not in newer.models
    assert config.catalog.read("openai") is providers.read("openai")


def test_prices_and_lists_follow_the_catalog(tmp_path):
    config, _ = loaded(tmp_path)
    prices = default_prices(config)["fast"]
    assert prices["new"].source == "groq 2030-01-31"
    assert prices[MODEL].input == 9 * 10**12
    names = {*ListedModels(config)}
    assert "new" in names
    assert "openai/gpt-oss-20b" not in names


@pytest.mark.parametrize(
    ("catalog", "line", "code"),
    [
        ("grok: {date: 2030-01-31}\n", 1, "MW562"),
        ("groq: {date: 2020-01-31}\n", 1, "MW563"),
        ("groq:\n  models: {}\n", 2, "MW102"),
        ("groq:\n  date: 2030-01-31\n  url: x\n", 3, "MW101"),
        ("groq:\n  date: 2030-01-31\n  models: {a: {price: {inputs: 1}}}\n", 3, "MW101"),
        ("groq: [\n", 2, "MW001"),
    ],
)
def test_a_catalog_is_checked_where_it_is_written(tmp_path, catalog, line, code):
    config, problems = loaded(tmp_path, catalog)
    assert problems == [("catalog.yaml", line, code)]
    assert config.catalog.read("groq").models == SHIPPED.read("groq").models


def test_a_catalog_is_not_taken_for_a_config(tmp_path):
    (tmp_path / "catalog.yaml").write_text("- groq\n")
    findings = Findings()
    load(CONFIG, "gateway.yaml", tmp_path, {}, findings)
    (problem,) = findings.problems
    assert (problem.file, problem.code) == ("catalog.yaml", "MW103")
    assert "version" not in problem.hint


def test_a_catalog_that_is_not_there_is_an_error(tmp_path):
    findings = Findings()
    load(CONFIG, "gateway.yaml", tmp_path, {}, findings)
    [problem] = findings.errors
    assert (problem.file, problem.code) == ("gateway.yaml", "MW106")
    assert problem.line == 1 + CONFIG[: CONFIG.index("catalog.yaml")].count("\n")


def test_a_newer_catalog_replaces_models_and_keeps_others():
    old = {"a": {"date": "1", "models": {"x": {"context": 1}, "y": {}}}, "b": {"date": "1"}}
    new = {"a": {"date": "2", "models": {"x": {"output": 1}}}}
    assert with_newer(old, new) == {
        "a": {"date": "2", "models": {"x": {"output": 1}, "y": {}}},
        "b": {"date": "1"},
    }
