"""A dialect is one file: one that is written into a folder here is served like every other."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.ports import free_port
from tests.support.recording import Wire, ask, request
from tests.support.running import (
    ALL,
    CREDENTIAL,
    TOKENS,
    Running,
    engine,
    gateway,
    modelway,
    start,
)
from tests.support.waiting import until

DIALECT = '''
"""Acme's dialect: errors `{"fault": {...}}`, usage in `spent`, models in `catalog`."""

from msgspec import Struct

from engine.dialects.interface.chat_format import ChatFormat, Program
from engine.dialects.interface.dialect import Dialect
from engine.dialects.interface.streams import StreamError, StreamRules
from engine.dialects.interface.usage import Count, Meter, RequestFields
from engine.dialects.interface.usage_counts import counts_in
from engine.values.usage import OutputFields
from engine.values.usage import Usage


class Spent(Struct):
    heard: Count = None
    spoken: Count = None


def usage_of(document):
    spent = counts_in(document.get("spent") if isinstance(document, dict) else None, Spent)
    return None if spent.heard is None else Usage(spent.heard, spent.spoken or 0, source="upstream")


class StreamTally:
    def __init__(self):
        self.ended, self._usage = False, None

    def take(self, document):
        self._usage = usage_of(document) or self._usage
        self.ended = self._usage is not None

    def usage(self):
        return self._usage


PROGRAM = Program(
    start="acme(@BASE@)", call="say", on_event="show(event)", on_answer="show(answer)"
)

DIALECT = Dialect(
    name="acme",
    claims=lambda environ, query: "HTTP_X_ACME" in environ,
    error=lambda error, request_id: {"fault": {"status": error.status, "words": error.message}},
    is_error=lambda document: isinstance(document, dict) and "fault" in document,
    is_error_event=lambda document: isinstance(document, dict) and "fault" in document,
    error_event=lambda body: b"data: " + body + b"\\n\\n",
    error_prefixes=(b'{"fault":{',),
    stream_error=lambda document: StreamError(document["fault"]["status"], document),
    has_content=lambda document: "begin" not in document,
    models=lambda models, parameters: {"catalog": models.documents},
    model=lambda card: {"called": card.name},
    meter=Meter(usage_of=usage_of, tally=StreamTally, key="spent", members=("spent",)),
    request_fields=RequestFields(output=OutputFields(limits=(("at_most",),))),
    stream=StreamRules(names=False, comments=False, end_marker=False),
    provider="acme.ai",
    operation_names={"say": "chat"},
    chat_formats=(
        ChatFormat(
            name="acme-say",
            title="Acme says",
            path_suffix="/say",
            sdk_suffix="/say",
            module="chat",
            curl_headers='-H "Authorization: Bearer $TOKEN"',
            arguments=lambda model: {"model": model, "prompt": "Hello!"},
            programs={"python": PROGRAM, "javascript": PROGRAM},
        ),
    ),
)
'''
SITE = """
import engine.dialects

engine.dialects.__path__.append({folder!r})
"""
DOCUMENT = """
openapi: 3.1.0
info: {title: Acme, version: "1"}
servers: [{url: /acme}]
components: {securitySchemes: {token: {type: http, scheme: bearer}}}
security: [{token: []}]
paths:
  /say:
    post:
      operationId: say
      requestBody:
        content:
          application/json:
            schema:
              type: object
              required: [model, prompt]
              properties:
                model: {type: string}
                prompt: {type: string}
                at_most: {type: integer}
                stream: {type: boolean}
      responses:
        "200":
          description: what it says
          content:
            application/json:
              schema: {properties: {text: {}, spent: {}}}
              example: {text: "{{text}}", spent: {heard: 11, spoken: 5}}
            text/event-stream:
              example: |
                data: {"begin": true}

                data: {"text": "{{word}}"}

                data: {"spent": {"heard": 11, "spoken": 5}}
  /models:
    get: {operationId: listModels, responses: {"200": {description: models}}}
"""
CONFIG = """
version: 1
server: {{listen: "{{listen}}", workers: 1}}
specs: {{acme: {{document: acme.yaml, dialect: acme}}}}
upstreams:
  acme: {{url: "{url}/acme", credential: {{bearer: {credential}}}, retry: {{attempts: 1}}}}
models: {{"*": {{to: [{{upstream: acme}}]}}, bird: {{to: [{{upstream: acme}}]}}}}
routes:
  - {{operations: [acme.say], model: $request.body#/model}}
  - {{operations: [acme.listModels], answer: models}}
"""


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of processes in which the dialect's folder is one of `engine.dialects`."""
    folder = tmp_path_factory.mktemp("dialects")
    (folder / "acme.py").write_text(DIALECT)
    site = tmp_path_factory.mktemp("site")
    (site / "sitecustomize.py").write_text(SITE.format(folder=str(folder)))
    python_path = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([str(site), *([python_path] if python_path else [])])}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("acme")
    (folder / "acme.yaml").write_text(DOCUMENT)
    return folder


@pytest.fixture(scope="module")
def running(environ: dict[str, str], folder: Path) -> Iterator[Running]:
    """A gateway before the mock, both of which speak the dialect."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    config = CONFIG.format(url=url, credential=CREDENTIAL) + TOKENS
    (folder / "mock.yaml").write_text(config.replace("{listen}", "127.0.0.1:1"))
    options = ("--port", str(port), "--credential", CREDENTIAL, "-c", "mock.yaml")
    mock = start(engine("mock", *options), port, folder, environ)
    try:
        with gateway(folder, config, {**environ, "NO_PROXY": "*"}) as front:
            yield front
    finally:
        mock.stop()


def say(running: Running, model: str, **fields: object) -> tuple[int, bytes]:
    body = json.dumps({"model": model, "prompt": "hello dear bird", **fields}).encode()
    response = ask(running.port, request("/acme/say", body, token=ALL))
    return response.status, response.body


def tokens(running: Running, model: str) -> dict[str, float]:
    page = ask(running.telemetry, request("/metrics")).body.decode()
    samples = [s for family in text_string_to_metric_families(page) for s in family.samples]
    totals = [s for s in samples if s.name == "modelway_tokens_total"]
    return {s.labels["type"]: s.value for s in totals if s.labels["model"] == model}


def test_an_answer_and_its_usage(running: Running) -> None:
    status, body = say(running, "bird")
    assert (status, json.loads(body)["text"]) == (200, "hello dear bird")
    until(lambda: tokens(running, "bird") == {"input": 11, "output": 5}, "the usage")


def test_a_stream_and_its_usage(running: Running) -> None:
    status, body = say(running, "songbird", stream=True)
    assert status == 200
    assert body.startswith(b'data: {"begin": true}\n\ndata: {"text": "hello "}\n\n')
    assert body.endswith(b'"spoken": 5}}\n\n')
    until(lambda: tokens(running, "*") == {"input": 11, "output": 5}, "the usage")


def test_an_error_has_its_shape(running: Running) -> None:
    status, body = say(running, "fault-status-503")
    assert (status, json.loads(body)["fault"]["status"]) == (503, 503)
    response = ask(running.port, request("/acme/say", b"{}", token=ALL))
    assert (response.status, json.loads(response.body)["fault"]["status"]) == (400, 400)


def cut_body(wire: Wire) -> bytes:
    """The body of an answer that ends without its last chunk."""
    body = b""
    try:
        for piece in wire.pieces():
            body += piece
    except EOFError:
        return body
    raise AssertionError("a clean end")


def test_an_error_in_mid_stream(running: Running) -> None:
    body = json.dumps({"model": "fault-error-after-2", "prompt": "hi", "stream": True}).encode()
    with Wire(running.port) as wire:
        wire.send(request("/acme/say", body, token=ALL))
        assert wire.head()[0] == 200
        received = cut_body(wire)
    last = received.split(b"\n\n")[-2].removeprefix(b"data: ")
    assert json.loads(last)["fault"]["status"] == 503


def test_an_error_before_content_has_a_status(running: Running) -> None:
    status, body = say(running, "fault-error-after-1", stream=True)
    assert (status, json.loads(body)["fault"]["status"]) == (503, 503)


def test_the_model_list(running: Running) -> None:
    response = ask(running.port, request("/acme/models", token=ALL))
    assert json.loads(response.body) == {"catalog": [{"called": "bird"}]}


def test_a_path_that_does_not_exist(running: Running) -> None:
    response = ask(running.port, request("/nowhere", headers=["X-Acme: 1"]))
    assert (response.status, list(json.loads(response.body))) == (404, ["fault"])


def test_the_console(running: Running) -> None:
    assert "Acme says" in ask(running.port, request("/")).body.decode()
    listing = json.loads(ask(running.port, request("/console/models.json", token=ALL)).body)
    assert [(form["name"], form["path"]) for form in listing["formats"]] == [
        ("acme-say", "/acme/say")
    ]
    assert listing["models"][0]["formats"] == ["acme-say"]


def test_the_routes(running: Running, environ: dict[str, str], folder: Path) -> None:
    result = modelway("routes", "-c", "mock.yaml", cwd=folder, environ=environ)
    assert result.returncode == 0, result.stderr
    assert "/acme/say" in result.stdout


def test_without_the_file_it_is_an_unknown_dialect(running: Running, folder: Path) -> None:
    checked = modelway("check", "-c", "mock.yaml", cwd=folder)
    assert checked.returncode == 1
    assert "unknown dialect 'acme'" in checked.stdout + checked.stderr
