"""multipart/form-data (RFC 7578 on RFC 2046), and the parts of other multipart types, read from a
whole body without copying content.

Strict, because the upstream might parse a body differently than the gateway that checked it. What
parsers are known to split differently is refused: text before the first or after the last part,
line ends other than CRLF, folded or repeated headers, encoded content.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Callable, Mapping
from typing import Final, TypeVar
from urllib.parse import unquote_to_bytes

from msgspec import Struct

from engine.values.http_names import HEADER_NAME

Buffer = bytes | bytearray | mmap.mmap
AnyPart = TypeVar("AnyPart")

_CRLF: Final = b"\r\n"
_MAX_PARTS: Final = 1000
_MAX_HEADER: Final = 16_384  # bytes of the headers of one part
_MAX_PADDING: Final = 1024  # bytes of empty lines before the first and after the last part
_HEADER = re.compile(rf"({HEADER_NAME}):[ \t]*([^\0\r\n]*)")
_PARAMETER = re.compile(
    rf';[ \t]*({HEADER_NAME})=(?:"((?:[^"\\]|\\.)*)"|([^\s;",\\]+))[ \t]*', re.DOTALL
)
_BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]")
# The only characters that browsers escape in names (WHATWG, "multipart/form-data encoding").
_BROWSER_ESCAPES = {"%22": '"', "%0d": "\r", "%0a": "\n"}
_ESCAPE = re.compile(r'\\(["\\])|(%22|%0[AaDd])')
_PLAIN_ENCODINGS = ("7bit", "8bit", "binary")


class MultipartError(ValueError):
    """A body that is not multipart/form-data, or that two parsers may read differently."""


class Part(Struct, frozen=True):
    """One field; its content is `buffer[start:end]`."""

    name: str
    filename: str | None
    content_type: str | None
    start: int
    end: int


class Item(Struct, frozen=True):
    """One part of a multipart type whose parts have no names; its content is
    `buffer[start:end]`. `headers` are by lower-case name."""

    headers: Mapping[str, str]
    start: int
    end: int


def boundary_of(content_type: str, *, form: bool = True) -> bytes:
    """The boundary of a Content-Type, of `multipart/form-data` if `form`; raises MultipartError."""
    kind, semicolon, tail = content_type.partition(";")
    if form and kind.strip().lower() != "multipart/form-data":
        raise MultipartError("the content type is not multipart/form-data")
    parameters = _parameters(semicolon + tail, "Content-Type")
    boundary = parameters.get("boundary")
    if any(name.startswith("boundary*") for name in parameters):
        raise MultipartError("the boundary is written in the extended syntax of RFC 2231")
    if boundary is None:
        raise MultipartError("the content type has no boundary")
    if not _BOUNDARY.fullmatch(boundary):
        raise MultipartError("the boundary must be 1 to 70 characters that RFC 2046 allows")
    return boundary.encode()


def parse(
    buffer: Buffer, boundary: bytes, *, max_parts: int = _MAX_PARTS, max_header: int = _MAX_HEADER
) -> list[Part]:
    """The parts in order, as offsets into `buffer`; `max_header` is in bytes per part.

    Raises MultipartError.
    """
    return _parse(buffer, boundary, _form_part, max_parts, max_header)


def open_part(head: bytes, boundary: bytes) -> Part | None:
    """The first part that goes on behind the beginning of a body, without an end; None if that ends
    elsewhere. Raises MultipartError."""
    line = b"--" + boundary
    at = _first_boundary_end(head, line)
    number = 0
    while head[at : at + 2] == _CRLF:
        number += 1
        where = f"part {number}"
        start = _content_start(head, at, _MAX_HEADER, where)
        if head.find(b"\n" + line, start) < 0:
            return _form_part(head[at + 2 : start - 2], where, start, start)
        at = _content_end(head, start, line, where) + 2 + len(line)
    return None


def parse_items(buffer: Buffer, boundary: bytes) -> list[Item]:
    """The parts of a multipart type without names. Raises MultipartError."""
    return _parse(buffer, boundary, _item, _MAX_PARTS, _MAX_HEADER)


def _parse(
    buffer: Buffer,
    boundary: bytes,
    make: Callable[[bytes, str, int, int], AnyPart],
    max_parts: int,
    max_header: int,
) -> list[AnyPart]:
    line = b"--" + boundary
    parts: list[AnyPart] = []
    at = _first_boundary_end(buffer, line)
    while (mark := buffer[at : at + 2]) == _CRLF:
        if len(parts) == max_parts:
            raise MultipartError(f"more than {max_parts} parts")
        where = f"part {len(parts) + 1}"
        start = _content_start(buffer, at, max_header, where)
        end = _content_end(buffer, start, line, where)
        parts.append(make(bytes(buffer[at + 2 : start - 2]), where, start, end))
        at = end + 2 + len(line)
    if mark != b"--":
        raise MultipartError(f"neither CRLF nor -- follows the boundary at byte {at}")
    if not _only_empty_lines(buffer, at + 2, len(buffer)):
        raise MultipartError("there is text after the last part")
    return parts


def _first_boundary_end(buffer: Buffer, line: bytes) -> int:
    """The index after the first boundary."""
    start = buffer.find(line, 0, _MAX_PADDING + len(line))
    if start < 0:
        raise MultipartError("the body does not begin with the boundary of the content type")
    if not _only_empty_lines(buffer, 0, start):
        raise MultipartError("there is text before the first part")
    return start + len(line)


def _only_empty_lines(buffer: Buffer, start: int, end: int) -> bool:
    size = end - start
    return size <= _MAX_PADDING and buffer[start:end] == _CRLF * (size // 2)


def _content_start(buffer: Buffer, at: int, max_header: int, where: str) -> int:
    """The index after the empty line that ends the headers, which follow the CRLF at `at`."""
    end = buffer.find(_CRLF + _CRLF, at, at + max_header + 4)
    if end >= 0:
        return end + 4
    if len(buffer) - at > max_header + 4:
        raise MultipartError(f"{where}: headers of more than {max_header} bytes")
    raise MultipartError(f"{where}: no empty line after the headers")


def _content_end(buffer: Buffer, start: int, line: bytes, where: str) -> int:
    """The index of the CRLF before the next boundary, where the content ends."""
    # Only lenient parsers see a boundary after another line end, or directly after the empty line
    # that ends the headers.
    if buffer[start : start + len(line)] == line:
        raise MultipartError(f"{where}: no line end between the empty line and the boundary")
    end = buffer.find(b"\n" + line, start)
    if end < 0:
        raise MultipartError(f"{where}: no boundary after the content: the body is truncated")
    if end == start or buffer[end - 1 : end] != b"\r":
        raise MultipartError(f"{where}: a boundary after a line feed without carriage return")
    if buffer.find(b"\r" + line, start, end) >= 0:
        raise MultipartError(f"{where}: a boundary after a carriage return without line feed")
    return end - 1


def _item(block: bytes, where: str, start: int, end: int) -> Item:
    headers = _headers(block, where)
    if headers.get("content-transfer-encoding", "binary").lower() not in _PLAIN_ENCODINGS:
        raise MultipartError(f"{where}: its Content-Transfer-Encoding is not supported")
    return Item(headers, start, end)


def _form_part(block: bytes, where: str, start: int, end: int) -> Part:
    """A part with the name, file name and content type of its header block."""
    headers = _headers(block, where)
    encoding = headers.get("content-transfer-encoding", "binary").lower()
    if encoding not in _PLAIN_ENCODINGS:
        raise MultipartError(f"{where}: Content-Transfer-Encoding is not for forms (RFC 7578 4.7)")
    disposition = headers.get("content-disposition")
    if disposition is None:
        raise MultipartError(f"{where}: no Content-Disposition")
    kind, semicolon, tail = disposition.partition(";")
    if kind.strip().lower() != "form-data":
        raise MultipartError(f"{where}: the Content-Disposition is not form-data")
    parameters = _parameters(semicolon + tail, f"{where}: Content-Disposition")
    if "name" not in parameters:
        raise MultipartError(f"{where}: the Content-Disposition has no name")
    filename = parameters.get("filename")
    if (extended := parameters.get("filename*")) is not None:
        filename = _decode_extended(extended, where)
    return Part(parameters["name"], filename, headers.get("content-type"), start, end)


def _headers(block: bytes, where: str) -> dict[str, str]:
    """The headers by lower-case name."""
    try:
        text = block.decode()
    except UnicodeDecodeError as error:
        raise MultipartError(f"{where}: the headers are not valid UTF-8") from error
    headers: dict[str, str] = {}
    for line in text.split("\r\n")[:-1]:
        if "\n" in line or "\r" in line:
            raise MultipartError(f"{where}: a header line does not end with CRLF")
        if not (header := _HEADER.fullmatch(line)):
            raise MultipartError(f"{where}: a header line is not `name: value`")
        name = header[1].lower()
        if name in headers:
            raise MultipartError(f"{where}: two {name} headers")
        headers[name] = header[2].rstrip(" \t")
    return headers


def _parameters(text: str, where: str) -> dict[str, str]:
    """The parameters of `; a=b; c="d"` by lower-case name, unescaped."""
    parameters: dict[str, str] = {}
    at = 0
    text = text.strip(" \t").removesuffix(";").rstrip(" \t")
    while at < len(text):
        if not (match := _PARAMETER.match(text, at)):
            raise MultipartError(f"{where}: a parameter is not `; name=value`")
        name, at = match[1].lower(), match.end()
        if name in parameters:
            raise MultipartError(f"{where}: two parameters {name}")
        parameters[name] = match[3] if match[2] is None else _ESCAPE.sub(_unescape, match[2])
    if "name*" in parameters:
        raise MultipartError(f"{where}: the name is written in the extended syntax of RFC 2231")
    return parameters


def _unescape(match: re.Match[str]) -> str:
    return str(match[1] or _BROWSER_ESCAPES[match[2].lower()])


def _decode_extended(value: str, where: str) -> str:
    """The text of `UTF-8''a%20b` (RFC 5987)."""
    charset, _, language_and_text = value.partition("'")
    _, quote, text = language_and_text.partition("'")
    try:
        if quote and charset.lower() == "utf-8":
            return unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        pass
    raise MultipartError(f"{where}: filename* is not UTF-8''text (RFC 5987)")
