"""Importers: cases/imports/SOURCE holds configs of other gateways, and beside each the result."""

import os
import re
from pathlib import Path

import pytest
import yaml

from engine.offline.imports import sources
from engine.plan.assembly.make_plan import make_plan
from engine.source.reader import read_file
from tests.support import paths, yaml_text
from tests.support.each import each

FOLDER = paths.CASES / "imports"
CASES = [
    (source, file)
    for source in sources.names()
    for file in sorted((FOLDER / source).glob("*.yaml"))
    if not file.name.endswith(".gateway.yaml")
]


def test_every_source_has_cases():
    assert {source for source, _ in CASES} == set(sources.names())


def drafted(source, file):
    return sources.read(source, read_file(file, file.name))


def environ(names):
    """A value for each variable."""
    is_url = re.compile("BASE|URL")
    return {name: "https://set.example.com" if is_url.search(name) else "set" for name in names}


PREFIXES = (FOLDER / "litellm" / "prefixes.txt").read_text().split()
"""Every prefix of model names that LiteLLM has (`LlmProviders` and providers.json of 1.110)."""
OF_OPENAI = {
    *("openai", "text-completion-openai", "custom_openai", "openai_like", "litellm_proxy"),
    "aiohttp_openai",
}
"""The prefixes for any server that speaks OpenAI's API."""


@each("prefix", [*PREFIXES, "no-such-provider", "meta-llama"])
def test_no_prefix_becomes_openai_unless_it_means_any_server(tmp_path, prefix):
    file = tmp_path / "config.yaml"
    parameters = {"model": f"{prefix}/some-model", "api_base": "https://a.test/v1", "api_key": "k"}
    file.write_text(
        yaml.safe_dump({"model_list": [{"model_name": "m", "litellm_params": parameters}]})
    )
    draft = drafted("litellm", file)
    used = {upstream.value["provider"] for upstream in draft.upstreams.values()}
    assert bool(draft.models) == bool(used)
    assert (used == {"openai"}) == (prefix in OF_OPENAI), used
    if not used:
        assert any(f"'{prefix}/some-model'" in note.reason for note in draft.notes)
    for model in draft.models.values():
        assert [target["model"] for target in model.value["to"]] == ["some-model"]


def test_a_url_of_the_environment_may_end_in_a_slash(folder):
    draft = drafted("litellm", FOLDER / "litellm" / "azure-base.yaml")
    environ = {"AZURE_API_BASE": "https://x.openai.azure.com/", "AZURE_API_VERSION": "1"}
    planned = make_plan(Path("gateway.yaml"), {**environ, "AZURE_API_KEY": "k"}, draft.text("x"))
    assert planned.plan is not None
    urls = {upstream.url for upstream in planned.plan.config.upstreams.values()}
    assert urls == {"https://x.openai.azure.com/openai"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "openapi").mkdir()
    for document in (paths.ROOT / "openapi").glob("*.yaml"):
        (tmp_path / "openapi" / document.name).symlink_to(document)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@each(("source", "file"), CASES, ids=lambda value: getattr(value, "stem", value))
def test_the_result_is_the_one_beside_the_case(source, file):
    text = drafted(source, file).text(sources.title(source))
    assert text == file.with_suffix(".gateway.yaml").read_text("utf-8")


@each(("source", "file"), CASES, ids=lambda value: getattr(value, "stem", value))
def test_the_result_passes_check(folder, source, file):
    draft = drafted(source, file)
    for name, document in draft.documents.items():
        (folder / "openapi" / name).write_text(yaml_text.dump(document), "utf-8")
    variables = {**environ(draft.variables()), "HOME": os.environ["HOME"]}  # for the cache
    planned = make_plan(Path("gateway.yaml"), variables, draft.text("x"))
    assert [str(error) for error in planned.findings.errors] == []


@each(("source", "file"), CASES, ids=lambda value: getattr(value, "stem", value))
def test_no_secret_of_the_source_is_in_the_result(source, file):
    text = drafted(source, file).text(sources.title(source))
    assert not re.search("written-out|sk-1234", text)
