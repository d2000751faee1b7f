"""A response without its Content-Encoding, although the request did not allow one."""

from __future__ import annotations

from collections.abc import Callable

from engine.upstream.client.failures import Truncated, UpstreamFailure
from engine.upstream.client.response import IncomingResponse
from engine.upstream.translated_errors import invalid_answer
from engine.upstream.wrapped_response import WrappedResponse
from engine.values.content_coding import DecodeError, Decoder

_ENCODED = ("content-encoding", "content-length", "content-md5", "etag", "digest", "repr-digest")


class DecodedResponse(WrappedResponse):
    """A response that `decoder` decodes as it arrives. One read decodes at most MAX_DECODED
    bytes."""

    def __init__(self, response: IncomingResponse, decoder: Decoder) -> None:
        headers = [pair for pair in response.headers if not pair[0].startswith(_ENCODED)]
        super().__init__(response, headers)
        self._decoder = decoder
        self._first = b""

    @property
    def is_complete(self) -> bool:
        """Whether all of the body has been read."""
        ended = self._failure is None and self._decoder.ended
        return ended and not self._first and self._response.is_complete

    def unread(self, data: bytes) -> None:
        """Return `data` from the next `read` again."""
        self._first = data

    def read(
        self, on_data: Callable[[bytes], None] | None = None, beat: float | None = None
    ) -> bytes:
        """The next part of the body, decoded, `b""` at the end; `on_data` and `beat` as in
        `UpstreamResponse.read`. Raises UpstreamFailure (InvalidAnswer for data that cannot be
        decoded) and Silence."""
        if self._first:
            data, self._first = self._first, b""
            return data
        data = self._read_mapped(self._decode, on_data, beat)
        if not data and not self._decoder.ended:
            self._response.close()
            raise self._fail(Truncated())
        return data

    def _decode(self, data: bytes) -> bytes:
        """What `data` decodes to; a failure that follows it is set, not raised."""
        pieces: list[bytes] = []
        try:
            self._decoder.refill()
            pieces.extend(self._decoder.feed(data))
        except DecodeError as error:
            self._fail(invalid_answer(f"the upstream's answer cannot be read: {error}"))
        return b"".join(pieces)

    def _fail(self, failure: UpstreamFailure) -> UpstreamFailure:
        failure.request_sent = failure.response_started = True
        self._failure = failure
        return failure
