"""Multipart bodies whose parts have positions in place of names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.spec.operation import Operation
from tests.support.documents import document, get, operations
from tests.support.each import each
from tests.support.swagger import refusal_of

JSON, PNG, MIXED = "application/json", "image/png", "multipart/mixed"
PICTURE = {"contentType": "image/*, text/css", "headers": {"X-N": {"required": True, "schema": {}}}}
PAIR = {
    "schema": {
        "type": "array",
        "minItems": 2,
        "prefixItems": [{"type": "object", "required": ["a"]}, {}],
        "items": {"type": "integer"},
    },
    "prefixEncoding": [{}, PICTURE],
}


def operation(folder: Path, media: Any, media_type: str = MIXED) -> Operation:
    item = {"post": get(requestBody={"content": {media_type: media}})}
    value = document(version="3.2.0", paths={"/a": item})
    (result,) = operations(folder, value).values()
    return result


def body(*parts: tuple[str, str], boundary: str = "b") -> str:
    texts = [f"--{boundary}\r\n{head}\r\n{content}\r\n" for head, content in parts]
    return "".join(texts) + f"--{boundary}--\r\n"


def refusal(of: Operation, *parts: tuple[str, str], media_type: str = MIXED) -> str:
    return refusal_of(of, body(*parts).encode(), f"{media_type}; boundary=b")


def typed(media_type: str, more: str = "") -> str:
    return f"Content-Type: {media_type}\r\n{more}"


@each(
    ("parts", "words"),
    [
        ([(typed(JSON), '{"a": 1}'), (typed(PNG, "X-N: 1\r\n"), "\0"), ("", "5")], ""),
        ([("", '{"a": 1}'), (typed("text/css", "x-n: 1\r\n"), "\0")], ""),
        ([("", '{"a": 1}'), ("X-N: 1\r\n", "")], ""),
        ([("", "{}"), (typed(PNG, "X-N: 1\r\n"), "")], "[0].a"),
        ([("", "{"), (typed(PNG, "X-N: 1\r\n"), "")], "part 1"),
        ([("", '{"a": 1}'), (typed(PNG, "X-N: 1\r\n"), ""), ("", "x")], "[2]"),
        ([("", '{"a": 1}'), (typed("text/plain", "X-N: 1\r\n"), "")], "part 2: its Content-Type"),
        ([("", '{"a": 1}'), (typed(PNG), "")], "part 2: it has no header X-N"),
        ([("", '{"a": 1}')], "at least 2 items"),
    ],
)
def test_each_part_is_judged_by_its_position(
    tmp_path: Path, parts: list[tuple[str, str]], words: str
) -> None:
    message = refusal(operation(tmp_path, PAIR), *parts)
    assert words in message
    assert (message == "") is (words == "")


def test_each_part_is_judged_by_the_schema_of_items(tmp_path: Path) -> None:
    media = {"itemSchema": {"type": "integer"}, "itemEncoding": {"contentType": "text/plain"}}
    of = operation(tmp_path, media, "multipart/x-numbers")
    accepted = [(typed("text/plain"), "1"), ("", "2")]
    assert refusal(of, *accepted, media_type="multipart/x-numbers") == ""
    assert "[1]" in refusal(of, ("", "1"), ("", "x"), media_type="multipart/x-numbers")
    assert "part 1" in refusal(of, (typed(JSON), "1"), media_type="multipart/x-numbers")


def test_a_part_may_be_multipart_itself(tmp_path: Path) -> None:
    inner = {"type": "array", "prefixItems": [{"type": "object"}, {"type": "integer"}]}
    media = {
        "schema": {"type": "array", "prefixItems": [{"type": "array"}, inner]},
        "prefixEncoding": [{}, {"contentType": MIXED, "prefixEncoding": [{}, {}]}],
    }
    of = operation(tmp_path, media)
    head = typed(f"{MIXED}; boundary=c")
    good, bad = (body(("", "{}"), ("", last), boundary="c") for last in ("1", "x"))
    assert refusal(of, ("", "[]"), (head, good)) == ""
    assert "[1][1]" in refusal(of, ("", "[]"), (head, bad))


def test_an_encoded_part_is_refused(tmp_path: Path) -> None:
    encoded = "Content-Transfer-Encoding: base64\r\n"
    message = refusal(operation(tmp_path, PAIR), (encoded, "e30="), ("", ""))
    assert "Content-Transfer-Encoding" in message


def test_without_positions_the_parts_are_not_read(tmp_path: Path) -> None:
    of = operation(tmp_path, {"schema": {"type": "object"}})
    assert refusal_of(of, b"anything", MIXED) == ""
