"""Documents as they really are: each breach of the standard as a small document, served for real.

A case is tests/cases/breaches/<point>-<name>.yaml, the point being that of the notes on vendors'
documents. Its last lines say what comes of it, every operation served by one wildcard route:

    # route: validate: lenient             more of the route; `auth` asks for the token `the-token`
    # expect: 12:7 MW221 words             a warning at that place, with that beginning; `file:12:7`
    # refused: a b                         the operations that are not served
    # pass: POST /x {"a": 1}               a request that goes to the upstream (which is not there)
    # fail: POST /x {"a": 1} => 400 a      one that is refused, with the place

Before a body may stand a media type, and a header as `Name:word=word`.
"""

import re
from pathlib import Path
from typing import NamedTuple

import falcon.testing
import orjson
import pytest

from engine.app.build import build
from engine.plan.assembly.make_plan import make_plan
from engine.source.problem import Level
from engine.values.caller import digest
from tests.support import paths
from tests.support.translating import SPECS

CASES = paths.CASES / "breaches"
FILES = sorted(CASES.glob("*.yaml"))
CONFIG = """version: 1
specs: {{api: {{document: "{document}"}}}}
upstreams:
  up:
    url: http://127.0.0.1:9
    proxy: ""
    retry: {{attempts: 1}}
    breaker: {{failures: 1000000}}
routes:
  - operations: api.*
    to: [{{upstream: up}}]
    {more}
tokens: [{{name: one, sha256: {token}}}]
"""


class Request(NamedTuple):
    method: str
    target: str
    headers: dict[str, str]
    body: str
    status: int
    param: str | None


def lines_of(file, word):
    return re.findall(rf"^# {word}: (.+)$", file.read_text(), re.MULTILINE)


def planned(file):
    more = " ".join(lines_of(file, "route")) or "auth: none"
    if more == "auth":
        more = ""
    elif "auth" not in more:
        more += "\n    auth: none"
    text = CONFIG.format(document=file.name, more=more, token=digest("the-token"))
    return make_plan(CASES / "gateway.yaml", {}, text)


def requests(file):
    entries = [(line, True) for line in lines_of(file, "pass")]
    entries += [(line, False) for line in lines_of(file, "fail")]
    for line, passes in entries:
        line, _, expected = line.partition(" => ")
        method, target, *content = line.split(" ", 2)
        content = content[0] if content else ""
        headers = {"content-type": "application/json"} if content.startswith("{") else {}
        if header := re.match(r"(\w+):(\w+)=(\S+) ?", content):
            headers[header[1]] = f"{header[2]} {header[3]}"
            content = content[header.end() :]
        if media := re.match(r"([a-z]+/\S+) ", content):
            headers["content-type"] = media[1]
            content = content[media.end() :]
        body = content.replace("\\r\\n", "\r\n")
        status, _, param = expected.partition(" ")
        yield Request(method, target, headers, body, 502 if passes else int(status), param or None)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_mend_and_refusal_is_a_warning_at_its_place(file):
    result = planned(file)
    expected = []
    for line in lines_of(file, "expect"):
        place, code, words = (line + "  ").split(" ", 2)
        name, _, at = place.rpartition(":")[0].rpartition(":")
        name = name or file.name
        expected.append((f"{name}:{at}:{place.rpartition(':')[2]}", code, words.strip()))
    entries = [p for p in result.problems if p.level is not Level.INFO and p.code != "MW308"]
    assert {p.level for p in entries} <= {Level.WARNING}
    places = [(f"{Path(p.file).relative_to(CASES)}:{p.line}:{p.column}", p.code) for p in entries]
    assert sorted(places) == sorted((place, code) for place, code, _ in expected)
    for place, code, words in expected:
        assert any(p.message.startswith(words) for p in entries if p.code == code), (place, words)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_operations_that_cannot_be_read_are_refused_and_named(file):
    result = planned(file)
    refused_ids = " ".join(lines_of(file, "refused")).split()
    assert sorted(result.specifications["api"].refusals) == sorted(refused_ids)
    left_out = [p.message for p in result.problems if p.code == "MW308"]
    assert bool(left_out) == bool(refused_ids)
    assert all(f"api.{name}" in left_out[0] for name in refused_ids)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_requests_pass_or_are_refused_with_their_place(file):
    result = planned(file)
    assert result.plan is not None, result.problems
    app = build(result.plan)
    for request in requests(file):
        assert answer(app, request) == (request.status, request.param), request


def answer(app, request):
    path, _, query = request.target.partition("?")
    environ = falcon.testing.create_environ(
        path, query, method=request.method, headers=request.headers, body=request.body
    )
    environ["RAW_URI"] = request.target
    status = []
    body = b"".join(app(environ, lambda line, headers, *_: status.append(int(line[:3]))))
    error = orjson.loads(body)
    return status[0], error.get("error", error).get("param") or None


def test_there_is_a_case_for_every_point():
    # 13 is about sizes: benchmarks/documents.py.
    points = {int(file.name[:2]) for file in FILES}
    assert points == set(range(1, 18)) - {13}
    assert all(any(requests(file)) for file in FILES)


def test_members_have_the_spellings_of_their_dialect(tmp_path):
    rest = """
upstreams:
  gemini: {url: "http://gemini.test", dialect: gemini}
  anthropic: {url: "http://anthropic.test", dialect: anthropic}
routes:
  - {operation: gemini.generateContent, to: [{upstream: gemini}], auth: none}
  - {operation: anthropic.createMessage, to: [{upstream: anthropic}], auth: none}
"""
    result = make_plan(tmp_path / "gateway.yaml", {}, f"version: 1\n{SPECS}{rest}")
    assert result.plan is not None, result.findings.errors
    gemini, anthropic = (route.operation.bodies.spellings for route in result.plan.routes)
    assert gemini.documented("generation_config") == "generationConfig"
    assert anthropic is None
