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

from engine.values.machine_state import MachineState

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


class DecayingAverage:
    """An average in which the weight of a sample grows with the time since the last one."""

    __slots__ = ("_time", "number")

    def __init__(self, machine: MachineState, name: str, column: int) -> None:
        self.number = machine.number(name, column)
        """The average, 0.0 without a sample."""
        self._time = machine.number(name, column + 1)

    def add(self, sample: float, now: float) -> None:
        """Add a sample of this moment; the first sample becomes the average."""
        last, number = self._time.value, self.number
        if last:
            weight = max(MIN_WEIGHT, 1.0 - math.exp((last - now) / MEMORY))
            number.value += (sample - number.value) * weight
        else:
            number.value = sample
        self._time.value = now

    def age(self, now: float) -> float:
        """The seconds since the last sample."""
        return max(0.0, now - self._time.value)


class AnswerTimes:
    """The averages of one target, under a name in the state of the machine."""

    __slots__ = ("_failures", "_first_content", "_first_number", "_per_token", "_token_number")

    def __init__(self, machine: MachineState, name: str) -> None:
        name = f"times/{name}"
        self._first_content = DecayingAverage(machine, name, 0)
        self._per_token = DecayingAverage(machine, name, 2)
        self._failures = DecayingAverage(machine, name, 4)
        self._first_number, self._token_number = self._first_content.number, self._per_token.number

    @property
    def first_content(self) -> float:
        """Seconds to the first content, 0.0 before the first answer."""
        return self._first_content.number.value

    @property
    def per_token(self) -> float:
        """Seconds for a token of output, 0.0 where none was measured."""
        return self._per_token.number.value

    @property
    def typical(self) -> float:
        """Seconds for an answer of TYPICAL_TOKENS; 0.0 before the first answer."""
        return self._first_number.value + TYPICAL_TOKENS * self._token_number.value

    def failures(self, now: float) -> float:
        """The share of attempts that failed, at most MAX_FAILURES; it falls without attempts."""
        share = min(self._failures.number.value, MAX_FAILURES)
        return share and share * math.exp(-self._failures.age(now) / FAILURE_MEMORY)

    def judge(self, now: float, *, failed: bool) -> None:
        """Record that an attempt was answered, or failed."""
        self._failures.add(1.0 if failed else 0.0, now)

    def stream_began(self, seconds: float, now: float) -> None:
        """The first content of a stream came after so many seconds."""
        self._first_content.add(seconds, now)

    def stream_ended(self, seconds: float, tokens: int, now: float) -> None:
        """A stream of so many tokens ended so many seconds after its first content."""
        if tokens > 1:
            self._per_token.add(seconds / (tokens - 1), now)

    def answered(self, seconds: float, tokens: int, now: float) -> None:
        """An answer that is not a stream was complete after so many seconds."""
        first, per_token = self._first_content.number.value, self._per_token.number.value
        if not first:
            first = PREFILL_TOKENS
        if not per_token and tokens:
            per_token = first / PREFILL_TOKENS
        scale = seconds / (first + tokens * per_token)
        self._first_content.add(first * scale, now)
        if tokens:
            self._per_token.add(per_token * scale, now)

    def unanswered(self, seconds: float, now: float) -> None:
        """The caller left after so many seconds without an answer."""
        if seconds > self._first_content.number.value:
            self._first_content.add(seconds, now)
