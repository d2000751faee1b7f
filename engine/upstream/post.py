"""Posting small bodies to one address, for what the gateway itself has to tell somebody."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from engine.telemetry.tracing.exporter import Reply
from engine.upstream import retry
from engine.upstream.client.client import Client, Timeouts
from engine.upstream.client.failures import UpstreamFailure

_LARGEST = 65_536


class Post:
    """Posts bodies to `url`, one of http, https or http+unix, with these headers; `seconds` is what
    one may take. ValueError for a URL that is odd."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        *,
        seconds: float = 10.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        timeouts = Timeouts(connect=seconds, first_byte=seconds, idle=seconds, total=seconds)
        self._client = Client(url, timeouts=timeouts, pool_size=1)
        self._headers = list(headers.items())
        self._clock = clock

    def __call__(self, body: bytes) -> Reply:
        """Send a body, and wait for the whole answer. No failure raises."""
        try:
            response = self._client.send("POST", self._client.base_path or "/", self._headers, body)
        except UpstreamFailure as failure:
            return Reply(0, _words(failure))
        try:
            said = b""
            while (data := response.read()) and len(said) < _LARGEST:
                said += data
        except UpstreamFailure as failure:
            return Reply(0, _words(failure))
        finally:
            response.close()
        asked = response.header("retry-after")
        return Reply(response.status, "", retry.retry_delay(None, asked, self._clock()), said)

    def close(self) -> None:
        """Close its connection."""
        self._client.close()


def _words(failure: UpstreamFailure) -> str:
    """What went wrong, of somebody who is no upstream."""
    return failure.words.replace("upstream", "other side")
