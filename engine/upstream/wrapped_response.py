"""The base of responses that wrap an upstream's response and change its body."""

from __future__ import annotations

from collections.abc import Callable

from engine.exchange.interfaces import Headers, Socket
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.response import IncomingResponse
from engine.upstream.translated_errors import invalid_answer
from engine.values.content_coding import decode_body

UNDECODABLE = "the upstream's answer has a content coding that cannot be decoded"


class WrappedResponse:
    """The members of `IncomingResponse` but `read`, for a wrapped response. `headers` replace the
    upstream's."""

    length: int | None = None
    _failure: UpstreamFailure | None = None

    def __init__(self, response: IncomingResponse, headers: Headers) -> None:
        self.status = response.status
        self.headers = headers
        self.usage = response.usage
        self._response = response
        self._encoding = response.header("content-encoding") or ""
        self._received = bytearray()

    def header(self, name: str) -> str | None:
        """The first value of a header; its name in lower case."""
        for field, value in self.headers:
            if field == name:
                return value
        return None

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been read."""
        return self._response.is_complete

    def close(self) -> None:
        """Release the upstream's connection."""
        self._response.close()

    def detach(self) -> tuple[Socket, bytes]:
        """The connection of a response that became a WebSocket."""
        return self._response.detach()

    def _read_all(
        self, max_bytes: int, beat: float | None, on_data: Callable[[bytes], None]
    ) -> bytes:
        """The whole body, decoded. `on_data` is called with each part as it arrives, not decoded.
        Raises Silence, after which it can be called again, and UpstreamFailure: InvalidAnswer for a
        body of over `max_bytes`."""
        while data := self._response.read(beat=beat):
            on_data(data)
            self._received += data
            if len(self._received) > max_bytes:
                raise invalid_answer(f"the upstream's answer has over {max_bytes} bytes")
        text = decode_body(self._encoding, bytes(self._received))
        if text is None:
            raise invalid_answer(UNDECODABLE)
        return text

    def _read_mapped(
        self,
        feed: Callable[[bytes], bytes],
        on_data: Callable[[bytes], None] | None,
        beat: float | None,
    ) -> bytes:
        """Read until `feed` has output, and return that; `b""` at the end. `on_data` and `beat` as
        in `UpstreamResponse.read`. A failure that `feed` has set is raised after its output. Raises
        UpstreamFailure and Silence."""

        def pass_mapped(data: bytes) -> None:
            if (mapped := feed(data)) and on_data is not None:
                on_data(mapped)
            if self._failure is not None:
                raise self._failure

        while self._failure is None:
            data = self._response.read(None if on_data is None else pass_mapped, beat)
            if not data:
                return b""
            if mapped := feed(data):
                return mapped
        self._response.close()
        raise self._failure
