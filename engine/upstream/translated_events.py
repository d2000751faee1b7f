"""The server-sent events of an upstream, in the language of the caller: bytes in, bytes out."""

from __future__ import annotations

from engine.dialects import Dialect
from engine.metering.readers import Reader
from engine.relay.sse import Cleaner, NotAnEvent
from engine.translations import AnyStreamTranslator
from engine.translations.neutral.events import BrokenAnswer, UpstreamError
from engine.values.content_coding import DecodeError, Decoder
from engine.values.errors import EventTooLarge


class Interrupted(Exception):
    """A stream has an error (BrokenAnswer or UpstreamError) behind events that were translated."""

    def __init__(self, output: bytes, error: BrokenAnswer | UpstreamError) -> None:
        super().__init__()
        self.output, self.error = output, error


class TranslatedEvents:
    """The bytes of an upstream's stream, decoded, cleaned and translated event by event. `dialect`
    is the upstream's; `usage` reads its events. After an error nothing may be fed."""

    def __init__(
        self,
        translator: AnyStreamTranslator,
        dialect: Dialect,
        usage: Reader,
        decoder: Decoder | None = None,
    ) -> None:
        self._translator = translator
        self._dialect = dialect
        self._usage = usage
        self._decoder = decoder
        self._cleaner = Cleaner(dialect.stream)

    @property
    def ended(self) -> bool:
        """Whether the answer is complete, although the stream may go on."""
        return self._translator.ended

    def feed(self, data: bytes) -> bytes:
        """What the events come to that `data` completes. Raises Interrupted."""
        output: list[bytes] = []
        try:
            for piece in (data,) if self._decoder is None else self._decoder.feed(data):
                self._translate(self._cleaner.feed(piece), output)
        except (BrokenAnswer, UpstreamError, DecodeError, EventTooLarge) as error:
            raise self._interrupted(output, error) from error
        return b"".join(output)

    def finish(self) -> bytes:
        """What the end of the stream comes to. Raises Interrupted."""
        output: list[bytes] = []
        try:
            if self._decoder is not None and not (self._decoder.ended or self.ended):
                raise BrokenAnswer("the upstream's answer broke off in its compressed data")
            self._translate(self._cleaner.finish(), output)
            output.append(self._translator.end())
        except (BrokenAnswer, UpstreamError, EventTooLarge) as error:
            raise self._interrupted(output, error) from error
        return b"".join(output)

    def _translate(self, events: bytes, output: list[bytes]) -> None:
        self._usage.feed(events)
        data = filter(None, map(_data, events.split(b"\n\n")))
        output.extend(map(self._translator.event, data))  # keeps what precedes an error
        if self._cleaner.foreign and not self.ended:
            raise self._foreign_error(NotAnEvent(self._cleaner.foreign))

    def _interrupted(self, output: list[bytes], error: Exception) -> Interrupted:
        if not isinstance(error, BrokenAnswer | UpstreamError):
            error = BrokenAnswer(f"the upstream's answer cannot be read: {error}")
        return Interrupted(b"".join([*output, self._translator.take()]), error)

    def _foreign_error(self, text: NotAnEvent) -> Exception:
        if self._dialect.is_error_event(text.document):
            error = self._dialect.stream_error(text.document)
            if error is not None:
                message = error.document.get("error", {}).get("message")
                return UpstreamError(error.status, message or "")
        return BrokenAnswer(str(text))


def _data(event: bytes) -> bytes:
    """The data of a clean event, b"" for one without any."""
    if event.startswith(b"event: "):
        event = event[event.find(b"\n") + 1 :]
    if event.startswith(b"data: ") and b"\n" not in event:
        return event[6:]  # nearly every event
    if b"data: " not in event:
        return b""
    return b"\n".join(line[6:] for line in event.split(b"\n") if line.startswith(b"data: "))
