"""A language of chat is one folder: one that is written here is translated like every other."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from engine.values.caller import digest
from tests.support.paths import ROOT
from tests.support.running import modelway

SECRET = "mw-zebra"
LANGUAGE = '''
"""Zebra: a `prompt` is answered with a `text`."""

import json

from engine.translations.neutral.language import Language, TargetRequest
from engine.translations.neutral.content import Text
from engine.translations.neutral.events import (
    BrokenAnswer, Close, Delta, End, Finish, Open, Start, UpstreamError,
)
from engine.translations.neutral.json_members import Members
from engine.translations.neutral.request import ChatRequest, Message


def read_request(body, line):
    unread = []
    members = Members(body, "", unread)
    text = Text(text=members.text("prompt") or "", place="prompt")
    request = ChatRequest(
        language="zebra", model=members.text("model") or line.model,
        messages=[Message(role="user", blocks=[text])],
        stream=members.boolean("stream") or False, unread=unread,
    )
    members.rest()
    return request


def write_request(request, model, losses):
    blocks = [block for message in request.messages for block in message.blocks]
    for block in blocks:
        if not isinstance(block, Text):
            losses.add(block.place, "zebras read text only")
    prompt = "".join(block.text for block in blocks if isinstance(block, Text))
    body = {"model": model, "prompt": prompt, "stream": request.stream}
    return TargetRequest(json.dumps(body).encode(), "/zebra/say")


def read_answer(body):
    text = Members(body).text("text") or ""
    return [Start(), Open(Text()), Delta(text), Close(), End(finishes={0: Finish(stop="end")})]


def write_answer(answer, request):
    return json.dumps({"text": "".join(o.text for o in answer.candidates[0].blocks)}).encode()


class Reader:
    def __init__(self):
        self._started = self._ended = False

    def read(self, data):
        members = Members(data)
        if not self._started:
            self._started = True
            yield Start()
            yield Open(Text())
        if members.boolean("end"):
            self._ended = True
            yield Close()
            yield End(finishes={0: Finish(stop="end")})
        else:
            yield Delta(members.text("text") or "")

    def end(self):
        if not self._ended:
            raise BrokenAnswer("the upstream's stream ended before it was complete")
        return []


class Writer:
    def __init__(self, request):
        pass

    def write(self, event):
        if isinstance(event, Delta):
            return b"data: " + json.dumps({"text": event.text}).encode() + b"\\n\\n"
        return b'data: {"end": true}\\n\\n' if isinstance(event, End) else b""


LANGUAGE = Language(
    name="zebra", dialect="openai", path_suffix="/zebra/say",
    read_request=read_request, write_request=write_request,
    read_answer=read_answer, write_answer=write_answer,
    stream_reader=Reader, stream_writer=Writer,
    read_error=lambda status, document: UpstreamError(status, "a zebra fell"),
)
'''
SITE = """
import engine.translations

engine.translations.__path__.append({folder!r})
"""
DOCUMENT = """
openapi: 3.1.0
info: {title: Zebra, version: "1"}
servers: [{url: /v1}]
components: {securitySchemes: {token: {type: http, scheme: bearer}}}
security: [{token: []}]
paths:
  /zebra/say:
    post:
      operationId: say
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses: {"200": {description: what it says}}
"""
CONFIG = f"""
version: 1
specs:
  zebra: {{document: zebra.yaml, dialect: openai}}
  anthropic: {{document: {ROOT}/openapi/anthropic.yaml, dialect: anthropic}}
upstreams:
  zebra: {{url: "http://zebra.test/v1", dialect: openai}}
  claude: {{url: "http://claude.test/v1", dialect: anthropic}}
models:
  zebra: {{to: [{{upstream: zebra}}], operations: [zebra.say], translate: strict}}
  claude: {{to: [{{upstream: claude, model: claude-sonnet-4-5}}], translate: strict}}
routes:
  - {{operations: [zebra.say, anthropic.createMessage], model: $request.body#/model}}
tokens: [{{name: alice, sha256: {digest(SECRET)}}}]
"""


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of processes in which the language's folder is in `engine.translations`."""
    folder = tmp_path_factory.mktemp("languages")
    (folder / "zebra").mkdir()
    (folder / "zebra" / "__init__.py").write_text(LANGUAGE)
    site = tmp_path_factory.mktemp("site")
    (site / "sitecustomize.py").write_text(SITE.format(folder=str(folder)))
    python_path = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([str(site), *([python_path] if python_path else [])])}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "zebra.yaml").write_text(DOCUMENT)
    (folder / "gateway.yaml").write_text(CONFIG)
    return folder


def explained(folder: Path, environ: dict[str, str], path: str, body: dict[str, Any]) -> Any:
    """The report of a request that goes through the whole gateway to a stand-in and back."""
    words = ("explain", "POST", path, "--token", "alice", "--format", "json")
    ran = modelway(*words, "-d", json.dumps(body), cwd=folder, environ=environ)
    assert ran.stdout, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.parametrize("stream", [False, True])
def test_its_callers_talk_to_models_of_another_language(
    folder: Path, environ: dict[str, str], stream: bool
) -> None:
    body = {"model": "claude", "prompt": "Stripes?", "stream": stream}
    report = explained(folder, environ, "/v1/zebra/say", body)
    assert (report["status"], report["error"]) == (200, None)
    (outgoing,) = report["upstream_requests"]
    assert (outgoing["url"], outgoing["model"]) == (
        "http://claude.test/v1/messages",
        "claude-sonnet-4-5",
    )
    assert "Stripes?" in json.dumps(outgoing["body"]["content"]["messages"])


@pytest.mark.parametrize("stream", [False, True])
def test_callers_of_another_language_talk_to_its_models(
    folder: Path, environ: dict[str, str], stream: bool
) -> None:
    turns = [{"role": "user", "content": "Stripes?"}]
    body = {"model": "zebra", "max_tokens": 9, "messages": turns, "stream": stream}
    report = explained(folder, environ, "/v1/messages", body)
    assert (report["status"], report["error"]) == (200, None)
    (outgoing,) = report["upstream_requests"]
    assert outgoing["url"] == "http://zebra.test/v1/zebra/say"
    expected = {"model": "zebra", "prompt": "Stripes?", "stream": stream}
    assert outgoing["body"]["content"] == expected


def test_what_it_cannot_say_is_refused_by_name(folder: Path, environ: dict[str, str]) -> None:
    report = explained(folder, environ, "/v1/zebra/say", {"model": "claude", "hoofs": 4})
    assert (report["status"], report["error"]["param"]) == (400, "hoofs")


def test_the_formats_of_every_model_include_it(folder: Path, environ: dict[str, str]) -> None:
    ran = modelway("routes", "--format", "json", cwd=folder, environ=environ)
    models = json.loads(ran.stdout)["models"]
    assert [[entry["format"] for entry in model["formats"]] for model in models] == [
        ["zebra", "messages"]
    ] * 2


def test_without_the_folder_it_is_no_chat(folder: Path) -> None:
    ran = modelway("routes", "--format", "json", cwd=folder)
    models = json.loads(ran.stdout)["models"]
    assert [[entry["format"] for entry in model["formats"]] for model in models] == [
        [],
        ["messages"],
    ]
