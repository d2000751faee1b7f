"""The result of a POST to a collector or a webhook."""

from __future__ import annotations

from typing import NamedTuple


class PostResult(NamedTuple):
    """Its status, or 0 and the `error`. `retry_after` is in seconds, None if the receiver sent
    none."""

    status: int
    error: str = ""
    retry_after: float | None = None
    body: bytes = b""
