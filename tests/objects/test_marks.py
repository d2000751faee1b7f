"""Marks of owners: written into requests, read in rows, taken out of responses."""

import json

import orjson
import pytest

from engine.exchange.request_body import Body
from engine.objects.facts import MEMBER
from engine.objects.facts_reader import read_facts
from engine.objects.marks import Marker, marks_in, unmarked
from engine.objects.sealed_ids import Sealer
from engine.spec.bodies.multipart import parse
from engine.values.errors import GatewayError
from engine.values.json_edit import apply_edits, edits
from tests.support.each import each
from tests.support.recording import multipart

SEALER = Sealer(["a key for tests " * 4], ["alpha"])
OWNER = b"owner--1"


def marks(form, at="body#/x", shown="body#/x", kind="file"):
    facts, faults = read_facts({"marks": [{"kind": kind, "form": form, "at": at, "shown": shown}]})
    assert faults == []
    return facts.marks


def marked(form, value, at="body#/x"):
    marker = Marker(marks(form, at), SEALER)
    text = json.dumps(value).encode()
    text, after = marker.mark_json(text, orjson.loads(text), marker.of_json(OWNER), None)
    assert orjson.loads(text) == after
    return after


MARK = SEALER.mark(OWNER, "file")


@each(
    ("form", "value", "expected"),
    [
        ("map", {"a": 1}, {"a": 1, "x": {MEMBER: MARK}}),
        ("map", {"x": {"k": "v"}}, {"x": {"k": "v", MEMBER: MARK}}),
        ("map", {"x": None}, {"x": {MEMBER: MARK}}),
        ("map", {"x": {MEMBER: "forged"}}, {"x": {MEMBER: MARK}}),
        ("text", {}, {"x": f"mwo-{MARK}-"}),
        ("text", {"x": "name"}, {"x": f"mwo-{MARK}-name"}),
        ("text", {"x": 7}, {"x": f"mwo-{MARK}-"}),
    ],
)
def test_json_is_marked(form, value, expected):
    assert marked(form, value) == expected


def test_missing_objects_above_a_mark_are_made():
    assert marked("text", {}, "body#/file/name") == {"file": {"name": f"mwo-{MARK}-"}}


def test_what_cannot_be_marked_is_refused():
    with pytest.raises(GatewayError, match="cannot be marked"):
        marked("text", {"file": 7}, "body#/file/name")
    with pytest.raises(GatewayError, match="cannot be marked"):
        marked("map", [])


@each(
    ("head", "expected"),
    [
        ('name="x"; filename="d.jsonl"', 'name="x"; filename="mwo-MARK-d.jsonl"'),
        ('name="x"; filename=d.jsonl', 'name="x"; filename=mwo-MARK-d.jsonl'),
        ("name=\"x\"; filename*=UTF-8''d", "name=\"x\"; filename*=UTF-8''mwo-MARK-d"),
    ],
)
def test_a_file_name_is_marked(head, expected):
    body = multipart(('name="purpose"', b"a"), (head, b"{}"))
    parts = parse(body, b"--edge")
    changes = Marker(marks("filename"), SEALER).multipart_edits(body, parts, b"--edge", OWNER)
    assert Body(body).with_edits(*changes).in_memory == body.replace(
        head.encode(), expected.replace("MARK", MARK).encode()
    )


def test_forms_get_the_mark_as_a_field():
    marker = Marker(marks("map"), SEALER)
    assert marker.form_fields(OWNER) == [f"x%5B{MEMBER}%5D={MARK}"]
    body = multipart(('name="a"', b"1"))
    changes = marker.multipart_edits(body, parse(body, b"--edge"), b"--edge", OWNER)
    fields = parse(Body(body).with_edits(*changes).in_memory, b"--edge")
    assert [part.name for part in fields] == [f"x[{MEMBER}]", "a"]


@each(
    ("form", "row", "expected"),
    [
        ("map", {"m": {MEMBER: "abc"}}, "abc"),
        ("map", {"m": {"k": "v"}}, None),
        ("map", {"m": None}, None),
        ("map", {}, None),
        ("text", {"m": f"mwo-{MARK}-x"}, MARK),
        ("text", {"m": f"x mwo-{MARK}-x"}, None),
        ("text", {"m": 7}, None),
        ("filename", {"m": f"mwo-{MARK}-x"}, MARK),
    ],
)
def test_a_row_tells_whose_it_is(form, row, expected):
    assert marks_in(row, marks(form, shown="body#/data/*/m"), ("data",)) == expected


@each(
    ("form", "value", "expected"),
    [
        ("map", {"x": {"a": 1, MEMBER: "m"}}, {"x": {"a": 1}}),
        ("map", {"x": {MEMBER: "m"}}, {"x": {}}),
        ("text", {"x": f"mwo-{MARK}-name"}, {"x": "name"}),
        ("text", {"x": f"mwo-{MARK}-mwo-{MARK}-name"}, {"x": f"mwo-{MARK}-name"}),
        ("text", {"x": "name"}, {"x": "name"}),
    ],
)
def test_responses_lose_the_mark(form, value, expected):
    text = orjson.dumps(value)
    changes = unmarked(value, marks(form)[0], None)
    after = apply_edits(text, edits(text, changes)) if changes else text
    assert orjson.loads(after) == expected


def test_file_names_of_other_parts_stay():
    other = b'filename="other.txt"'
    body = multipart(('name="y"; filename="other.txt"', b"{}"), ('name="x"; filename="d"', b"{}"))
    changes = Marker(marks("filename"), SEALER).multipart_edits(
        body, parse(body, b"--edge"), b"--edge", OWNER
    )
    after = Body(body).with_edits(*changes).in_memory
    assert after.count(other) == 1
    assert after.count(MARK.encode()) == 1
