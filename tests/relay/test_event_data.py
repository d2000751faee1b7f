"""The data of an event as servers write it, in the form that SDKs read."""

from __future__ import annotations

from engine.relay.event_data import amended, is_whole, keeps_alive
from tests.support.each import each

OBJECT = b'{"a":1}'


@each(
    "lines",
    [
        [OBJECT],
        [b"\t" + OBJECT + b" "],
        [b"data: data:" + OBJECT],
        [b"[" + OBJECT + b"]"],
        [b'"{\\"a\\":1}"'],
    ],
)
def test_an_object_stands_on_one_line(lines: list[bytes]) -> None:
    assert amended(lines) == [OBJECT]


def test_an_object_of_several_lines_becomes_one_line() -> None:
    assert amended([b"{", b' "a": 1', b"}"]) == [b'{  "a": 1 }']


def test_no_line_end_in_a_text_ends_the_data() -> None:
    assert amended([b'"{\\r\\r\\n\\"a\\":1}"']) == [b'{   "a":1}']


@each("text", [b" [DONE]", b'"[DONE]"', b"[ done ]", b"DONE", b"data: [DONE]"])
def test_the_end_marker_is_the_one_that_sdks_know(text: bytes) -> None:
    assert amended([text]) == [b"[DONE]"]


@each(
    "lines",
    [[b""], [b"done with it"], [b"[1]"], [b"[{},{}]"], [b'"a"'], [b'"{"'], [b"a", b"b"], [b"[{]"]],
)
def test_other_data_is_left_as_it_is(lines: list[bytes]) -> None:
    assert amended(lines) == lines


@each(
    ("name", "line", "expected"),
    [
        (b"", b"ping", True),
        (b"", b"null", False),
        (b"ping", b"7", True),
        (b"ping", OBJECT, False),
        (b"", b"pings", False),
    ],
)
def test_an_event_that_keeps_a_connection_alive(name: bytes, line: bytes, expected: bool) -> None:
    assert keeps_alive(name, line) == expected


@each(("line", "expected"), [(OBJECT, True), (b"[DONE]", True), (b"{", False), (b"[]", False)])
def test_a_line_may_be_all_of_an_event(line: bytes, expected: bool) -> None:
    assert is_whole(line) == expected
