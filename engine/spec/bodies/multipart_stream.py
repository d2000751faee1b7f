"""A form whose file is passed on as it arrives: where the file ends is found on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from engine.spec.bodies.multipart import MultipartError

MAX_REST = 65_536
"""Bytes of the fields behind a file."""


def file_chunks(
    chunks: Iterable[bytes], boundary: bytes, check: Callable[[bytes], None]
) -> Iterator[bytes]:
    """The bytes of a form from the beginning of a file's content on. What follows the file, with
    the line end before its boundary, is passed to `check` before it is passed on.

    Raises MultipartError, as `multipart.parse` does, and what `check` raises."""
    line = b"--" + boundary
    overlap = len(line) + 1
    pieces, data, is_first = iter(chunks), b"", True
    for piece in pieces:
        data += piece
        end = _end(data, line, is_first=is_first)
        if end is not None:
            yield data[:end]
            rest = _collected(data[end:], pieces)
            check(rest)
            yield rest
            return
        if len(data) > overlap:
            yield data[:-overlap]
            data, is_first = data[-overlap:], False
    raise MultipartError("no boundary after the content of the file: the body is truncated")


def _end(data: bytes, line: bytes, *, is_first: bool) -> int | None:
    """The index at which the content ends, None if it goes on. `is_first`: it begins there."""
    at = data.find(line)
    while at >= 0:
        if data[max(at - 2, 0) : at] == b"\r\n":
            return at - 2
        if data[at - 1 : at] in (b"\r", b"\n") or (is_first and not at):
            raise MultipartError("a boundary that does not follow a carriage return and line feed")
        at = data.find(line, at + 1)
    return None


def _collected(data: bytes, pieces: Iterator[bytes]) -> bytes:
    """All that is left of the form."""
    rest = bytearray(data)
    for piece in pieces:
        rest += piece
        if len(rest) > MAX_REST:
            break
    if len(rest) > MAX_REST:
        raise MultipartError(f"more than {MAX_REST} bytes behind the file; send the file last")
    return bytes(rest)
