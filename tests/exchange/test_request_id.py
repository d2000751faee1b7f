"""Names of requests."""

from __future__ import annotations

import re
import time

from engine.exchange.request_id import request_id


def test_a_name_tells_its_time_and_then_chance() -> None:
    before = time.time_ns() // 1_000_000
    name = request_id()
    assert re.fullmatch(r"req_[0-9a-f]{32}", name)
    assert before <= int(name[4:16], 16) <= time.time_ns() // 1_000_000


def test_no_two_names_are_the_same() -> None:
    assert len({request_id() for _ in range(10_000)}) == 10_000
