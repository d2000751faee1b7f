"""Digits that nobody can guess."""

from __future__ import annotations

import os
import re

from engine.chance import Chance


def test_so_many_digits_are_drawn_and_never_the_same() -> None:
    drawn = [Chance(6).draw(), *(each.draw() for each in [Chance(12)] * 1000)]
    assert len(set(drawn)) == 1001
    assert re.fullmatch("[0-9a-f]{6}", drawn[0])
    assert all(re.fullmatch("[0-9a-f]{12}", each) for each in drawn[1:])


def test_another_process_draws_others() -> None:
    chance = Chance(20)
    chance.draw()
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.write(into, chance.draw().encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(into)
    with os.fdopen(out) as pipe:
        theirs = pipe.read()
    assert len(theirs) == 20
    assert theirs != chance.draw()
