"""The health of one target, shared by the workers of a machine.

A target is asked last while it is ejected (`outliers`) and while its server fails its probes
(`probes`). A slow start follows: for `slow_start` seconds it gets a growing share of its requests.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Hashable, Mapping

from engine.config.health import EjectionConfig
from engine.upstream import retry
from engine.upstream.health.outliers import Activity, Member
from engine.upstream.health.window import Totals, Window, scaled_log
from engine.upstream.target_state import (
    ANSWERS,
    EJECTED_UNTIL,
    EJECTIONS,
    FAILURES,
    LOGS,
    REASON,
    WAITING,
    OpenAttempt,
    name_on_machine,
)
from engine.values.machine_state import MachineState, SharedNumber

REASONS = ("", "errors", "latency", "silence")
_NO_EJECTIONS: Mapping[str, int] = dict.fromkeys(REASONS[1:], 0)
_MAX_SECONDS = 86_400.0
"""Seconds. A later time in the shared state is ignored: it dates from before a reboot."""
_MAX_DOUBLINGS = 20

log = logging.getLogger("modelway")


class _Shared:
    """The shared state of a target. It is opened at its first use, because a config may have many
    targets that are never used."""

    __slots__ = ("answers", "count", "failures", "logs", "reason", "until", "waiting")

    def __init__(self, machine: MachineState, name: str) -> None:
        columns = ANSWERS, FAILURES, LOGS, WAITING
        self.answers, self.failures, self.logs, self.waiting = (
            machine.counter(name, column) for column in columns
        )
        self.until = machine.number(name, EJECTED_UNTIL)
        self.count = machine.number(name, EJECTIONS)
        self.reason = machine.number(name, REASON)


class TargetHealth:
    """The health of a target, an observer of its attempts. `server` is the shared number with the
    time until which its server is failing, None without probes.

    Targets of equal `kind` are comparable by latency. The target adds itself to `used`, for
    `judge`, when it is used. Times are seconds of `time.monotonic`. `ejections` are how often this
    worker ejected it, by reason.
    """

    __slots__ = (
        *("_dice", "_kind", "_machine", "_opened", "_server", "_used", "_window"),
        *("config", "ejections", "name"),
    )

    def __init__(
        self,
        name: str,
        machine: MachineState,
        config: EjectionConfig,
        *,
        used: set[TargetHealth],
        server: SharedNumber | None = None,
        kind: Hashable = None,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self.name = name
        self.config = config
        self.ejections = _NO_EJECTIONS
        self._kind = kind
        self._used = used
        self._dice = dice
        self._machine = machine
        self._server = server
        self._window = Window(config.window)
        self._opened: _Shared | None = None

    @property
    def _shared(self) -> _Shared:
        shared = self._opened
        if shared is None:
            shared = self._opened = _Shared(self._machine, name_on_machine(self.name))
        return shared

    @property
    def is_open(self) -> bool:
        """Whether this worker has opened the shared state."""
        return self._opened is not None

    def began(self, attempt: OpenAttempt, /) -> None:
        """Count a request that waits for its first content."""
        self._used.add(self)
        self._shared.waiting.add(1)

    def answered(self, attempt: OpenAttempt, /) -> None:
        """Count an answer and its time to the first content."""
        shared = self._shared
        shared.waiting.add(-1)
        shared.answers.add(1)
        if attempt.first_content is not None:
            shared.logs.add(scaled_log(attempt.first_content - attempt.start))

    def failed(self, attempt: OpenAttempt, /) -> None:
        """Count a failure, also of a response that broke off."""
        if attempt.first_content is None:
            self._shared.waiting.add(-1)
        if retry.counts_against_target(attempt.failure):
            self._shared.failures.add(1)

    def ended(self, attempt: OpenAttempt, /) -> None:
        """Stop counting an attempt that ended without a result: its caller left."""
        if attempt.first_content is None and not attempt.failure:
            self._shared.waiting.add(-1)

    def asked_last(self, now: float) -> bool:
        """Whether other targets are asked first; decided by chance during the slow start."""
        server = self._server
        return self._is_out(self._shared.until.value, now) or (
            server is not None and self._is_out(server.value, now)
        )

    def is_ejected(self, now: float) -> bool:
        """Whether the target is ejected; false during the slow start."""
        return now < self._shared.until.value < now + _MAX_SECONDS

    def is_failing(self, now: float) -> bool:
        """Whether its server fails its probes."""
        return self._server is not None and now < self._server.value < now + _MAX_SECONDS

    def is_out(self, now: float) -> bool:
        """Whether the target is ejected or its server is failing."""
        return self.is_failing(now) or self.is_ejected(now)

    def is_returning(self, now: float) -> bool:
        """Whether the target is in its slow start."""
        ends = (self._shared.until.value, self._server.value if self._server is not None else 0.0)
        slow_start = self.config.slow_start
        return not self.is_out(now) and any(end > 0 and now - end < slow_start for end in ends)

    @property
    def ejected_until(self) -> float:
        """The end of the last ejection, 0.0 without one."""
        return self._shared.until.value

    @property
    def reason(self) -> str:
        """The reason of the last ejection, "" without one."""
        return REASONS[int(self._shared.reason.value)]

    def is_idle(self, now: float) -> bool:
        """Whether no attempt ended since the last call of `member`, none waits, and the target is
        not ejected: then `member` need not be called."""
        shared = self._shared
        return shared.until.value <= now and self._window.is_idle(
            shared.answers.total(), shared.failures.total(), shared.waiting.total()
        )

    def member(self, now: float) -> Member:
        """The target as a member of a group. Counts from while it was out are left out."""
        shared = self._shared
        totals = Totals(
            shared.answers.total(),
            shared.failures.total(),
            shared.logs.total(),
            shared.waiting.total(),
        )
        out = self.is_out(now)
        if out:
            self._window.restart()
        activity = self._window.activity(now, totals)
        return Member(activity, self.config, out, self._kind)

    def eject(self, now: float, reason: str, activity: Activity) -> None:
        """Eject the target for `config.time`, doubled with each ejection that follows the last one
        within `config.max_time`; never longer than `config.max_time`."""
        config, shared = self.config, self._shared
        count = int(shared.count.value)
        count = count + 1 if now - shared.until.value < config.max_time else 1
        seconds = min(config.max_time, config.time * 2.0 ** min(count - 1, _MAX_DOUBLINGS))
        shared.count.value, shared.reason.value = count, REASONS.index(reason)
        shared.until.value = now + seconds
        self._window.restart()
        self.ejections = {**self.ejections, reason: self.ejections[reason] + 1}
        words = _words(reason, activity)
        name = "/".join(filter(None, self.name.split("/")))  # without its empty parts
        log.warning("target %s is asked last for %g s: %s", name, seconds, words)

    def forget(self) -> None:
        """Free the window: the target was not used for longer than it lasts."""
        self._window.restart()

    def release(self, now: float) -> None:
        """End an ejection; the slow start begins."""
        self._shared.until.value = now

    def _is_out(self, until: float, now: float) -> bool:
        if until > now:
            return until < now + _MAX_SECONDS
        returning = now - until
        slow_start = self.config.slow_start
        return until > 0.0 and returning < slow_start and self._dice() >= returning / slow_start


def _words(reason: str, activity: Activity) -> str:
    """Why a target is ejected, for the log."""
    if reason == "errors":
        count = activity.answers + activity.failures
        return f"{activity.failures} of {count} attempts failed"
    if reason == "latency":
        return f"{activity.latency:.3g} s to the first content, far more than others"
    return f"{activity.waiting} requests wait, and none was answered for {activity.silent:.3g} s"
