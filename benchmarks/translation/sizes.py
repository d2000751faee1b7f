"""Whether the CPU time of a translation grows with the size alone, or with its square.

What a single call copies or searches counts as well.
"""

from __future__ import annotations

import gc
import time

from engine.translations import languages
from tests.support.translation_sizes import ANSWER_WORKS, ANSWERS, REQUEST_WORKS, REQUESTS, Work

_FACTOR = 16
_ATTEMPTS = 6


def _cpu_time(works: list[Work]) -> float:
    gc.collect()
    gc.disable()
    begin = time.thread_time()
    results = [work() for work in works]  # all of them take memory, as one large result does
    seconds = time.thread_time() - begin
    gc.enable()
    results.clear()
    return seconds


def measure(size: int = 9_000) -> None:
    """Print the CPU time of one work of a size over that of 16 small ones of the same size in all,
    the least of several attempts; about 1 is a cost that grows with the size alone."""
    print(f"{'large over small':<20}{'work':<22}{'kind':<30}{'growth':>8}")
    for language in languages():
        for works, kinds in ((REQUEST_WORKS, REQUESTS), (ANSWER_WORKS, ANSWERS)):
            for work in works:
                for kind in kinds:
                    growths = []
                    for _ in range(_ATTEMPTS):
                        small = [work(language, kind, size // _FACTOR) for _ in range(_FACTOR)]
                        large = [work(language, kind, size)]
                        growths.append(_cpu_time(large) / _cpu_time(small))
                    name = getattr(work, "__name__", "")
                    print(f"{language.name:<20}{name:<22}{kind:<30}{min(growths):8.2f}")
