"""The end of a file in a form that arrives in pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.spec.bodies.multipart import MultipartError, open_part, parse
from engine.spec.bodies.multipart_stream import MAX_REST, file_chunks
from tests.support.each import each

HEAD = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
END = b"\r\n--b--\r\n"


def streamed(content, size):
    """What is passed on of a content in pieces of a size, and what stands behind the file."""
    rests = []
    pieces = [content[at : at + size] for at in range(0, len(content), size)]
    return b"".join(file_chunks(pieces, b"b", rests.append)), rests


@given(
    st.lists(st.sampled_from([b"\r", b"\n", b"--b", b"-", b"x", b"\r\n--", b"--b--"]), max_size=12),
    st.integers(1, 20),
)
def test_a_file_ends_where_the_parser_of_whole_bodies_says(texts, size):
    content = b"".join(texts) + END
    try:
        (part, *_) = parse(HEAD + content, b"b")
    except MultipartError:
        part = None
    try:
        passed, (rest,) = streamed(content, size)
    except MultipartError:
        assert part is None
        return
    assert passed == content
    if part is not None:
        assert len(passed) - len(rest) == part.end - len(HEAD)


@each("size", [1, 7, 1_000])
def test_fields_behind_the_file_are_seen_before_they_are_passed_on(size):
    more = b'\r\n--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--b--\r\n'
    assert streamed(b"abc" + more, size) == (b"abc" + more, [more])
    passed = []

    def refuse(rest):
        raise MultipartError("no")

    with pytest.raises(MultipartError, match="no"):
        passed.extend(file_chunks([b"abc" + more], b"b", refuse))
    assert b"".join(passed) == b"abc"


@each(
    ("content", "message"),
    [
        (b"abc", "truncated"),
        (b"", "truncated"),
        (b"abc\n--b--\r\n", "does not follow"),
        (b"abc\r--b--\r\n", "does not follow"),
        (b"--b--\r\n", "does not follow"),
        (b"abc\r\n--b\r\n" + b"x" * MAX_REST, "send the file last"),
    ],
)
def test_what_parsers_read_differently_is_refused(content, message):
    with pytest.raises(MultipartError, match=message):
        streamed(content, 1_000)


def test_the_part_that_goes_on_behind_the_head():
    field = b'--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n'
    part = open_part(field + HEAD + b"content", b"b")
    assert (part.name, part.filename) == ("file", "f")
    assert part.start == part.end == len(field + HEAD)
    assert open_part(field + HEAD + END, b"b") is None
    with pytest.raises(MultipartError):
        open_part(field + HEAD[:-4], b"b")
