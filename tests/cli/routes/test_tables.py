"""The text of `modelway routes`: what a request may wait for."""

from __future__ import annotations

import json

import pytest

from engine.source import files
from tests.support.commands import modelway

CONFIG = """
version: 1
specs: {openai: {document: %s, dialect: openai}}
upstreams:
  big:
    url: http://10.0.0.5:8000/v1
    max_in_flight: 32
    queue: {size: 100, wait: 10s}
  many:
    url: http://models.example.com:8000/v1
    resolve: {every: 5s, server: "127.0.0.1:8600"}
  service: {url: http://models.example.com/v1, resolve: {srv: _http._tcp.models.internal}}
  listed: {url: http://models.example.com/v1, resolve: {file: addresses.txt}}
  plain: {url: http://10.0.0.6:8000/v1}
models:
  llama:
    to: [{upstream: big, max_in_flight: 24}, {upstream: plain, model: llama-3, max_in_flight: 2}]
    choose: least_busy
  free: {to: [{upstream: service}, {upstream: listed}]}
routes:
  - {operation: openai.createChatCompletion, model: $request.body#/model, priority: high}
  - operation: openai.createEmbedding
    to: [{upstream: many, max_in_flight: 3}, {upstream: plain}]
    choose: fastest
    hedge: {after: p95, idempotent: true}
"""


@pytest.fixture
def run(tmp_path):
    """A function that returns the output of `routes`."""
    path = tmp_path / "gateway.yaml"
    path.write_text(CONFIG % (files.DOCUMENTS / "openai.yaml"))
    (tmp_path / "addresses.txt").write_text("10.0.0.7:8000\n")
    return lambda *words: modelway("routes", "-c", str(path), *words).output


@pytest.fixture
def lines(run):
    """A function that returns the line that begins with some words."""
    texts = [" ".join(line.split()) for line in run().splitlines()]
    return lambda start: next(text for text in texts if text.startswith(start))


def test_a_route_shows_priority_and_hedge(lines):
    assert lines("POST /v1/chat/completions").endswith("token, validated, high priority")
    assert lines("POST /v1/embeddings").endswith("token, validated, hedge after p95")


def test_bounds_of_targets_are_beside_them(lines):
    assert "many (at most 3), plain (fastest)" in lines("POST /v1/embeddings")
    heading = lines("MODEL FORMATS")
    assert heading.endswith("CHOOSES AT ONE TIME")
    assert lines("llama ").endswith("least_busy big (at most 24), plain/llama-3 (at most 2)")
    assert lines("free ").endswith("weighted -")


def test_upstreams_show_bounds_queues_and_the_source_of_addresses(lines, run, tmp_path):
    assert lines("UPSTREAM ") == "UPSTREAM AT ONE TIME QUEUE EACH ADDRESS OF"
    assert lines("big ") == "big at most 32 100 for 10s each -"
    assert lines("many ") == "many - - models.example.com in DNS at 127.0.0.1:8600, every 5s"
    assert lines("service ") == "service - - service _http._tcp.models.internal in DNS, every 30s"
    assert lines("listed ") == f"listed - - file {tmp_path}/addresses.txt"
    assert "plain -" not in run()


def test_json_has_all_of_it(run):
    lists = json.loads(run("--format", "json"))
    embeddings = next(r for r in lists["routes"] if r["operation"] == "openai.createEmbedding")
    assert (embeddings["priority"], embeddings["hedge"]) == ("normal", "p95")
    assert [target["max_in_flight"] for target in embeddings["targets"]] == [3, None]
    llama = next(model for model in lists["models"] if model["model"] == "llama")
    assert [t["max_in_flight"] for t in llama["formats"][0]["targets"]] == [24, 2]
    big, many, *_ = lists["upstreams"]
    assert big == {
        "upstream": "big",
        "max_in_flight": 32,
        "queue": {"size": 100, "wait": 10.0},
        "addresses": None,
    }
    assert many["addresses"]["name"] == "models.example.com"
