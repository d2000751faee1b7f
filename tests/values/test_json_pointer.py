"""JSON Pointers: the examples of RFC 6901, 5."""

from __future__ import annotations

import pytest

from engine.values.json_pointer import ClaimPlace, escape, path_of, pointer, unescape
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


CLAIMS = {
    "sub": "ada",
    "groups": ["models", "all"],
    "realm_access": {"roles": [{"name": "admin"}]},
    "https://example.com/team": "search",
    "a.b": 1,
    "007": "bond",
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("sub", "ada"),
        ("groups", ["models", "all"]),
        ("groups[1]", "all"),
        ("groups[2]", None),
        ("realm_access.roles[0].name", "admin"),
        ("/https:~1~1example.com~1team", "search"),
        ("/groups/0", "models"),
        ("/a.b", 1),
        ("/007", "bond"),
        ("007", "bond"),
        ("/groups/01", None),
        ("absent.name", None),
        ("sub.name", None),
        ("sub[0]", None),
    ],
)
def test_a_place_is_read(text, value):
    assert ClaimPlace.parse(text).read(CLAIMS) == value


@pytest.mark.parametrize("text", ["", ".", "a.", "a[", "a[x]", "a]", "[0]", "a..b", "a/b"])
def test_what_is_no_place_is_refused(text):
    with pytest.raises(ValueError, match="is not the place of a claim"):
        ClaimPlace.parse(text)
