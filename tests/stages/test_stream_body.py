"""Which bodies are sent on as they arrive, and how they are judged."""

import pytest

from engine.exchange.exchange import Response
from engine.exchange.request_body import Body
from engine.source.problem import Findings
from engine.spec.spec import read
from engine.stages.receive import receive
from engine.stages.stream_body import HEAD, Rest, StreamedBody, StreamedFile, stream_body
from engine.stages.validate import checks_of
from engine.values.errors import GatewayError
from tests.support.each import each
from tests.support.exchanges import new_exchange
from tests.support.recording import MULTIPART, multipart

DOCUMENT = """
openapi: 3.1.0
info: {title: Files, version: "1"}
paths:
  /files:
    post:
      operationId: upload
      requestBody:
        required: true
        content:
          multipart/form-data:
            schema:
              type: object
              required: [file, purpose]
              properties:
                file: {type: string, contentMediaType: application/octet-stream}
                purpose: {type: string}
                n: {type: integer}
          application/json: {schema: {type: object}}
          "image/*": {}
      responses: {}
"""
FILE = StreamedFile("file", frozenset({"purpose"}), "purpose", frozenset({"batch"}))
CONTENT = b"x" * 200_000
PURPOSE, DATA = ('name="purpose"', b"vision"), ('name="file"; filename="f"', CONTENT)


class Stream:
    """A body whose head has arrived."""

    def __init__(self, data):
        self.head, self.data, self.size = data[:HEAD], data, len(data)

    def chunks(self):
        yield from (self.data[at : at + HEAD] for at in range(HEAD, self.size, HEAD))

    def receive(self):
        return Body(self.data)


class Source:
    """The reader of a body; a small one is no stream."""

    max_size = 10_000_000

    def __init__(self, data):
        self._data = data

    def receive(self, max_size=None):
        return Body(self._data)

    def stream(self, head):
        return Stream(self._data) if len(self._data) > head else None


@pytest.fixture(scope="module")
def operation(tmp_path_factory):
    file = tmp_path_factory.mktemp("files") / "files.yaml"
    file.write_text(DOCUMENT)
    findings = Findings()
    spec = read("files", file, "files.yaml", (), findings)
    assert findings.problems == []
    return spec.operations["upload"]


def received(operation, data, content_type=MULTIPART, file=FILE, mode="strict"):
    """The exchange behind the stage and the one that parses."""
    exchange = new_exchange(
        path="/files", environ={"CONTENT_TYPE": content_type}, body_reader=Source(data)
    )
    checks = checks_of(operation, mode, needs_body=True)
    parse = receive(checks)
    stage = stream_body(file, checks)
    stage(exchange, lambda each: parse(each, lambda _: Response(200, [])))
    return exchange


@each(
    ("parts", "streams"),
    [
        ([PURPOSE, DATA], True),
        ([PURPOSE, DATA, ('name="n"', b"1")], True),
        ([DATA, PURPOSE], False),
        ([DATA], False),
        ([('name="purpose"', b" Batch"), DATA], False),
        ([PURPOSE, ('name="n"', b"word"), DATA], False),
        ([PURPOSE, ('name="other"; filename="f"', CONTENT), DATA], False),
        ([PURPOSE, ('name="file"', CONTENT)], False),
        ([('name="purpose"', b"v" * HEAD), DATA], False),
        ([PURPOSE, ('name="file"; filename="f"', b"small")], False),
    ],
)
def test_a_form_is_sent_on_if_its_head_decides(operation, parts, streams):
    data = multipart(*parts)
    try:
        body = received(operation, data).body
    except GatewayError:
        assert not streams
        return
    assert body.is_replayable is not streams
    assert body.size == len(data)
    assert b"".join(body.chunks()) == data


def test_stages_see_the_fields_before_the_file(operation):
    exchange = received(operation, multipart(PURPOSE, DATA))
    assert exchange.content.value == {"purpose": "vision", "file": ""}
    assert [part.name for part in exchange.content.parts] == ["purpose", "file"]
    assert len(exchange.body.buffer) < 300


@each(
    ("late", "mode", "param"),
    [
        (('name="purpose"', b"batch"), "strict", "purpose"),
        (('name="purpose[x]"', b"batch"), "off", "purpose"),
        (('name="n"', b"word"), "strict", "n"),
        (('name="file"; filename="g"', b""), "off", ""),
        (('name="more"; filename="g"', b""), "strict", ""),
    ],
)
def test_what_stands_behind_the_file_is_judged_before_it_is_sent_on(operation, late, mode, param):
    data = multipart(PURPOSE, DATA, late)
    body = received(operation, data, mode=mode).body
    sent = []
    with pytest.raises(GatewayError) as excinfo:
        sent.extend(body.chunks())
    assert (excinfo.value.status, excinfo.value.param) == (400, param)
    assert b"".join(sent) == data[: data.index(CONTENT) + len(CONTENT)]


def test_a_form_that_breaks_off_is_refused(operation):
    body = received(operation, multipart(PURPOSE, DATA)[:-20]).body
    with pytest.raises(GatewayError, match="truncated"):
        [*body.chunks()]


def test_a_body_that_is_a_file_is_sent_on(operation):
    whole = StreamedFile("")
    body = received(operation, CONTENT, "image/png", whole).body
    assert (body.is_replayable, body.size) == (False, len(CONTENT))
    assert b"".join(body.chunks()) == CONTENT
    json = b'{"a": "' + CONTENT + b'"}'
    assert received(operation, json, "application/json", whole).body.is_replayable
    with pytest.raises(GatewayError) as excinfo:
        received(operation, CONTENT, "text/plain", whole)
    assert excinfo.value.status == 415


def test_a_small_body_is_received(operation):
    data = multipart(PURPOSE, ('name="file"; filename="f"', b"abc"))
    assert received(operation, data).body.in_memory == data


def body(head=b"head ", end=b"!", rest=(b"a", b"bc")):
    return StreamedBody(head, end, Rest(sum(map(len, rest)), lambda: rest))


def test_stages_see_the_head_with_an_end_and_upstreams_get_the_rest():
    streamed = body()
    assert streamed.buffer == b"head !"
    assert streamed.in_memory is None
    assert streamed.size == 8
    assert b"".join(streamed.chunks()) == b"head abc"


def test_the_rest_is_sent_once():
    streamed = body()
    assert (streamed.is_replayable, streamed.is_spent) == (False, False)
    edited = streamed.with_edits((0, 1, b"H"))
    assert [*edited.chunks()] == [b"Head ", b"a", b"bc"]
    assert streamed.is_spent
    with pytest.raises(ValueError, match="already"):
        [*streamed.chunks()]


def test_edits_of_the_head_add_up():
    streamed = body().rewrite((0, 4, b"longer head")).rewrite((0, 1, b"L"))
    assert streamed.buffer == b"Longer head !"
    assert streamed.size == 15
    assert b"".join(streamed.chunks()) == b"Longer head abc"


def test_the_rest_cannot_be_edited():
    with pytest.raises(ValueError, match="cannot be edited"):
        body().with_edits((4, 6, b""))
