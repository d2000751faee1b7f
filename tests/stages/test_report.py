"""Routes that only report: counted by operation and place, logged, let through."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from engine.exchange.body import Body
from engine.exchange.exchange import MISSING, Exchange, Response
from engine.spec.response_schemas import ResponseValidators
from engine.stages.report import MAX_RESPONSE, OTHER_PLACES, Mismatches, report_responses
from engine.stages.report import mismatches as process_mismatches
from engine.stages.validate import validate
from engine.values.errors import GatewayError
from tests.support.documents import document, exchange, read

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
    with process_mismatches.captured([]):
        yield process_mismatches


@pytest.fixture
def counted(mismatches: Mismatches) -> Any:
    return mismatches.places


def passed(
    folder: Path, request: Exchange, mode: str = "report", unknown: str = "pass"
) -> Exchange:
    """The request as the next handler gets it."""
    made, _ = read(folder, document(paths=PATHS))
    assert made is not None
    operation = made.operations["x"]
    if unknown != "pass":
        operation = made.reread(operation, lenient=False, with_names=True)
    body = request.body
    request.receive = lambda limit: body
    seen = []
    stage = validate(operation, mode, unknown=unknown)
    stage(request, lambda last: seen.append(last) or Response(200, []))  # type: ignore[func-returns-value]
    return seen[0]


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
def test_it_is_counted_and_let_through(
    tmp_path: Path, counted: Any, request_: Exchange, place: str
) -> None:
    before = request_.body
    assert passed(tmp_path, request_).body is before
    assert counted == {("api.x", place): 1}


def test_what_is_right_is_not_counted(tmp_path: Path, counted: Any) -> None:
    assert passed(tmp_path, exchange({"list": [{"n": 1}]})).value == {"list": [{"n": 1}]}
    assert counted == {}


def test_the_log_has_no_word_of_the_caller(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "modelway"):
        passed(tmp_path, exchange({"list": [{"n": "a secret"}]}))
        passed(tmp_path, exchange({"list": [], "secret": 1}))
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


def test_places_are_bounded() -> None:
    bounded = Mismatches(max_places=3)
    for number in range(10):
        bounded.note("r", "api.x", "invalid_type", f"place{number}")
    assert len(bounded.places) == 4
    assert bounded.places["api.x", OTHER_PLACES] == 7


def test_captured_mismatches_are_not_counted(mismatches: Mismatches) -> None:
    mismatches.note("r", "api.x", "invalid_type", "before")
    places: list[str] = []
    with mismatches.captured(places):
        mismatches.note("r", "api.x", "invalid_type", "list[1]")
    assert places == ["list[]"]
    assert mismatches.places == {("api.x", "before"): 1}
    assert mismatches.codes == {("api.x", "request", "invalid_type"): 1}


# Members that the document does not name.


def test_unknown_members_are_dropped_from_the_bytes(tmp_path: Path) -> None:
    body = b'{"a":1, "list" : [ {"n":1,"z":{"q":[1]}} ] , "b":"\\"}"}'
    got = passed(tmp_path, exchange(body), "strict", "drop")
    assert got.body.buffer == b'{"list" : [ {"n":1} ]}'
    assert got.value == orjson.loads(got.body.buffer)
    assert got.body.size == len(got.body.buffer)


@pytest.mark.parametrize("mode", ["strict", "report", "off"])
def test_they_are_rejected_in_every_mode(tmp_path: Path, mode: str) -> None:
    with pytest.raises(GatewayError) as caught:
        passed(tmp_path, exchange({"list": [{"n": 1, "z": 1}]}), mode, "reject")
    assert (caught.value.status, caught.value.param) == (400, "list[0].z")


@pytest.mark.parametrize("mode", ["strict", "report", "off"])
def test_they_are_dropped_in_every_mode(tmp_path: Path, mode: str, counted: Any) -> None:
    got = passed(tmp_path, exchange({"list": [], "z": 1}), mode, "drop")
    assert orjson.loads(got.body.buffer) == {"list": []}
    assert counted == {}


def test_a_body_that_is_no_json_is_left_alone(tmp_path: Path) -> None:
    got = passed(tmp_path, exchange(b"x", "text/plain"), "off", "drop")
    assert (got.body.buffer, got.value) == (b"x", MISSING)


# Responses.


def answered(folder: Path, response: Response) -> Any:
    made, _ = read(folder, document(paths=PATHS))
    assert made is not None
    answers = made.answers(made.operations["x"])
    assert isinstance(answers, ResponseValidators)
    stage = report_responses("api.x", answers)
    got = stage(exchange(b""), lambda _: response)
    return got.body if isinstance(got.body, bytes) else b"".join(got.body)


def response(
    body: Any, status: int = 200, media_type: str = "application/json", **more: Any
) -> Any:
    data = body if isinstance(body, bytes) else orjson.dumps(body)
    headers = [("content-type", media_type), ("content-length", str(len(data))), *more.items()]
    return Response(status, headers, iter([data[:5], data[5:]]))


def test_an_answer_that_is_not_as_described_is_counted(tmp_path: Path, counted: Any) -> None:
    body = {"list": [{"n": "x"}]}
    assert orjson.loads(answered(tmp_path, response(body))) == body
    assert counted == {("api.x", "response.list[].n"): 1}
    answered(tmp_path, response(b"not json"))
    answered(tmp_path, response({}, 404))
    answered(tmp_path, Response(200, [("content-type", "application/json")], b"{}"))
    assert counted == {
        ("api.x", "response.list[].n"): 1,
        ("api.x", "response"): 1,
        ("api.x", "response.list"): 2,
    }


@pytest.mark.parametrize(
    "given",
    [
        response({"list": []}),
        response({}, 500),
        response({}, 200, "text/event-stream"),
        response({}, 200, **{"content-encoding": "gzip"}),
        response(b"x" * (MAX_RESPONSE + 1)),
        Response(200, [("content-type", "application/json")], iter([b"{}"])),
    ],
)
def test_what_cannot_be_judged_passes_unseen(tmp_path: Path, counted: Any, given: Response) -> None:
    assert answered(tmp_path, given)
    assert counted == {}


def test_an_answer_passes_piece_by_piece(tmp_path: Path) -> None:
    made, _ = read(tmp_path, document(paths=PATHS))
    assert made is not None
    stage = report_responses("api.x", made.answers(made.operations["x"]))
    got = stage(exchange(b""), lambda _: response({"list": []}))
    assert not isinstance(got.body, bytes)
    assert next(iter(got.body)) == b'{"lis'


def test_a_body_dropped_from_disk_is_whole(tmp_path: Path) -> None:
    request = exchange(b"")
    file = (tmp_path / "body").open("wb+")
    data = orjson.dumps({"z": "y" * 100, "list": [{"n": i} for i in range(1000)]})
    file.write(data)
    file.flush()
    request.body = Body(file=file, size=len(data))
    got = passed(tmp_path, request, "strict", "drop")
    assert orjson.loads(b"".join(got.body.chunks())) == {"list": [{"n": i} for i in range(1000)]}
