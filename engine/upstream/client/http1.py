"""Parses a response of HTTP/1.1 (RFC 9112), without a socket."""

from __future__ import annotations

from typing import Any

import httptools

from engine.upstream.client.failures import (
    HeadersTooLarge,
    ProtocolFailure,
    Reset,
    Truncated,
    UpstreamFailure,
)

HEADER_LIMIT = 256 * 1024
MAX_HEADERS = 500
"""The most headers of a response, which takes 20 us for each: a head of HEADER_LIMIT may have tens
of thousands."""
_LENGTH, _CODING = "content-length", "transfer-encoding"


class ResponseParser:
    """Parses one response: `feed` bytes, `take` body bytes. `upgrade`: the request had Upgrade.

    `has_head` is True after the final head (1xx are skipped, 101 is final), `is_complete` after the
    last byte. A message with two framings, or an unknown one, is a ProtocolFailure, because another
    reader could see other responses in it (RFC 9112 6.3). `Transfer-Encoding: chunked` that is
    repeated, by an application and its server, is one framing; its connection is not reused. At
    most one feed of body is buffered; HEADER_LIMIT bounds heads, 1xx included, and trailers,
    MAX_HEADERS the headers of one head.
    """

    status = 0
    length: int | None = None
    started = False  # a byte has arrived
    in_message = False  # a byte of an incomplete message has arrived
    has_head = False
    is_complete = False
    reusable = False  # the connection may carry another request
    excess = False  # bytes arrived that are not part of the response
    leftover = b""  # the bytes after a 101
    _chunked = False
    _repeats_coding = False
    _until_close = False
    _header_bytes = 0  # fed since the last byte of a body, for HEADER_LIMIT

    def __init__(self, method: str, upgrade: bool = False) -> None:
        self.headers: list[tuple[str, str]] = []
        self._fields: list[tuple[bytes, bytes]] = []  # of the head that is being parsed
        self._bodiless = method in ("HEAD", "CONNECT")
        self._upgrade = upgrade
        self.body: list[bytes] = []  # fed so far and not yet taken
        self._parser: Any = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> bool:
        """Parse bytes, at least one. Returns whether there is something of a body that goes on.
        Raises ProtocolFailure or HeadersTooLarge."""
        if self._parser is None:
            self._poison()
            return False
        if not self.started:
            self.started = True
            # httptools also accepts empty lines, RTSP/ and ICE/ at the start of a response.
            if data[0] != 0x48:
                raise ProtocolFailure("it does not begin with HTTP/")
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self.leftover = data[upgrade.args[0] :]
        except httptools.HttpParserError as error:
            # Bytes after a complete response: the connection is not reused.
            if not self.is_complete:
                raise _failure_of(error) from None
            self._poison()
        if self.is_complete:
            self.drop()
        elif self.body:
            self._header_bytes = 0
            return True
        else:
            self._header_bytes += len(data)
            if self._header_bytes > HEADER_LIMIT:
                raise HeadersTooLarge(f"more than {HEADER_LIMIT // 1024} KB")
        return False

    def end(self, *, clean: bool = True) -> None:
        """Record the end of the connection; not `clean` after a reset or a TLS end without
        close_notify. Raises Reset before the final response, Truncated within it.
        """
        if self.is_complete:
            self.reusable = False
        elif not self.in_message and not self.has_head:
            raise Reset
        elif clean and self._until_close:
            self.is_complete = True
        else:
            raise Truncated

    def drop(self) -> None:
        """Drop the parser, which refers to this object's methods: a reference cycle."""
        self._parser = None

    def take(self) -> bytes:
        """The body bytes fed so far and not yet taken."""
        body = self.body
        if len(body) == 1:
            return body.pop()
        self.body = []
        return b"".join(body)

    def next_part(self, data: bytes) -> bytes:
        """Feed bytes, and take those of the body; `b""` if it is complete: `take` has the last."""
        if not self.feed(data):
            return b""
        body = self.body
        return body.pop() if len(body) == 1 else self.take()

    def _poison(self) -> None:
        self.excess = True
        self.reusable = False

    # Callbacks of httptools.

    def on_message_begin(self) -> None:
        if self.is_complete:
            raise ProtocolFailure("there are bytes after its end")
        self.in_message = True

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        if self._fields:
            self._read_fields()
        parser = self._parser
        status = parser.get_status_code()
        if parser.get_http_version() not in ("1.1", "1.0"):
            raise ProtocolFailure("its version is not HTTP/1.1 or HTTP/1.0")
        if not 200 <= status <= 599:
            if not 100 <= status <= 599:
                raise ProtocolFailure("its status is not between 100 and 599")
            if status != 101:
                return
            if not (self._upgrade and parser.should_upgrade()):
                raise ProtocolFailure("it switches protocols unasked or without saying to which")
        self.status = status
        self.has_head = True
        # After a HEAD a chunked body cannot be distinguished from surplus bytes.
        self.reusable = (
            status != 101
            and parser.should_keep_alive()
            and not (self._bodiless and self._chunked)
            and not self._repeats_coding
        )
        self._until_close = self.length is None and not self._chunked
        self.is_complete = self._bodiless

    def _read_fields(self) -> None:
        """Decode the headers of a head, all names and all values at once, and read its framing."""
        if len(self._fields) > MAX_HEADERS:
            raise HeadersTooLarge(f"more than {MAX_HEADERS} headers")
        raw_names, raw_values = zip(*self._fields, strict=True)
        names, values = b"\n".join(raw_names), b"\n".join(map(bytes.strip, raw_values))
        if len(names) + len(values) > HEADER_LIMIT:
            raise HeadersTooLarge(f"more than {HEADER_LIMIT // 1024} KB")
        lower = names.decode("latin-1").lower().split("\n")
        texts = values.decode("latin-1").split("\n")
        if len(texts) != len(lower):
            raise ProtocolFailure("a header has several lines")
        self.headers = list(zip(lower, texts, strict=True))
        if _LENGTH in lower:
            self.length = int(texts[lower.index(_LENGTH)])
        if _CODING in lower:
            codings = [
                text.lower() for name, text in zip(lower, texts, strict=True) if name == _CODING
            ]
            if codings.count("chunked") != len(codings):
                raise ProtocolFailure("its transfer coding is not plain chunked")
            self._chunked = True
            self._repeats_coding = len(codings) > 1

    def on_body(self, data: bytes) -> None:
        if self.is_complete:
            self._poison()
        else:
            self.body.append(data)

    def on_message_complete(self) -> None:
        if self.has_head:
            self.is_complete = True
        else:  # a 1xx response: the final one follows
            self.in_message = False
            self.headers = []
            self._fields = []
            self.length = None
            self._chunked = False


def _failure_of(error: httptools.HttpParserError) -> UpstreamFailure:
    # An exception of a callback is the context of httptools' own error.
    cause = error.__context__
    return cause if isinstance(cause, UpstreamFailure) else ProtocolFailure(str(error))
