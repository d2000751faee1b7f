"""The health of one target, shared by the workers of a machine.

A target is asked last while it is ejected (`outliers`) and while its server fails its probes
(`probes`). A slow start follows: for `slow_start` seconds it gets a growing share of its requests.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from engine.config.health import EjectionConfig
from engine.upstream.health.outliers import Activity, Member
from engine.upstream.health.probes import ServerProbe
from engine.upstream.health.window import Totals, Window, scaled_log
from engine.upstream.targets import retry
from engine.upstream.targets.target_state import (
    ANSWERS,
    EJECTED_UNTIL,
    EJECTIONS,
    FAILURES,
    FIRST,
    LAST,
    LOGS,
    REASON,
    WAITING,
    OpenAttempt,
    name_on_machine,
)
from engine.values.machine_state import MachineState, SharedRecord
from engine.values.metric import target_label
from engine.values.units import format_count

REASONS = ("", "errors", "latency", "silence")
_NO_EJECTIONS: Mapping[str, int] = dict.fromkeys(REASONS[1:], 0)
_MAX_SECONDS = 86_400.0
"""Seconds. A later time in the shared state is ignored: it dates from before a reboot."""
_MAX_DOUBLINGS = 20

log = logging.getLogger("modelway")


class JudgedGroup(Protocol):
    """Targets that can replace each other (`engine.upstream.health.outlier_ejection`)."""

    members: Sequence[TargetHealth]

    def use(self, now: float, /) -> None:
        """Record that a target of the group was used."""

    def judge(self, now: float, /) -> bool:
        """Eject the targets that are worse than the others. Returns whether the group is to be
        judged again."""
        ...


class HealthSettings(Struct, frozen=True):
    """What the targets of an `upstream` have in common. A target adds itself to `used`, for
    `judge`, when it is used."""

    upstream: str
    machine: MachineState
    config: EjectionConfig
    used: set[TargetHealth]
    dice: Callable[[], float] = random.random


class TargetHealth:
    """The health of a target, an observer of its attempts. `server` is None without probes.

    `key` are the parts of its label in metrics. Targets of equal `kind` are comparable by latency.
    `groups` are those in which it is judged. Times are seconds of `time.monotonic`. `ejections` are
    how often this worker ejected it, by reason.
    """

    # The record is opened, and the window made, at the first use: a config may have many targets
    # that are never used.
    __slots__ = (
        "_kind",
        "_opened",
        "_window",
        "ejections",
        "groups",
        "key",
        "name",
        "server",
        "settings",
    )

    def __init__(
        self,
        name: str,
        settings: HealthSettings,
        *,
        server: ServerProbe | None = None,
        kind: Hashable = None,
        key: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.key = key
        self.settings = settings
        self.server = server
        self.groups: tuple[JudgedGroup, ...] = ()
        self.ejections = _NO_EJECTIONS
        self._kind = kind
        self._opened: SharedRecord | None = None
        self._window: Window | None = None

    @property
    def is_open(self) -> bool:
        """Whether this worker has opened the record of the target."""
        return self._opened is not None

    def began(self, attempt: OpenAttempt, /) -> None:
        """Count a request that waits for its first content."""
        self.settings.used.add(self)
        (self._opened or self._open()).add(WAITING, 1)

    def answered(self, attempt: OpenAttempt, /) -> None:
        """Count an answer and its time to the first content."""
        record = self._opened or self._open()
        record.add(WAITING, -1)
        record.add(ANSWERS, 1)
        if attempt.first_content is not None:
            record.add(LOGS, scaled_log(attempt.first_content - attempt.start))

    def failed(self, attempt: OpenAttempt, /) -> None:
        """Count a failure, also of a response that broke off."""
        record = self._opened or self._open()
        if attempt.first_content is None:
            record.add(WAITING, -1)
        if retry.counts_against_target(attempt.failure):
            record.add(FAILURES, 1)

    def ended(self, attempt: OpenAttempt, /) -> None:
        """Stop counting an attempt that ended without a result: its caller left."""
        if attempt.first_content is None and not attempt.failure:
            (self._opened or self._open()).add(WAITING, -1)

    def turn(self, now: float, /) -> int:
        """LAST while other targets are asked first; decided by chance during the slow start."""
        until, server = (self._opened or self._open()).number(EJECTED_UNTIL), self.server
        if until and self._is_out(until, now):
            return LAST
        return LAST if server is not None and self._is_out(server.failing_until, now) else FIRST

    def is_ejected(self, now: float) -> bool:
        """Whether the target is ejected; false during the slow start."""
        until = (self._opened or self._open()).number(EJECTED_UNTIL)
        return now < until < now + _MAX_SECONDS

    def is_failing(self, now: float) -> bool:
        """Whether its server fails its probes."""
        return self.server is not None and now < self.server.failing_until < now + _MAX_SECONDS

    def is_out(self, now: float) -> bool:
        """Whether the target is ejected or its server is failing."""
        return self.is_failing(now) or self.is_ejected(now)

    def is_returning(self, now: float) -> bool:
        """Whether the target is in its slow start."""
        ends = (self.ejected_until, self.server.failing_until if self.server is not None else 0.0)
        slow_start = self.settings.config.slow_start
        return not self.is_out(now) and any(end > 0 and now - end < slow_start for end in ends)

    @property
    def ejected_until(self) -> float:
        """The end of the last ejection, 0.0 without one."""
        return (self._opened or self._open()).number(EJECTED_UNTIL)

    @property
    def reason(self) -> str:
        """The reason of the last ejection, "" without one."""
        return REASONS[int((self._opened or self._open()).number(REASON))]

    def is_idle(self, now: float) -> bool:
        """Whether no attempt ended since the last call of `member`, none waits, and the target is
        not ejected: then `member` need not be called."""
        record, window = self._opened or self._open(), self._window
        return (
            window is not None
            and record.number(EJECTED_UNTIL) <= now
            and window.is_idle(record.total(ANSWERS), record.total(FAILURES), record.total(WAITING))
        )

    def member(self, now: float) -> Member:
        """The target as a member of a group. Counts from while it was out are left out."""
        record = self._opened or self._open()
        total = record.total
        totals = Totals(total(ANSWERS), total(FAILURES), total(LOGS), total(WAITING))
        out = self.is_out(now)
        config, window = self.settings.config, self._window
        if window is None or out:
            window = self._window = Window(config.window)
        return Member(window.activity(now, totals), config, out, self._kind)

    def eject(self, now: float, reason: str, activity: Activity) -> None:
        """Eject the target for `config.time`, doubled with each ejection that follows the last one
        within `config.max_time`; never longer than `config.max_time`."""
        config, record = self.settings.config, self._opened or self._open()
        count = int(record.number(EJECTIONS))
        count = count + 1 if now - self.ejected_until < config.max_time else 1
        seconds = min(config.max_time, config.time * 2.0 ** min(count - 1, _MAX_DOUBLINGS))
        record.set_number(EJECTIONS, count)
        record.set_number(REASON, REASONS.index(reason))
        record.set_number(EJECTED_UNTIL, now + seconds)
        self._window = None
        self.ejections = {**self.ejections, reason: self.ejections[reason] + 1}
        words = _words(reason, activity)
        name = target_label((self.settings.upstream, *self.key))
        log.warning("target %s is asked last for %g s: %s", name, seconds, words)

    def forget(self) -> None:
        """Free the window: the target was not used for longer than it lasts."""
        self._window = None

    def release(self, now: float) -> None:
        """End an ejection; the slow start begins."""
        (self._opened or self._open()).set_number(EJECTED_UNTIL, now)

    def _open(self) -> SharedRecord:
        self._opened = self.settings.machine.record(name_on_machine(self.name))
        return self._opened

    def _is_out(self, until: float, now: float) -> bool:
        if until > now:
            return until < now + _MAX_SECONDS
        returning = now - until
        slow_start = self.settings.config.slow_start
        return (
            until > 0.0
            and returning < slow_start
            and self.settings.dice() >= returning / slow_start
        )


def _words(reason: str, activity: Activity) -> str:
    """Why a target is ejected, for the log."""
    if reason == "errors":
        count = activity.answers + activity.failures
        return f"{activity.failures} of {format_count(count, 'attempt')} failed"
    if reason == "latency":
        return f"{activity.latency:.3g} s to the first content, far more than others"
    waiting = "1 request waits" if activity.waiting == 1 else f"{activity.waiting} requests wait"
    return f"{waiting}, and none was answered for {activity.silent:.3g} s"
