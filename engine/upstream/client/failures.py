"""The failures of a request to an upstream, one class per kind.

The law: `kind` is for tables (retry rules, metrics), `message` for people; `request_sent` and
`response_started` decide whether a retry can do harm. No message contains a header, a body or a
proxy's password.
"""

from __future__ import annotations

from typing import ClassVar, Self

from engine.values.errors import without_frames


class UpstreamFailure(Exception):
    """A request without a complete response.

    `request_sent`: a byte of the request had been sent, so the upstream may have processed it.
    `response_started`: a byte of a response had arrived, an interim (1xx) one included.
    """

    kind: ClassVar[str]
    words: str
    request_sent: bool = False
    response_started: bool = False

    def __init__(self, detail: str = "") -> None:
        self.message = f"{self.words}: {detail}" if detail else self.words
        super().__init__(self.message)

    def after_start(self) -> Self:
        """Record that the response had started, and return the failure: its content is at fault."""
        self.request_sent = self.response_started = True
        return self

    def without_traceback(self) -> Self:
        """Remove the traceback and return the failure (`without_frames`)."""
        return without_frames(self)


class ConnectFailed(UpstreamFailure):
    kind, words = "connect", "no connection to the upstream"


class ConnectTimeout(UpstreamFailure):
    kind, words = "connect_timeout", "no connection to the upstream in time"


class FirstByteTimeout(UpstreamFailure):
    kind, words = "first_byte_timeout", "the upstream did not begin to answer in time"


class IdleTimeout(UpstreamFailure):
    kind, words = "idle_timeout", "the upstream fell silent in the middle of its answer"


class TotalTimeout(UpstreamFailure):
    kind, words = "total_timeout", "the upstream did not finish in the time one request may take"


class Reset(UpstreamFailure):
    kind, words = "reset", "the upstream closed the connection before it answered"


class Truncated(UpstreamFailure):
    kind, words = "truncated", "the upstream closed the connection in the middle of its answer"


class ProtocolFailure(UpstreamFailure):
    kind, words = "protocol", "the upstream's answer is not valid HTTP/1.1"


class InvalidAnswer(UpstreamFailure):
    """A valid HTTP response whose content cannot be translated; the words say why."""

    kind, words = "answer", "the upstream's answer is not in its format"

    def __init__(self, words: str = "") -> None:
        self.words = words or self.words
        super().__init__()


class NoCredential(UpstreamFailure):
    """A request that was not sent, because there is no token for it. The words say why. `lasting`:
    only an operator can change that."""

    kind, words = "credential", "this gateway has no credential for the upstream"

    def __init__(self, words: str = "", detail: str = "", *, lasting: bool = False) -> None:
        self.words = f"{self.words}: {words}" if words else self.words
        self.lasting = lasting
        super().__init__(detail)


class HeadersTooLarge(UpstreamFailure):
    kind, words = "headers_too_large", "the headers of the upstream's answer are too large"


class Silence(Exception):
    """No bytes for the `beat` seconds of a read. This is not a failure: reading may continue.

    `since_start`: no bytes since the read began.
    """

    def __init__(self, since_start: bool = True) -> None:
        super().__init__()
        self.since_start = since_start


class Cancelled(UpstreamFailure):
    """The gateway closed the response before its end; the upstream is not at fault."""

    kind, words = "cancelled", "the answer was closed before its end"
