"""Bodies of multipart/form-data as values."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from engine.spec.bodies.multipart import Part
from engine.spec.bodies.multipart_bodies import compile_multipart
from engine.values.errors import Malformed
from tests.support.each import each
from tests.support.forms import BRACKETED, JSON, UPLOAD, multipart, resolve


@each(
    ("fields", "value"),
    [
        ([], {}),
        ([("n", b"5")], {"n": 5}),
        ([("n", b"")], {"n": None}),
        ([("n", b"1"), ("n", b"2")], {"n": [1, 2]}),
        ([("stream", b"true")], {"stream": True}),
        ([("model", b"5")], {"model": "5"}),
        ([("text", "é".encode())], {"text": "é"}),
        ([("base64", b"AAAA")], {"base64": "AAAA"}),
        ([("sizes[]", b"1")], {"sizes[]": [1]}),
        ([("sizes[]", b"1"), ("sizes[]", b"2")], {"sizes[]": [1, 2]}),
        ([("unknown", b"5")], {"unknown": "5"}),
        ([("unknown", b"5"), ("unknown", b"6")], {"unknown": ["5", "6"]}),
        ([("file", b"\xff", "a.wav")], {"file": ""}),
        ([("file", b"\xff")], {"file": ""}),
        ([("media", b"\xff")], {"media": ""}),
        ([("files", b"\xff"), ("files", b"\xff", "b")], {"files": ["", ""]}),
        ([("image", b"\xff", "a.png")], {"image": [""]}),
        ([("unknown", b"\xff", "")], {"unknown": ""}),
        ([("n", b"5", "a.txt")], {"n": ""}),
        ([("file", b"{}", "a.json", JSON)], {"file": ""}),
        ([("unknown", b"{}", "a.json", JSON)], {"unknown": ""}),
        ([("meta", b'{"a": 1}', None, JSON)], {"meta": {"a": 1}}),
        ([("meta", b'{"a": 1}', "blob", JSON)], {"meta": {"a": 1}}),
        ([("metas", b"{}", None, JSON), ("metas", b"{}")], {"metas": [{}, {}]}),
        ([("meta", b'{"a": 1}')], {"meta": {"a": 1}}),
        ([("meta", b'{"a": 1}', None, "text/plain")], {"meta": '{"a": 1}'}),
        ([("chunking", b"auto")], {"chunking": "auto"}),
        ([("chunking", b'{"type": "x"}')], {"chunking": {"type": "x"}}),
        ([("n", b"5", None, "application/vnd.x+json; charset=utf-8")], {"n": 5}),
    ],
)
def test_multipart(fields, value):
    assert multipart(*fields) == value


@each(("content_type", "value"), [(None, {"a": 1}), ("text/plain", '{"a": 1}'), (JSON, {"a": 1})])
def test_the_part_speaks_before_the_encoding(content_type, value):
    encoding = {"model": {"contentType": JSON}}
    parts = multipart(("model", b'{"a": 1}', None, content_type), encoding=encoding)
    assert parts == {"model": value}


# What the official SDKs write: lists as `name[]`, objects as `name[key]`.


@each(
    ("fields", "value"),
    [
        ([("image[]", b"\xff", "a.png"), ("image[]", b"\xff", "b.png")], {"image": ["", ""]}),
        ([("files[]", b"\xff")], {"files": [""]}),
        ([("files[0]", b"\xff", "a"), ("files[1]", b"\xff", "b")], {"files": ["", ""]}),
        ([("chunking[a]", b"1", None, JSON)], {"chunking": {"a": 1}}),
        ([("lines[]", b'{"price": 5}', None, JSON)], {"lines": [{"price": 5}]}),
        ([("lines[]", b'{"price": 5}')], {"lines": [{"price": 5}]}),
        ([("lines", b'[{"price": 5}]', None, JSON)], {"lines": [{"price": 5}]}),
        ([("expires_after", b'{"seconds": 5}')], {"expires_after": {"seconds": 5}}),
    ],
)
def test_parts_with_brackets_are_files_json_or_text_as_the_others_are(fields, value):
    assert multipart(*fields, schema=BRACKETED) == value


def test_multipart_without_a_schema():
    parts = multipart(("a", b"1"), ("b", b"\xff", "x"), schema=True)
    assert parts == {"a": "1", "b": ""}


def test_the_content_of_a_file_is_never_touched():
    class Untouchable:
        def __getitem__(self, _):
            raise AssertionError

    parts = [Part("file", "a", None, 0, 10**9), Part("image", None, None, 0, 10**9)]
    read = compile_multipart(UPLOAD, None, resolve)
    assert read(Untouchable(), parts) == {"file": "", "image": [""]}


@given(
    st.sampled_from(["n", "meta", "metas", "files", "chunking", "unknown"]),
    st.binary(max_size=20),
    st.sampled_from([None, JSON, "text/plain"]),
)
def test_any_part_is_read_or_malformed(name, content, content_type):
    with suppress(Malformed):
        assert set(multipart((name, content, None, content_type))) == {name}
