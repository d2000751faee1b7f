"""Mode report: mismatches are counted by operation and place and logged; requests pass."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from engine.exchange.exchange import MISSING, Exchange, Response
from engine.exchange.spooled_body import SpooledBody
from engine.spec.bodies.response_schemas import ResponseValidators
from engine.stages.report import MAX_RESPONSE, OTHER_PLACES, Mismatches, report_responses
from engine.stages.report import mismatches as process_mismatches
from engine.stages.validate import checks_of
from engine.values.errors import GatewayError
from tests.support.checking import checked
from tests.support.documents import document, exchange, read
from tests.support.exchanges import BodySource

BODY = {
    "type": "object",
    "additionalProperties": False,
    "required": ["list"],
    "properties": {
        "list": {
            "type": "array",
            "items": {"type": "object", "properties": {"n": {"type": "integer"}}},
        }
    },
}
PATHS = {
    "/x": {
        "post": {
            "operationId": "x",
            "parameters": [{"name": "q", "in": "query", "schema": {"type": "integer"}}],
            "requestBody": {"required": True, "content": {"application/json": {"schema": BODY}}},
            "responses": {
                "200": {"description": "d", "content": {"application/json": {"schema": BODY}}},
                "4XX": {"description": "d", "content": {"application/json": {"schema": BODY}}},
            },
        }
    }
}


@pytest.fixture(autouse=True)
def mismatches() -> Iterator[Mismatches]:
    """The mismatches of this process, without those of other tests."""
    with process_mismatches.capture([]):
        yield process_mismatches


@pytest.fixture
def places(mismatches: Mismatches) -> Any:
    return mismatches.places


def validated(
    folder: Path, request: Exchange, mode: str = "report", unknown: str = "pass"
) -> Exchange:
    """The request that the next handler gets."""
    spec, _ = read(folder, document(paths=PATHS))
    assert spec is not None
    operation = spec.operations["x"]
    if unknown != "pass":
        operation = spec.recompile(operation, lenient=False, with_names=True)
    body = request.body
    request.body_reader, request.operation = BodySource(lambda limit: body), operation.id
    return checked(checks_of(operation, mode, unknown=unknown), request)


@pytest.mark.parametrize(
    ("request_", "place"),
    [
        (exchange({"list": [{"n": 1}, {"n": "x"}]}), "list[].n"),
        (exchange({"list": [], "callers-own-name": 1}), "body"),
        (exchange({}), "list"),
        (exchange(b"not json"), "body"),
        (exchange(b"x", "text/plain"), "body"),
        (exchange(b""), "body"),
        (exchange({"list": []}, query="q=x"), "q"),
    ],
)
def test_a_mismatch_is_counted_and_the_request_passes(
    tmp_path: Path, places: Any, request_: Exchange, place: str
) -> None:
    before = request_.body
    assert validated(tmp_path, request_).body is before
    assert places == {("api.x", place): 1}


def test_a_valid_request_is_not_counted(tmp_path: Path, places: Any) -> None:
    assert validated(tmp_path, exchange({"list": [{"n": 1}]})).content.value == {"list": [{"n": 1}]}
    assert places == {}


def test_the_log_has_no_text_of_the_caller(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "modelway"):
        validated(tmp_path, exchange({"list": [{"n": "a secret"}]}))
        validated(tmp_path, exchange({"list": [], "secret": 1}))
    assert "req-1: api.x would refuse it (invalid_type at 'list[].n')" in caplog.text
    assert "secret" not in caplog.text


def test_the_log_names_a_place_once_a_minute_and_all_are_counted(
    caplog: pytest.LogCaptureFixture, mismatches: Mismatches
) -> None:
    for _ in range(100):
        mismatches.note("r", "api.x", "invalid_type", "list[3].n")
        mismatches.note("r", "api.x", "invalid_type", "response.n", "response")
        mismatches.note("r", "api.x", "invalid_type", "response")
    assert len(caplog.records) == 3
    assert mismatches.codes == {
        ("api.x", "request", "invalid_type"): 200,
        ("api.x", "response", "invalid_type"): 100,
    }


def test_a_place_is_cut_and_has_no_token(mismatches: Mismatches) -> None:
    mismatches.note("req_1", "o", "c", "metadata.mw-" + "a1" * 20)
    mismatches.note("req_1", "o", "c", "m" * 300)
    assert {place for _, place in mismatches.places} == {"metadata.mw-***", "m" * 200}


def test_the_number_of_places_is_limited() -> None:
    bounded = Mismatches(max_places=3)
    for number in range(10):
        bounded.note("r", "api.x", "invalid_type", f"place{number}")
    assert len(bounded.places) == 4
    assert bounded.places["api.x", OTHER_PLACES] == 7


def test_captured_mismatches_are_not_counted(mismatches: Mismatches) -> None:
    mismatches.note("r", "api.x", "invalid_type", "before")
    captured: list[str] = []
    with mismatches.capture(captured):
        mismatches.note("r", "api.x", "invalid_type", "list[1]")
    assert captured == ["list[]"]
    assert mismatches.places == {("api.x", "before"): 1}
    assert mismatches.codes == {("api.x", "request", "invalid_type"): 1}


# Members that the document does not have.


def test_unknown_members_are_dropped_from_the_bytes(tmp_path: Path) -> None:
    body = b'{"a":1, "list" : [ {"n":1,"z":{"q":[1]}} ] , "b":"\\"}"}'
    result = validated(tmp_path, exchange(body), "strict", "drop")
    assert result.body.buffer == b'{"list" : [ {"n":1} ]}'
    assert result.content.value == orjson.loads(result.body.buffer)
    assert result.body.size == len(result.body.buffer)


@pytest.mark.parametrize("mode", ["strict", "report", "off"])
def test_unknown_members_are_rejected_in_every_mode(tmp_path: Path, mode: str) -> None:
    with pytest.raises(GatewayError) as excinfo:
        validated(tmp_path, exchange({"list": [{"n": 1, "z": 1}]}), mode, "reject")
    assert (excinfo.value.status, excinfo.value.param) == (400, "list[0].z")


@pytest.mark.parametrize("mode", ["strict", "report", "off"])
def test_unknown_members_are_dropped_in_every_mode(tmp_path: Path, mode: str, places: Any) -> None:
    result = validated(tmp_path, exchange({"list": [], "z": 1}), mode, "drop")
    assert orjson.loads(result.body.buffer) == {"list": []}
    assert places == {}


def test_a_body_that_is_not_json_is_unchanged(tmp_path: Path) -> None:
    result = validated(tmp_path, exchange(b"x", "text/plain"), "off", "drop")
    assert (result.body.buffer, result.content.value) == (b"x", MISSING)


# Responses.


def relayed(folder: Path, response: Response) -> Any:
    spec, _ = read(folder, document(paths=PATHS))
    assert spec is not None
    answers = spec.response_validators(spec.operations["x"])
    assert isinstance(answers, ResponseValidators)
    stage = report_responses(answers)
    request = exchange(b"")
    request.operation = "api.x"
    result = stage(request, lambda _: response)
    return result.body if isinstance(result.body, bytes) else b"".join(result.body)


ITEM = {"type": "object", "properties": {"data": {"enum": ["a"]}}}
STREAMS = {
    "/x": {
        "post": {
            "operationId": "x",
            "responses": {
                "200": {"description": "d", "content": {"text/event-stream": {"itemSchema": ITEM}}}
            },
        }
    }
}


@pytest.mark.parametrize("as_bytes", [True, False])
def test_the_events_of_a_stream_are_checked_at_its_end(
    tmp_path: Path, as_bytes: bool, places: Any
) -> None:
    spec, _ = read(tmp_path, document(version="3.2.0", paths=STREAMS))
    assert spec is not None
    stage = report_responses(spec.response_validators(spec.operations["x"]))
    request = exchange(b"")
    request.operation = "api.x"
    pieces = [b"data: a\n\ndata", b": b\n\n", b"data: c"]
    body = b"".join(pieces) if as_bytes else iter(pieces)
    headers = [("content-type", "text/event-stream; charset=utf-8")]
    result = stage(request, lambda _: Response(200, headers, body))
    sent = result.body if isinstance(result.body, bytes) else b"".join(result.body)
    assert sent == b"".join(pieces)
    assert places == {}
    for callback in request.on_end:
        callback()
    assert places == {("api.x", "response.data"): 1}


def test_what_follows_the_largest_size_of_a_stream_is_not_checked(
    tmp_path: Path, places: Any
) -> None:
    spec, _ = read(tmp_path, document(version="3.2.0", paths=STREAMS))
    assert spec is not None
    stage = report_responses(spec.response_validators(spec.operations["x"]))
    request = exchange(b"")
    event = b"data: a\n\n"
    pieces = [event * (MAX_RESPONSE // len(event)), event, event, b"data: b\n\n"]
    headers = [("content-type", "text/event-stream")]
    result = stage(request, lambda _: Response(200, headers, iter(pieces)))
    assert b"".join(result.body) == b"".join(pieces)
    for callback in request.on_end:
        callback()
    assert places == {}


def response(
    body: Any, status: int = 200, media_type: str = "application/json", **more: Any
) -> Any:
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    headers = [("content-type", media_type), ("content-length", str(len(data))), *more.items()]
    return Response(status, headers, iter([data[:5], data[5:]]))


def test_a_response_that_does_not_match_is_counted(tmp_path: Path, places: Any) -> None:
    body = {"list": [{"n": "x"}]}
    assert orjson.loads(relayed(tmp_path, response(body))) == body
    assert places == {("api.x", "response.list[].n"): 1}
    relayed(tmp_path, response(b"not json"))
    relayed(tmp_path, response({}, 404))
    relayed(tmp_path, Response(200, [("content-type", "application/json")], b"{}"))
    assert places == {
        ("api.x", "response.list[].n"): 1,
        ("api.x", "response"): 1,
        ("api.x", "response.list"): 2,
    }


@pytest.mark.parametrize(
    "unchecked",
    [
        response({"list": []}),
        response({}, 500),
        response({}, 200, "text/event-stream"),
        response({}, 200, **{"content-encoding": "gzip"}),
        response(b"x" * (MAX_RESPONSE + 1)),
        Response(200, [("content-type", "application/json")], iter([b"{}"])),
    ],
)
def test_responses_that_are_not_checked(tmp_path: Path, places: Any, unchecked: Response) -> None:
    assert relayed(tmp_path, unchecked)
    assert places == {}


def test_a_response_is_relayed_piece_by_piece(tmp_path: Path) -> None:
    spec, _ = read(tmp_path, document(paths=PATHS))
    assert spec is not None
    stage = report_responses(spec.response_validators(spec.operations["x"]))
    result = stage(exchange(b""), lambda _: response({"list": []}))
    assert not isinstance(result.body, bytes)
    assert next(iter(result.body)) == b'{"lis'


def test_members_are_dropped_from_a_body_on_disk(tmp_path: Path) -> None:
    request = exchange(b"")
    file = (tmp_path / "body").open("wb+")
    data = orjson.dumps({"z": "y" * 100, "list": [{"n": i} for i in range(1000)]})
    file.write(data)
    file.flush()
    request.body = SpooledBody(file, len(data))
    result = validated(tmp_path, request, "strict", "drop")
    assert orjson.loads(b"".join(result.body.chunks())) == {"list": [{"n": i} for i in range(1000)]}
