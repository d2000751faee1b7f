"""Bodies that are read as a whole, up to a limit."""

from __future__ import annotations

from typing import Any

import pytest

from engine.upstream.client import failures
from engine.upstream.response_body import read_body
from tests.support.upstreams import JSON, FakeResponse, failure


@pytest.mark.parametrize(
    ("limit", "data", "complete"), [(9, b"abcdef", True), (3, b"abcd", False), (6, b"abcdef", True)]
)
def test_a_body_is_read_up_to_a_limit(limit: int, data: bytes, complete: bool) -> None:
    response: Any = FakeResponse(500, JSON, [b"cd", b"ef"])
    assert read_body(response, limit, b"ab") == (data, complete)


def test_a_body_that_breaks_off_is_incomplete() -> None:
    broken = failure(failures.Truncated, response_started=True)
    response: Any = FakeResponse(500, JSON, [b"ab", broken])
    assert read_body(response, 100) == (b"ab", False)
