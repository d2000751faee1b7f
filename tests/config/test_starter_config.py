"""gateway.yaml for chosen providers."""

import pytest

from engine import credentials
from engine.config import providers
from engine.config.listed_models import ListedModels
from engine.config.starter_config import entry_lines, starter
from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Level
from tests.support.paths import ROOT


def plan(folder, *names):
    file = folder / "gateway.yaml"
    file.write_text(starter([providers.read(name) for name in names]), "utf-8")
    link = folder / "openapi"
    if not link.exists():
        link.symlink_to(ROOT / "openapi")
    result = make_plan(file, {})
    assert [str(p) for p in result.problems if p.level is not Level.INFO] == []
    return result.plan


def has_known_credential(name):
    credential = providers.read(name).credential or {"bearer": ""}
    return bool(credential.keys() & set(credentials.names()))


def test_a_config_with_all_providers_is_right(tmp_path):
    names = [name for name in providers.names() if has_known_credential(name)]
    assert len(names) > 50
    assert list(plan(tmp_path, *names).config.upstreams) == names


@pytest.mark.parametrize("name", ["groq", "anthropic", "gemini"])
def test_a_config_of_one_provider_of_each_dialect_is_right(tmp_path, name):
    result = plan(tmp_path, name)
    assert list(result.config.models) == ["*"]
    assert result.config.upstreams[name].provider == name
    own = {route.operation.id: route.answer.name for route in result.routes if route.answer}
    assert own["modelway.getUsage"] == "usage"
    assert own["modelway.listUsageRequests"] == "usage_requests"


def test_each_of_several_providers_has_a_prefix(tmp_path):
    result = plan(tmp_path, "groq", "anthropic", "ollama")
    assert list(result.config.models) == ["groq/*", "anthropic/*", "ollama/*"]
    assert "groq/llama-3.3-70b-versatile" in ListedModels(result.config)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("groq", ['groq: {provider: groq, credential: {bearer: "${GROQ_API_KEY}"}}']),
        ("ollama", ["ollama: {provider: ollama}"]),
        (
            "azure",
            [
                "azure:",
                "  provider: azure",
                '  variables: {resource: "${AZURE_RESOURCE_NAME}"}',
                '  credential: {header: api-key, value: "${AZURE_API_KEY}"}',
            ],
        ),
    ],
)
def test_the_lines_of_an_entry(name, lines):
    assert entry_lines(providers.read(name)) == lines
