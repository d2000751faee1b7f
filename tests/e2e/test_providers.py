"""Each provider through the gateway: three lines of config, and the request at its address."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from engine.config import providers
from engine.config.load import load
from engine.source.problem import Findings
from tests.support import yaml_text
from tests.support.each import each
from tests.support.paths import CASES
from tests.support.recorded import RecordedGateway, recorded_gateway
from tests.support.recording import ReceivedRequest, ask, request
from tests.support.running import ALL, TOKENS, modelway

EXPECTED: dict[str, Any] = yaml_text.load((CASES / "providers.yaml").read_text("utf-8"))
NAMES = list(providers.names())
MESSAGES = [{"role": "user", "content": "hi"}]
REQUESTS = {
    "openai": ("/v1/chat/completions", {"messages": MESSAGES, "max_completion_tokens": 9}),
    "anthropic": ("/v1/messages", {"messages": MESSAGES, "max_tokens": 9}),
    "gemini": (
        "/v1beta/models/{model}:generateContent",
        {"contents": [{"parts": [{"text": "hi"}]}]},
    ),
    "embeddings": ("/v1/embeddings", {"input": "hi"}),
}
"""A request in the language of the provider, which only the provider's own settings change."""


def entry(name: str) -> dict[str, Any]:
    """The entry of a provider under `upstreams`, with a credential in its place."""
    provider = providers.read(name)
    upstream_config: dict[str, Any] = {"provider": name}
    variables = {n: "ours" for n, variable in provider.variables.items() if not variable.default}
    if variables:
        upstream_config["variables"] = variables
    if provider.credential is not None:
        places = {key: provider.credential.get(key) for key in ("header", "query")}
        place = {key: value for key, value in places.items() if value}
        upstream_config["credential"] = {**place, "value": "key"} if place else {"bearer": "key"}
    return upstream_config


def url_of(name: str) -> str:
    """The address of a provider, with its variables filled in."""
    text = json.dumps({"version": 1, "upstreams": {"main": entry(name)}})
    config, _ = load(text, "gateway.yaml", Path("/"), {}, Findings())
    assert config is not None
    return config.upstreams["main"].url


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedGateway]:
    """A gateway with every provider, each at the path of its own address."""
    folder = tmp_path_factory.mktemp("providers") / "project"
    process = modelway("init", folder, *(word for name in NAMES for word in ("--provider", name)))
    assert process.returncode == 0, process.stdout + process.stderr
    config = yaml_text.load((folder / "gateway.yaml").read_text("utf-8"))
    config["server"]["listen"] = "{listen}"
    del config["telemetry"]  # the address that the shipped config has: `gateway` gives it a port
    for name in NAMES:
        url = "${UPSTREAM}" + urlsplit(url_of(name)).path
        config["upstreams"][name] = {**entry(name), "url": url, "proxy": ""}
    config["tokens"] = yaml_text.load(TOKENS)["tokens"]
    with recorded_gateway(folder, yaml_text.dump(config)) as running:
        yield running


def request_to_upstream(name: str, recorded: RecordedGateway) -> ReceivedRequest:
    """The request at the upstream for a chat, or for embeddings, with the model `m`."""
    expected = EXPECTED[name]
    language = "embeddings" if "embeddings" in expected["url"] else expected.get("language")
    path, body = REQUESTS[language or str(providers.read(name).upstream["dialect"])]
    model = f"{name}/m"
    if "{model}" not in path:
        body = {"model": model, **body}
    recorded.upstream.reset()
    data = request(path.replace("{model}", model), json.dumps(body).encode(), token=ALL)
    ask(recorded.gateway.port, data)
    return recorded.upstream.last


def test_every_provider_is_in_the_table() -> None:
    assert list(EXPECTED) == NAMES


@each("name", NAMES)
def test_the_request_has_the_address_and_the_credential_of_the_provider(
    name: str, recorded: RecordedGateway
) -> None:
    expected, received = EXPECTED[name], request_to_upstream(name, recorded)
    parts = urlsplit(url_of(name))
    assert f"{parts.scheme}://{parts.netloc}{received.target}" == expected["url"]
    header, _, value = expected.get("header", "").partition(": ")
    assert not header or received.values(header) == [value]
    credentials = [text for _, text in received.headers if "key" in text.split()]
    assert len(credentials) == (1 if header else 0)
    assert ALL not in str(received.headers)
    body = json.loads(received.body)
    assert body.get("model", "m") == "m"
    limits = body.keys() & {"max_tokens", "max_completion_tokens"}
    assert not limits or limits == {expected.get("limit", "max_completion_tokens")}


def test_models_of_all_providers_are_listed_under_their_prefix(recorded: RecordedGateway) -> None:
    answer = ask(recorded.gateway.port, request("/v1/models", token=ALL)).json()
    names = {model["id"] for model in answer["data"]}
    assert len(names) == len(answer["data"]) > 1000
    assert {"groq/llama-3.3-70b-versatile", "anthropic/claude-sonnet-4-5", "openai/gpt-4o"} <= names
    assert not any(name.startswith("azure/") for name in names)


def test_a_model_that_no_file_knows_is_served(recorded: RecordedGateway) -> None:
    recorded.upstream.reset()
    body = json.dumps({"model": "groq/of-next-week", "messages": MESSAGES}).encode()
    assert (
        ask(recorded.gateway.port, request("/v1/chat/completions", body, token=ALL)).status == 200
    )
    assert json.loads(recorded.upstream.last.body)["model"] == "of-next-week"


def test_responses_are_translated_for_a_provider_without_them(recorded: RecordedGateway) -> None:
    def path(provider: str) -> str:
        recorded.upstream.reset()
        body = json.dumps({"model": f"{provider}/m", "input": "hi"}).encode()
        ask(recorded.gateway.port, request("/v1/responses", body, token=ALL))
        return recorded.upstream.last.target

    assert path("mistral") == "/v1/chat/completions"
    assert path("openai") == "/v1/responses"


def test_a_name_without_its_prefix_is_404_with_the_whole_name(recorded: RecordedGateway) -> None:
    body = json.dumps({"model": "llama-3.3-70b-versatile", "messages": MESSAGES}).encode()
    answer = ask(recorded.gateway.port, request("/v1/chat/completions", body, token=ALL))
    assert answer.status == 404
    assert "Did you mean 'groq/llama-3.3-70b-versatile'?" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "body", "target"),
    [
        ("/v1/rerank", {"model": "cohere/m", "query": "q", "documents": ["d"]}, "/v2/rerank"),
        ("/v2/rerank", {"model": "cohere/m", "query": "q", "documents": ["d"]}, "/v2/rerank"),
        ("/v1/embeddings", {"model": "cohere/m", "input": "a"}, "/compatibility/v1/embeddings"),
        ("/v1/rerank", {"model": "jina/m", "query": "q", "documents": ["d"]}, "/v1/rerank"),
        ("/v1/rerank", {"model": "voyage/m", "query": "q", "documents": ["d"]}, "/v1/rerank"),
    ],
)
def test_reranking_and_embeddings_have_their_own_paths(
    path: str, body: dict[str, Any], target: str, recorded: RecordedGateway
) -> None:
    recorded.upstream.reset()
    data = request(path, json.dumps(body).encode(), token=ALL)
    assert ask(recorded.gateway.port, data).status == 200
    assert recorded.upstream.last.target == target
    assert json.loads(recorded.upstream.last.body) == {**body, "model": "m"}
