"""`transform` as a value of its entry."""

import dataclasses

from engine.config import providers
from tests.support.configs import read_config

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
    provider = dataclasses.replace(
        providers.read("openai"), upstream={"url": "https://h/v1", "transform": PATH}
    )
    monkeypatch.setattr(providers, "read", lambda name: provider)
    entry = f'{{provider: openai, credential: {{bearer: "${{KEY}}"}}, {TEXT}}}'
    config = read_config(f"upstreams: {{main: {entry}}}\n", {"KEY": "sk-1"})
    first, second = config.upstreams["main"].transform
    assert (first.options, first.at) == (PATH, ("upstreams", "main", "provider"))
    assert second.options == QUERY
