"""Files are copied by the routes of the config, as their caller would."""

from functools import partial

import gevent
import orjson
import pytest

from engine.app.build import build
from engine.app.routes.file_calls import FileCalls
from engine.app.routes.file_copier import FileCopier
from engine.app.services.worker_services import services_of
from engine.config.objects import FileRules
from engine.edge.inside_call import InsideCalls
from engine.exchange.opened_ids import Holder
from engine.objects.file_copies import FileCopies
from engine.objects.sealed_ids import Identity, Sealer, owner_of
from engine.offline.rehearsal.stand_ins import CannedResponse, Recorder, StandInAnswer
from engine.plan.assembly.make_plan import make_plan
from engine.spec.bodies.multipart import boundary_of, parse
from engine.values.caller import Caller
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.paths import ROOT

KEY = "0123456789abcdef" * 2
ANN = Caller("ann")
CONFIG = """
version: 1
objects: {key: KEY, files: {copy: true}}
specs:
  here: {document: openai-files.yaml, dialect: openai, mount: /here}
  there: {document: anthropic-files.yaml, dialect: anthropic, mount: /there}
upstreams:
  here: {url: "http://127.0.0.1:9/v1", dialect: openai, credential: {bearer: first}}
  there:
    url: "http://127.0.0.1:9/v1"
    dialect: anthropic
    credentials: [{header: x-api-key, value: second}, {header: x-api-key, value: third}]
  away: {url: "http://127.0.0.1:9/v1", dialect: openai, credential: {bearer: fourth}}
routes:
  - {operations: here.*, to: [{upstream: here}]}
  - {operations: there.*, to: [{upstream: there}]}
tokens: [{name: ann, sha256: "0000000000000000000000000000000000000000000000000000000000000000"}]
"""
THERE = Holder("there", 1)
FACTS = {"id": "file-1", "filename": 'my "page".pdf', "bytes": 7, "object": "file"}


class Vendors(Recorder):
    """A client that answers for both vendors; `answers` replaces some, by method and last name."""

    def __init__(self, url, *, requests, answers, **settings):
        super().__init__(url, requests=requests, answers=None, **settings)
        self.answered = answers

    def send(self, method, target, headers, body, total=None):
        data = body if isinstance(body, bytes) else b"".join(body.chunks()) if body else b""
        self._requests.append((method, target, dict(headers), data))
        answer = self.answered.get((method, target.rpartition("/")[2]))
        if isinstance(answer, float):
            gevent.sleep(answer)
        elif answer is not None:
            return CannedResponse(*answer)
        if target.endswith("/content"):
            return CannedResponse(200, StandInAnswer("application/octet-stream", b"content"))
        value = {"id": "file_2"} if method == "POST" else FACTS
        return CannedResponse(200, StandInAnswer(JSON, orjson.dumps(value)))


JSON = "application/json"


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    folder = tmp_path_factory.mktemp("copier")
    for name in ("openai-files.yaml", "anthropic-files.yaml"):
        (folder / name).write_bytes((ROOT / "openapi" / name).read_bytes())
    (folder / "gateway.yaml").write_text(CONFIG.replace("KEY", KEY))
    result = make_plan(folder / "gateway.yaml", {})
    assert result.plan is not None, [problem.message for problem in result.problems]
    return result.plan


def identity(upstream="here", vendor_id="file-1"):
    return Identity(vendor_id, Holder(upstream), owner_of(ANN, "token"))


def copy(plan, source="here", to=THERE, answers=None, **rules):
    """What a copy of a file says, and the requests that the vendors got."""
    requests = []
    app = build(
        plan, services_of(plan), client=partial(Vendors, requests=requests, answers=answers or {})
    )
    sealer = Sealer([KEY], plan.config.upstreams)
    copies = FileCopies(None, sealer, 10.0, lambda: 0.0)
    copier = FileCopier(FileCalls(plan, InsideCalls(app)), copies, FileRules(copy=True, **rules))
    exchange = new_exchange(caller=ANN)
    text = sealer.seal(identity(source), "file")
    return sealer.open(copier.copy(exchange, text, identity(source), to), "file"), requests


def test_a_file_is_uploaded_with_the_credential_and_the_mark_of_its_owner(plan):
    found, requests = copy(plan)
    assert found == Identity("file_2", Holder("there", 1), owner_of(ANN, "token"))
    assert [each[:2] for each in requests] == [
        ("GET", "/v1/files/file-1"),
        ("GET", "/v1/files/file-1/content"),
        ("POST", "/v1/files"),
    ]
    _, _, headers, body = requests[-1]
    assert headers["x-api-key"] == "third"
    assert headers["anthropic-beta"] == "files-api-2025-04-14"
    (part,) = parse(body, boundary_of(headers["content-type"]))
    assert body[part.start : part.end] == b"content"
    assert part.filename.startswith("mwo-")
    assert part.filename.endswith("-my _page_.pdf")
    assert part.content_type == "application/pdf"


def error(status, message="no"):
    return status, StandInAnswer(JSON, orjson.dumps({"error": {"message": message}}))


@each(
    ("answers", "rules", "status", "words"),
    [
        ({("GET", "content"): error(400, "user_data is not downloaded")}, {}, 400, "user_data"),
        ({("GET", "file-1"): error(404)}, {}, 400, "cannot be copied to 'there'"),
        ({("POST", "files"): error(413, "too big")}, {}, 400, "too big"),
        ({("POST", "files"): error(501)}, {}, 501, "was not copied"),
        ({("POST", "files"): (200, StandInAnswer(JSON, b"{}"))}, {}, 400, "without an id"),
        ({}, {"max_size": 6}, 400, "7 bytes, more than 6"),
        (
            {("GET", "file-1"): (200, StandInAnswer(JSON, b"{}"))},
            {"max_size": 6},
            400,
            "more than 6",
        ),
        ({("GET", "content"): 5.0}, {"timeout": 0.05}, 504, "within 0.05 seconds"),
    ],
)
def test_a_file_that_is_not_copied(plan, answers, rules, status, words):
    with pytest.raises(GatewayError, match=words) as excinfo:
        copy(plan, answers=answers, **rules)
    assert excinfo.value.status == status


@each(
    ("source", "to", "words"),
    [
        ("here", "away", "no route of this gateway uploads files to 'away'"),
        ("away", "there", "no route of this gateway downloads files from 'away'"),
    ],
)
def test_without_routes_nothing_is_copied(plan, source, to, words):
    with pytest.raises(GatewayError, match=words):
        copy(plan, source, Holder(to))
