"""JSON Pointers: the examples of RFC 6901, 5."""

from __future__ import annotations

from engine.values.json_pointer import escape, path_of, pointer, unescape
from tests.support.each import each


@each(
    ("text", "steps"),
    [
        ("", ()),
        ("/foo", ("foo",)),
        ("/foo/0", ("foo", "0")),
        ("/", ("",)),
        ("/a~1b", ("a/b",)),
        ("/c%d", ("c%d",)),
        ("/m~0n", ("m~n",)),
        ("/~01", ("~1",)),
        ("/~00/~1", ("~0", "/")),
    ],
)
def test_a_pointer_and_its_path(text: str, steps: tuple[str, ...]) -> None:
    assert pointer(steps) == text
    assert path_of(text) == steps
    assert tuple(map(unescape, map(escape, steps))) == steps
