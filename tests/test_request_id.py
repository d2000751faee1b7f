"""Names of requests."""

from __future__ import annotations

import os
import re
import time

from engine.request_id import request_id


def test_a_name_tells_its_time_and_then_chance() -> None:
    before = time.time_ns() // 1_000_000
    name = request_id()
    assert re.fullmatch(r"req_[0-9a-f]{32}", name)
    assert before <= int(name[4:16], 16) <= time.time_ns() // 1_000_000


def test_no_two_names_are_the_same() -> None:
    assert len({request_id() for _ in range(10_000)}) == 10_000


def test_another_process_draws_others() -> None:
    request_id()
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.write(into, request_id()[16:].encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(into)
    with os.fdopen(out) as pipe:
        theirs = pipe.read()
    assert len(theirs) == 20
    assert theirs != request_id()[16:]
