"""The one interface of bytes that pass, and filters for bodies of any format (see also
`whole_body.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from engine.values.content_coding import DecodeError, Decoder


class Filter:
    """Gets the bytes of one body as they arrive, and returns those that pass. This one passes all.

    `failure` is why the body cannot be read further: what `feed` and `finish` returned until then
    passes, and neither is called again. It is Unreadable, EOFError for an end within a part, or one
    of the filter's own.
    """

    failure: Exception | None = None
    expands = False
    """Whether a part may become a thousand times as long: then no other greenlet, and not the event
    loop, calls `feed`, and `more` has what follows the first piece of it."""

    @property
    def ended(self) -> bool:
        """Whether the body has said that it is complete: then a connection that breaks off is no
        failure. False for all bodies that only their last byte completes."""
        return False

    def feed(self, data: bytes) -> bytes:
        """What `data` completes, `b""` for nothing. Raises EventTooLarge for a part that is too
        long to be held."""
        return data

    def finish(self) -> bytes:
        """What the end of the body completes, or the beginning of it."""
        return b""

    def feed_last(self, data: bytes) -> bytes:
        """What the last piece of the body completes, `b""` for a piece that has come before, and
        its end. Raises EventTooLarge."""
        output = self.feed(data) if data else b""
        return output if self.failure is not None else output + self.finish()

    @property
    def has_more(self) -> bool:
        """Whether `more` has the rest of what the last call has completed."""
        return False

    def more(self) -> bytes:
        """The next part of that, `b""` at its end."""
        return b""

    def close(self) -> None:
        """Nothing more is read."""


class Unreadable(Exception):
    """A body is not in its format. The text is a sentence about the upstream's answer."""


def unreadable(reason: str) -> Filter:
    """The filter of a body that cannot be read at all."""
    body = Filter()
    body.failure = Unreadable(reason)
    return body


UNDECODABLE = "the upstream's answer has a content coding that cannot be decoded"


class Decoding(Filter):
    """Removes the Content-Encoding of a body, of which each part may decode to MAX_DECODED bytes,
    and all of it to more. It comes in pieces, so that no step over it takes long."""

    expands = True

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._pieces: Iterator[bytes] = iter(())
        self._next = b""
        self._is_last = False

    def feed(self, data: bytes) -> bytes:
        self._decoder.refill()
        self._pieces = self._decoder.feed(data)
        self._decode_next()
        return self.more()

    def feed_last(self, data: bytes) -> bytes:
        self._is_last = True
        return self.feed(data) if data else self.finish()

    @property
    def has_more(self) -> bool:
        return bool(self._next)

    def more(self) -> bytes:
        data = self._next
        if data:
            self._decode_next()
        return data

    def finish(self) -> bytes:
        self._is_last = True
        self._judge_end()
        return b""

    def _decode_next(self) -> None:
        try:
            self._next = next(self._pieces, b"")
        except DecodeError as error:
            self._next = b""
            self.failure = Unreadable(f"the upstream's answer cannot be read: {error}")
        self._judge_end()

    def _judge_end(self) -> None:
        if self._is_last and not self._next and self.failure is None and not self._decoder.ended:
            self.failure = EOFError("the encoded body is not complete")
