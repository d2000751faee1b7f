"""`modelway config`."""

import json
from pathlib import Path

from engine.cli.config import with_provider_values
from engine.config.load import load_file
from engine.source.problem import Findings, place_of
from tests.support import yaml_text
from tests.support.commands import GOOD, modelway


def test_the_effective_config_passes_check(folder):
    (folder / "prod.yaml").write_text("server: {workers: 3}\n")
    result = modelway("config", "-c", "gateway.yaml", "-c", "prod.yaml")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("# The effective config of gateway.yaml + prod.yaml\n")
    assert yaml_text.load(result.stdout)["server"] == {"workers": 3}
    (folder / "effective.yaml").write_text(result.stdout)
    assert modelway("check", "effective.yaml").exit_code == 0


def test_json_has_the_config_and_the_origins(folder):
    document = json.loads(modelway("config", "--json").stdout)
    assert document["config"]["version"] == 1
    assert document["origins"]["/version"] == "gateway.yaml:1:10"


def test_a_variable_that_is_not_set_is_no_error(folder):
    (folder / "gateway.yaml").write_text(GOOD + "currency: ${NOT_SET_HERE}\n")
    result = modelway("config")
    assert (result.exit_code, result.stderr) == (0, "")
    assert 'currency: "${NOT_SET_HERE}"  # gateway.yaml:5' in result.stdout


def test_errors_are_printed_beside_what_can_be_read(folder):
    (folder / "gateway.yaml").write_text(GOOD + "servr: {}\n")
    result = modelway("config")
    assert result.exit_code == 1
    assert "servr: {}  # gateway.yaml:5" in result.stdout
    assert "gateway.yaml:5:1: error" in result.stderr
    assert result.stderr.endswith("\n1 error.\n")


def test_a_config_that_cannot_be_read_is_not_printed(folder):
    (folder / "gateway.yaml").write_text("a: [\n")
    result = modelway("config")
    assert result.exit_code == 1
    assert "nothing is printed" in result.stderr


PROVIDED = GOOD.replace(
    'upstreams: {main: {url: "http://127.0.0.1:9"}}\n',
    """upstreams:
  main:
    provider: azure-deployments
    variables: {resource: "${RESOURCE}"}
    credential: {header: api-key, value: s3cret-s3cret}
    transform: {request: {query: {set: {trace: "1"}}}}
""",
)


def provided(folder, monkeypatch, *options):
    monkeypatch.setenv("RESOURCE", "east-shop")
    (folder / "gateway.yaml").write_text(PROVIDED)
    result = modelway("config", *options)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_with_defaults_an_upstream_has_the_values_of_its_provider(folder, monkeypatch):
    text = provided(folder, monkeypatch, "--defaults")
    assert "\n    dialect: openai  # engine/providers/azure-deployments.yaml:" in text
    upstream = yaml_text.load(text)["upstreams"]["main"]
    assert upstream["url"] == "https://${RESOURCE}.openai.azure.com/openai"
    assert upstream["missing_paths"] == ["/responses"]
    assert upstream["credential"]["value"] == "***"
    assert upstream["transform"] == {"request": {"query": {"set": {"trace": "1"}}}}


def test_defaults_can_be_left_out(folder, monkeypatch):
    text = provided(folder, monkeypatch)
    assert "dialect:" not in text.partition("upstreams:")[2]


def test_the_config_with_defaults_has_the_same_effect(folder, monkeypatch):
    (folder / "defaults.yaml").write_text(
        provided(folder, monkeypatch, "--defaults").replace('"***"', "s3cret-s3cret")
    )
    result = modelway("diff", "gateway.yaml", "defaults.yaml")
    assert (result.exit_code, result.output) == (0, "no difference\n")


def test_the_transform_of_a_provider_is_apart(folder, monkeypatch):
    text = provided(folder, monkeypatch, "--defaults")
    assert '    #     path: "/deployments/{target.model}{target.path}"  # engine/providers/' in text
    document = json.loads(provided(folder, monkeypatch, "--defaults", "--json"))
    transform = document["providers"]["main"]["config"]["transform"]["request"]
    assert transform["query"] == {"default": {"api-version": "2024-10-21"}}
    assert "/upstreams/main/url" in document["origins"]


def completed(folder, entry, **environ):
    """The config with provider values, for one upstream."""
    file = folder / "gateway.yaml"
    file.write_text(f"upstreams:\n  one: {entry}\n")
    _, document = load_file(Path(file), environ, Findings())
    return with_provider_values(document)


def test_values_of_the_entry_are_kept_and_have_their_own_place(tmp_path):
    document, _ = completed(tmp_path, "{provider: groq, dialect: plain}")
    assert document.value["upstreams"]["one"]["dialect"] == "plain"
    assert place_of(document, ("upstreams", "one", "dialect")).file.endswith("gateway.yaml")
    place = place_of(document, ("upstreams", "one", "url"))
    assert place.file == "engine/providers/groq.yaml"


def test_a_variable_without_a_value_stays(tmp_path):
    document, _ = completed(tmp_path, "{provider: vertex, variables: {location: us}}")
    url = document.value["upstreams"]["one"]["url"]
    assert url.startswith("https://aiplatform.us.rep.googleapis.com/v1beta1/projects/{project}/")


def test_an_unknown_provider_adds_nothing(tmp_path):
    document, transforms = completed(tmp_path, "{provider: nobody}")
    assert document.value == {"upstreams": {"one": {"provider": "nobody"}}}
    assert transforms == {}
