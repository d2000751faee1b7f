"""multipart/form-data: what is read, and what is refused."""

import mmap
import pathlib
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.bodies.multipart import MultipartError, boundary_of, parse
from tests.support.each import each

PROMPT = 'Content-Disposition: form-data; name="prompt"'


def body(*parts, end="--b--\r\n"):
    """A body of `(header, content)` parts under the boundary `b`."""
    return ("".join(f"--b\r\n{head}\r\n\r\n{text}\r\n" for head, text in parts) + end).encode()


def contents(raw, boundary=b"b"):
    return [
        (part.name, part.filename, part.content_type, bytes(raw[part.start : part.end]))
        for part in parse(raw, boundary)
    ]


def test_fields_and_files_in_order():
    raw = body(
        (PROMPT, "x"),
        (
            'Content-Disposition: form-data; name="image[]"; filename="a.png"\r\n'
            "Content-Type: image/png",
            "PNG\r\n1",
        ),
    )
    assert contents(raw) == [
        ("prompt", None, None, b"x"),
        ("image[]", "a.png", "image/png", b"PNG\r\n1"),
    ]


# What the official clients sent (openai-python 3.52, openai-node 6.49).
@each(
    ("boundary", "lines", "parts"),
    [
        (
            "55c2b3f8fd6f023e2147558dab572152",
            [
                "--55c2b3f8fd6f023e2147558dab572152",
                'Content-Disposition: form-data; name="timestamp_granularities[]"',
                "",
                "word",
                "--55c2b3f8fd6f023e2147558dab572152",
                'Content-Disposition: form-data; name="file"; filename="a.wav"',
                "Content-Type: audio/wav",
                "",
                "RIFF",
                "--55c2b3f8fd6f023e2147558dab572152--",
                "",
            ],
            [
                ("timestamp_granularities[]", None, None, b"word"),
                ("file", "a.wav", "audio/wav", b"RIFF"),
            ],
        ),
        (
            "----formdata-undici-021196220637",
            [
                "------formdata-undici-021196220637",
                'Content-Disposition: form-data; name="file"; filename="a.wav"',
                "Content-Type: application/octet-stream",
                "",
                "RIFF",
                "------formdata-undici-021196220637--",
                "",
            ],
            [("file", "a.wav", "application/octet-stream", b"RIFF")],
        ),
    ],
)
def test_real_clients(boundary, lines, parts):
    assert contents("\r\n".join(lines).encode(), boundary.encode()) == parts


def test_a_mapped_file_is_read_like_bytes(tmp_path: pathlib.Path):
    path = tmp_path / "body"
    path.write_bytes(body((PROMPT, "x")))
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert contents(mapped) == [("prompt", None, None, b"x")]


@each(
    ("disposition", "name", "filename"),
    [
        ('form-data; name="a"', "a", None),
        ("form-data; name=a", "a", None),
        ('Form-Data;NAME="a"', "a", None),
        ('form-data; name=""', "", None),
        ('form-data; name="é"; filename="日本.png"', "é", "日本.png"),
        ('form-data; name="a;b=c"', "a;b=c", None),
        (r'form-data; name="a\"b\\c"', 'a"b\\c', None),
        ('form-data; name="a%22b%0D%0Ac%20"', 'a"b\r\nc%20', None),
        (r'form-data; name="a"; filename="C:\dir\x"', "a", r"C:\dir\x"),
        ('form-data; filename="a.png"; name="a"', "a", "a.png"),
        ('form-data; name="a"; filename=""', "a", ""),
        ("form-data; name=\"a\"; filename*=UTF-8''%e6%97%a5", "a", "日"),
        ('form-data; name="a"; filename="x"; filename*=utf-8\'en\'y', "a", "y"),
        ('form-data; name="a"; other="x"', "a", None),
    ],
)
def test_names(disposition, name, filename):
    raw = body((f"Content-Disposition: {disposition}", "x"))
    assert contents(raw) == [(name, filename, None, b"x")]


@each("content", ["", "\r\n", "--b", "x--b", "\n", "\r", "\r\n-", "\r\n--c"])
def test_content_is_unchanged_to_the_byte(content):
    if content == "--b":
        content = " --b"
    assert contents(body((PROMPT, content))) == [("prompt", None, None, content.encode())]


@each("raw", [b"--b--", b"--b--\r\n", b"\r\n\r\n--b--\r\n\r\n"])
def test_no_parts(raw):
    assert contents(raw) == []


def test_empty_lines_around_the_parts():
    assert len(contents(b"\r\n\r\n" + body((PROMPT, "x")) + b"\r\n\r\n")) == 1


OTHER = 'Content-Disposition: form-data; name="other"'


@each(
    ("raw", "message"),
    [
        (b"", "does not begin with the boundary"),
        (b"--c\r\n", "does not begin with the boundary"),
        (b"preamble\r\n" + body((PROMPT, "x")), "before the first part"),
        (b"\n" + body((PROMPT, "x")), "before the first part"),
        (b"\r\n" * 600 + body((PROMPT, "x")), "does not begin with the boundary"),
        (body((PROMPT, "x")) + b"epilogue", "after the last part"),
        (body((PROMPT, "x")) + b"\n", "after the last part"),
        (body((PROMPT, "x"), end="--b-- \r\n"), "after the last part"),
        (body((PROMPT, "x")) + body((OTHER, "x")), "after the last part"),
        (body((PROMPT, "x"), end=""), "the body is truncated"),
        (body((PROMPT, "x"), end="--b"), "neither CRLF nor --"),
        (body((PROMPT, "x"), end="--b-"), "neither CRLF nor --"),
        (body((PROMPT, "x\r\n--bc")), "neither CRLF nor --"),
        (body((PROMPT, "x")).replace(b"--b\r\n", b"--b \r\n"), "neither CRLF nor --"),
        (body((PROMPT, "x")).replace(b"--b\r\n", b"--b\n"), "neither CRLF nor --"),
        (body((PROMPT, "x")).replace(b"\r\n\r\n", b"\n\n"), "no empty line"),
        (body((PROMPT, "x")).replace(b"x\r\n--b", b"x\n--b"), "line feed without"),
        (body((PROMPT, "x\r--b")), "carriage return without"),
        (body((PROMPT, "x\n--b--\r\n")), "line feed without"),
        (body((PROMPT, "--b--")), "no line end between"),
        (body((PROMPT + "\nX: y", "x")), "does not end with CRLF"),
        (body((PROMPT + "\rX: y", "x")), "does not end with CRLF"),
        (body((PROMPT + "\r\n folded", "x")), "not `name: value`"),
        (
            body(("Content-Disposition : form-data; name=a", "x")),
            "not `name: value`",
        ),
        (body((PROMPT + "\r\nX: \0", "x")), "not `name: value`"),
        (b"--b\r\n\r\nx\r\n--b--", "no Content-Disposition"),
        (body(("Content-Type: text/plain", "x")), "no Content-Disposition"),
        (body(("Content-Disposition: attachment; name=a", "x")), "not form-data"),
        (body(("Content-Disposition: form-data", "x")), "no name"),
        (body(('Content-Disposition: form-data; filename="a"', "x")), "no name"),
        (body(("Content-Disposition: form-data; name", "x")), "not `; name=value`"),
        (
            body(('Content-Disposition: form-data; name="a', "x")),
            "not `; name=value`",
        ),
        (
            body(('Content-Disposition: form-data; name="a"b', "x")),
            "not `; name=value`",
        ),
        (body(("Content-Disposition: form-data; name=a; name=b", "x")), "two parameters name"),
        (body(("Content-Disposition: form-data; name=a; name*=b", "x")), "RFC 2231"),
        (body(("Content-Disposition: form-data; name=a; filename*=x", "x")), "RFC 5987"),
        (body(("Content-Disposition: form-data; name=a; filename*=utf-8''%ff", "x")), "RFC 5987"),
        (body((PROMPT + "\r\n" + OTHER, "x")), "two content-disposition headers"),
        (body((PROMPT + "\r\nContent-Type: a/b\r\ncontent-type: a/b", "x")), "two content-type"),
        (body((PROMPT + "\r\nContent-Transfer-Encoding: base64", "x")), "RFC 7578"),
        (body((PROMPT, "x")).replace(b"prompt", b"\xff"), "UTF-8"),
        (body((PROMPT + "\r\nX: " + "y" * 20_000, "x")), "more than 16384 bytes"),
    ],
)
def test_refused(raw, message):
    with pytest.raises(MultipartError, match=re.escape(message)):
        parse(raw, b"b")


def test_as_many_parts_as_allowed():
    assert len(parse(body(*[(PROMPT, "x")] * 3), b"b", max_parts=3)) == 3


def test_more_parts_than_allowed():
    with pytest.raises(MultipartError, match="more than 3 parts"):
        parse(body(*[(PROMPT, "x")] * 4), b"b", max_parts=3)


def test_headers_as_long_as_allowed():
    assert len(parse(body((PROMPT, "x")), b"b", max_header=len(PROMPT) + 2)) == 1


def test_longer_headers_than_allowed():
    with pytest.raises(MultipartError, match="part 1: headers of more than 20 bytes"):
        parse(body((PROMPT, "x")), b"b", max_header=20)


@each(
    ("content_type", "boundary"),
    [
        ("multipart/form-data; boundary=abc", b"abc"),
        ('Multipart/Form-Data;Boundary="a b"; charset=utf-8', b"a b"),
        ("multipart/form-data; charset=utf-8; boundary=abc;", b"abc"),
        ("multipart/form-data; boundary=----WebKitFormBoundaryx1", b"----WebKitFormBoundaryx1"),
        ("multipart/form-data; boundary====x==", b"===x=="),
    ],
)
def test_boundary(content_type, boundary):
    assert boundary_of(content_type) == boundary


@each(
    ("content_type", "message"),
    [
        ("", "not multipart/form-data"),
        ("multipart/mixed; boundary=a", "not multipart/form-data"),
        ("multipart/form-data", "no boundary"),
        ("multipart/form-data; charset=utf-8", "no boundary"),
        ("multipart/form-data; boundary=", "a parameter is not"),
        ('multipart/form-data; boundary=""', "1 to 70"),
        ('multipart/form-data; boundary="a "', "1 to 70"),
        ("multipart/form-data; boundary=" + "a" * 71, "1 to 70"),
        ("multipart/form-data; boundary=é", "1 to 70"),
        ("multipart/form-data; boundary=a; boundary=b", "two parameters boundary"),
        ("multipart/form-data; boundary=a, multipart/form-data; boundary=b", "a parameter is not"),
        ("multipart/form-data; boundary=a; boundary*0=b", "RFC 2231"),
    ],
)
def test_boundary_refused(content_type, message):
    with pytest.raises(MultipartError, match=message):
        boundary_of(content_type)


@given(st.lists(st.binary(max_size=40), max_size=5))
def test_any_content_round_trips(values):
    values = [value for value in values if b"b0undary" not in value]
    raw = b"".join(
        b'--b0undary\r\nContent-Disposition: form-data; name="a"\r\n\r\n' + value + b"\r\n"
        for value in values
    )
    raw += b"--b0undary--\r\n"
    assert [parts[3] for parts in contents(raw, b"b0undary")] == values


pieces = st.sampled_from(
    [
        b"--b",
        b"--",
        b"\r\n",
        b"\r\n\r\n",
        b"\n",
        b"\r",
        b"x",
        b";",
        b'"',
        b"\\",
        b"\xff",
        b"Content-Disposition: form-data; name=",
        b"filename*=UTF-8''%f",
        b"Content-Type: ",
    ]
)


@given(
    st.one_of(st.binary(), st.lists(pieces, max_size=20).map(lambda some: b"--b" + b"".join(some)))
)
def test_any_bytes_are_read_or_refused(raw):
    with suppress(MultipartError):
        assert all(part.start <= part.end <= len(raw) for part in parse(raw, b"b"))


@given(st.text().map("multipart/form-data; boundary=".__add__))
def test_any_content_type_is_read_or_refused(content_type):
    with suppress(MultipartError):
        assert boundary_of(content_type)
