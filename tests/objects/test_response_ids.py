"""Ids in responses: sealed where the document has them, and nowhere else."""

import orjson
import pytest

from engine.exchange.opened_ids import Holder
from engine.objects import response_ids
from engine.objects.facts_reader import read_facts
from engine.objects.response_ids import ResponseSealer, SealedLines, SealedPlaces, with_names
from engine.objects.sealed_ids import MAX_LENGTH, Identity, Sealer
from engine.values.errors import EventTooLarge
from tests.support.each import each

SEALER = Sealer(["a key for tests " * 4], ["alpha"])
OWNER, HOLDER = b"owner--1", Holder("alpha", 2)


def here(url):
    """The gateway's address for one of the vendor's."""
    return url.replace("https://v/", "https://here/") if url.startswith("https://v/") else None


def sealer(facts):
    read, faults = read_facts(facts)
    assert faults == []
    return ResponseSealer(
        SealedPlaces(read),
        SEALER,
        OWNER,
        HOLDER,
        lambda url: (
            f"https://here{url[len('https://v') :]}" if url.startswith("https://v/") else None
        ),
        {"model": "veo"}.__getitem__,
    )


def sealed(vendor_id, kind="file"):
    return SEALER.seal(Identity(vendor_id, HOLDER, OWNER), kind)


def body(places, value):
    return orjson.loads(sealer({"creates": places}).json_of(orjson.dumps(value), "body"))


IN_URL = {"at": "body#/u", "after": "f/"}
ADDRESS = {**IN_URL, "address": True}


@each(
    ("place", "value", "expected"),
    [
        ("body#/id", {"id": "a", "x": {"id": "b"}}, {"id": sealed("a"), "x": {"id": "b"}}),
        ("body#/d/*/id", {"d": [{"id": "a"}, {"id": 1}]}, {"d": [{"id": sealed("a")}, {"id": 1}]}),
        ("body#/id", {"id": None}, {"id": None}),
        ("body#/id", {"id": ""}, {"id": ""}),
        (ADDRESS, {"u": "https://v/f/a/x"}, {"u": f"https://here/f/{sealed('a')}/x"}),
        (ADDRESS, {"u": "https://w/f/a/x"}, {"u": None}),
        (IN_URL, {"u": "https://w/g/a"}, {"u": "https://w/g/a"}),
        ("body#/id", {"id": "x" * (MAX_LENGTH + 1)}, {"id": None}),
    ],
)
def test_the_ids_of_a_body_are_sealed(place, value, expected):
    assert body({"file": place}, value) == expected


def test_all_other_bytes_stay():
    text = b'{ "x" : 1.0, "id":"file-1" }'
    after = sealer({"creates": {"file": "body#/id"}}).json_of(text, "body")
    assert after == text.replace(b"file-1", sealed("file-1").encode())


def test_the_prefix_may_have_variables_of_the_path():
    place = {"at": "body#/op", "prefix": "models/{model}/operations/"}
    full = sealed("models/veo/operations/7", "operation")
    assert body({"operation": place}, {"op": "7"}) == {"op": full.rpartition("/")[2]}


@each("text", [b"[DONE]", b"", b"{", b'{"a":1}', b'"file-1"'])
def test_what_has_no_ids_passes(text):
    assert sealer({"creates": {"file": "event#/id"}}).json_of(text, "event") is text


def test_a_name_with_escapes_hides_no_id():
    after = sealer({"creates": {"file": "event#/id"}}).json_of(b'{"\\u0069d":"file-1"}', "event")
    assert orjson.loads(after) == {"id": sealed("file-1")}


def test_headers_are_sealed():
    response = sealer(
        {"creates": {"file": ["header.x-file", {"at": "header.location", "after": "files/"}]}}
    )
    headers = [("x-file", "file-1"), ("location", "/v1/files/file-1"), ("x-other", "file-1")]
    assert response.headers(headers) == [
        ("x-file", sealed("file-1")),
        ("location", f"/v1/files/{sealed('file-1')}"),
        ("x-other", "file-1"),
    ]


@each(
    ("method", "status", "kind", "expected"),
    [
        ("GET", 200, "application/json", True),
        ("GET", 201, "application/json; charset=utf-8", True),
        ("GET", 206, "application/json", False),
        ("GET", 200, "text/event-stream", False),
        ("GET", 200, "audio/mpeg", False),
    ],
)
def test_bodies_with_ids_are_edited(method, status, kind, expected):
    assert sealer({"creates": {"file": "body#/id"}}).edits_body(method, status, kind) is expected


def test_lines_arrive_in_any_pieces():
    text = b'{"id":"file-1"}\nno json\n{"id":"file-2"}'
    expected = text
    for vendor_id in ("file-1", "file-2"):
        expected = expected.replace(vendor_id.encode(), sealed(vendor_id).encode())
    response = sealer({"creates": {"file": "lines#/id"}})
    assert response.edits_lines("application/jsonl")
    assert response.edits_lines("application/octet-stream")
    assert not response.edits_lines("application/json")
    for size in (1, 3, 16, 100):
        lines = SealedLines(response.line)
        pieces = [lines.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert b"".join([*pieces, lines.finish()]) == expected


def test_a_file_that_is_no_lines_of_objects_passes_without_being_collected():
    lines = SealedLines(sealer({"creates": {"file": "lines#/id"}}).line)
    data = b"\0" * 1_000
    assert [lines.feed(data) for _ in range(3)] == [data] * 3
    assert lines.feed(b'\0\n{"id":') == b"\0\n"
    assert lines.feed(b'"file-1"}') == b""
    assert lines.finish() == b'{"id":"%b"}' % sealed("file-1").encode()


def test_a_line_of_an_object_is_bounded(monkeypatch):
    monkeypatch.setattr(response_ids, "MAX_LINE", 100)
    lines = SealedLines(sealer({"creates": {"file": "lines#/id"}}).line)
    assert lines.feed(b'{"id":' + b" " * 90) == b""
    with pytest.raises(EventTooLarge):
        lines.feed(b" " * 10)


def test_one_text_is_sealed_as_each_kind_that_it_has():
    places = {"file": "body#/a", "batch": "body#/b"}
    expected = {"a": sealed("id-1"), "b": sealed("id-1", "batch")}
    assert body(places, {"a": "id-1", "b": "id-1"}) == expected


def test_kinds_at_one_place_are_told_by_how_their_ids_start():
    places = {
        "file": {"at": "body#/id", "starts": "file_"},
        "batch": {"at": "body#/id", "starts": "batch_"},
    }
    for text, expected in (
        ("file_1", sealed("file_1")),
        ("batch_1", sealed("batch_1", "batch")),
        ("other_1", "other_1"),
    ):
        assert body(places, {"id": text}) == {"id": expected}


def test_errors_have_the_callers_ids():
    names = [(b"file-12", b"file-mwB"), (b"file-1", b"file-mwA")]
    assert with_names(b"No file-1, no file-12.", names) == b"No file-mwA, no file-mwB."
    assert with_names(b"same", []) == b"same"
