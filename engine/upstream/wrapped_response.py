"""A response in the place of an upstream's: the base of those whose bodies are read in another
form, so that what follows need not know of it."""

from __future__ import annotations

from collections.abc import Callable

from engine.exchange.interfaces import Headers, Socket
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.response import IncomingResponse
from engine.upstream.translated_errors import invalid_answer
from engine.values.content_coding import decode_body

UNDECODABLE = "the upstream's answer has a content coding that cannot be decoded"


class WrappedResponse:
    """What the wrapped responses have in common as `IncomingResponse`: all but `read`. `headers`
    are those that follow from the upstream's."""

    length: int | None = None
    _failure: UpstreamFailure | None = None

    def __init__(self, response: IncomingResponse, headers: Headers) -> None:
        self.status = response.status
        self.headers = headers
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

    def _read_all(self, most: int, beat: float | None) -> bytes:
        """The whole body, decoded; to be called again after Silence. Raises UpstreamFailure,
        InvalidAnswer for one of over `most` bytes among them, and Silence."""
        while data := self._response.read(beat=beat):
            self._received += data
            if len(self._received) > most:
                raise invalid_answer(f"the upstream's answer has over {most} bytes")
        text = decode_body(self._encoding, bytes(self._received))
        if text is None:
            raise invalid_answer(UNDECODABLE)
        return text

    def _read_mapped(
        self,
        feed: Callable[[bytes], bytes],
        passing: Callable[[bytes], None] | None,
        beat: float | None,
    ) -> bytes:
        """What the next bytes come to that `feed` makes something of, `b""` at the end; `passing`
        and `beat` as in `UpstreamResponse.read`. A failure that `feed` has set follows what it has
        returned. Raises UpstreamFailure and Silence."""

        def pass_mapped(data: bytes) -> None:
            if (mapped := feed(data)) and passing is not None:
                passing(mapped)
            if self._failure is not None:
                raise self._failure

        while self._failure is None:
            data = self._response.read(None if passing is None else pass_mapped, beat)
            if not data:
                return b""
            if mapped := feed(data):
                return mapped
        self._response.close()
        raise self._failure
