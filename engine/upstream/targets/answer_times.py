"""Latency and failures of a target, as decaying averages that the workers of a machine share.

Three averages: the seconds from a request to the first content of a stream, the seconds for each
token of output after it, and the share of attempts that failed.

An answer that is not a stream does not separate the first two. It scales both by its time divided
by the time that they predict for its length, so that a short answer does not count as a fast one.
An attempt that its caller left took at least as long as it lasted, so it can only raise an average.
The time until an attempt failed is not counted.

Pure: times are seconds of one monotonic clock. Of two samples at the same moment one may be lost.
"""

from __future__ import annotations

import math

from engine.values.machine_state import MachineState, SharedRecord

MEMORY = 10.0
"""Seconds after which a sample replaces 63 % of the average before it."""

FAILURE_MEMORY = 120.0
"""Seconds without an attempt after which 63 % of the failures are forgotten. While they outweigh
the load of the others, a target gets no request that could show that it works again: the busier the
others are, the sooner it gets one."""

MIN_WEIGHT = 0.05
"""The smallest weight of a sample, so that more than the first answer of a burst counts."""

TYPICAL_TOKENS = 200
"""The length of the answers that are compared."""

PREFILL_TOKENS = 25
"""The assumed time to the first content, in tokens of output, while no stream was measured."""

MAX_FAILURES = 0.99


FIRST_CONTENT, PER_TOKEN, FAILURES = 0, 2, 4
"""The averages of a target in its record of the machine: each is a number, 0.0 without a sample,
and in the next column the time of its last sample."""


def add_sample(record: SharedRecord, column: int, sample: float, now: float) -> None:
    """Add a sample of this moment to an average, in which its weight grows with the time since the
    last one; the first sample becomes the average."""
    last = record.number(column + 1)
    if last:
        weight = max(MIN_WEIGHT, 1.0 - math.exp((last - now) / MEMORY))
        average = record.number(column)
        sample = average + (sample - average) * weight
    record.set_number(column, sample)
    record.set_number(column + 1, now)


class AnswerTimes:
    """The averages of one target, under a name in the state of the machine."""

    __slots__ = ("_record",)

    def __init__(self, machine: MachineState, name: str) -> None:
        self._record = machine.record(f"times/{name}")

    @property
    def first_content(self) -> float:
        """Seconds to the first content, 0.0 before the first answer."""
        return self._record.number(FIRST_CONTENT)

    @property
    def per_token(self) -> float:
        """Seconds for a token of output, 0.0 where none was measured."""
        return self._record.number(PER_TOKEN)

    @property
    def typical(self) -> float:
        """Seconds for an answer of TYPICAL_TOKENS; 0.0 before the first answer."""
        number = self._record.number
        return number(FIRST_CONTENT) + TYPICAL_TOKENS * number(PER_TOKEN)

    def failures(self, now: float) -> float:
        """The share of attempts that failed, at most MAX_FAILURES; it falls without attempts."""
        share = self._record.number(FAILURES)
        if not share:
            return 0.0
        age = max(0.0, now - self._record.number(FAILURES + 1))
        return min(share, MAX_FAILURES) * math.exp(-age / FAILURE_MEMORY)

    def judge(self, now: float, *, failed: bool) -> None:
        """Record that an attempt was answered, or failed."""
        add_sample(self._record, FAILURES, 1.0 if failed else 0.0, now)

    def stream_began(self, seconds: float, now: float) -> None:
        """The first content of a stream came after so many seconds."""
        add_sample(self._record, FIRST_CONTENT, seconds, now)

    def stream_ended(self, seconds: float, tokens: int, now: float) -> None:
        """A stream of so many tokens ended so many seconds after its first content."""
        if tokens > 1:
            add_sample(self._record, PER_TOKEN, seconds / (tokens - 1), now)

    def answered(self, seconds: float, tokens: int, now: float) -> None:
        """An answer that is not a stream was complete after so many seconds."""
        first, per_token = self.first_content, self.per_token
        if not first:
            first = PREFILL_TOKENS
        if not per_token and tokens:
            per_token = first / PREFILL_TOKENS
        scale = seconds / (first + tokens * per_token)
        add_sample(self._record, FIRST_CONTENT, first * scale, now)
        if tokens:
            add_sample(self._record, PER_TOKEN, per_token * scale, now)

    def unanswered(self, seconds: float, now: float) -> None:
        """The caller left after so many seconds without an answer."""
        if seconds > self.first_content:
            add_sample(self._record, FIRST_CONTENT, seconds, now)
