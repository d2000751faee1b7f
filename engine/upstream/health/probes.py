"""Active probes: one worker of a machine requests a page of each server at an interval.

The law:

    healthy    until `unhealthy` probes in a row failed; the very first probe decides alone
    failing    until `healthy` probes in a row succeeded

A probe succeeds with one of the configured statuses and a body that ends within its timeout. The
shared state of a failing server has an expiry time, which each failed probe extends: without probes
the state expires. If the probing worker ends, another one takes over.
"""

from __future__ import annotations

import hashlib
import logging
import random
import time
from collections.abc import Callable, Sequence

from gevent.pool import Pool

from engine.config.health import ProbeConfig
from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.upstream.addresses.replicas import Replica
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.response import MAX_ERROR, read_body
from engine.upstream.health import probe_result
from engine.upstream.health.probe_result import HEALTHY
from engine.upstream.requests.build_request import USER_AGENT
from engine.upstream.targets.target import Upstream
from engine.values.errors import GatewayError
from engine.values.machine_state import MachineState
from engine.values.upstream_request import UpstreamRequest

_FAILING_UNTIL, _RESULT = range(2)
"""The numbers of a server in its record of the machine: a time, and the last result that failed."""

_LATE = 3
"""Intervals without a probe after which the state of a failing server expires."""
_MIN_HOLD = 2.0
"""The least seconds before it does: a loaded worker may be late with a probe."""
_MAX_WAIT = 1.0
_MIN_WAIT = 0.05

log = logging.getLogger("modelway")


class ProbeLaw:
    """Whether a server is failing, by its probes. `failing` is None before the first probe."""

    def __init__(self, config: ProbeConfig, failing: bool | None = None) -> None:
        self.failing = failing
        self._config = config
        self._streak = 0  # probes in a row that contradict the state

    def record(self, success: bool) -> bool:
        """Record a probe. Returns whether the server is failing."""
        if self.failing is None:
            self.failing = not success
        elif success is not self.failing:
            self._streak = 0
        else:
            self._streak += 1
            config = self._config
            if self._streak >= (config.healthy if self.failing else config.unhealthy):
                self.failing, self._streak = not self.failing, 0
        return self.failing


class ServerProbe:
    """The probe of the server of an upstream, or of a `replica` of it.

    `task` identifies the probes of the upstream among the workers. `count` counts those of this
    worker."""

    def __init__(
        self,
        upstream: Upstream,
        config: ProbeConfig,
        machine: MachineState,
        clock: Callable[[], float] = time.monotonic,
        replica: Replica | None = None,
    ) -> None:
        self.config = config
        # So that a worker that still drains with an old config does not hold the new probes.
        settings = hashlib.sha256(repr((upstream.url, config)).encode()).hexdigest()[:16]
        self.task = f"health/{upstream.name}/{settings}"
        self.name = upstream.name if replica is None else f"{upstream.name}@{replica.address}"
        self._record = machine.record(f"probes/{self.name}")
        self.count = 0
        self._upstream = upstream
        self._client = upstream.client if replica is None else replica.client
        self._clock = clock
        self._law: ProbeLaw | None = None

    @property
    def failing_until(self) -> float:
        """The time until which the server is failing, or was; 0.0 if it never failed."""
        return self._record.number(_FAILING_UNTIL)

    @property
    def reason(self) -> str:
        """Why the last failed probe of any worker failed; "" if none has failed."""
        return probe_result.reason(self._record.number(_RESULT))

    def run(self) -> None:
        """Probe the server once, and share the result. A worker without free file descriptors
        records no result."""
        detail = ""
        try:
            result = self._ask()
        except (CredentialUnavailable, UpstreamFailure) as failure:
            result, detail = probe_result.of_failure(failure), str(failure)
        except GatewayError:
            return
        if result != HEALTHY:
            self._record.set_number(_RESULT, result)
        now = self._clock()
        was_failing = self.failing_until > now
        if self._law is None:
            self._law = ProbeLaw(self.config, was_failing or None)
        failing = self._law.record(result == HEALTHY)
        self.count += 1
        if failing:
            hold = max(_LATE * self.config.every, _MIN_HOLD)
            self._record.set_number(_FAILING_UNTIL, now + hold + self.config.timeout)
        elif was_failing:
            self._record.set_number(_FAILING_UNTIL, now)  # the slow start begins now
        name = self.name
        if failing and not was_failing:
            log.warning("upstream %s fails its health check: %s", name, detail or self.reason)
        elif was_failing and not failing:
            log.warning("upstream %s is healthy again", name)

    def _ask(self) -> int:
        """Request the page. Returns the result of the probe (see `probe_result`)."""
        config, upstream = self.config, self._upstream
        path, _, query = config.path.partition("?")
        headers = [("accept-encoding", "identity"), ("user-agent", USER_AGENT)]
        request = UpstreamRequest("GET", upstream.client.host, path, query, headers, None)
        start = self._clock()
        if not config.anonymous and (credential := upstream.credentials.first) is not None:
            credential.apply(request, config.timeout)
        timeout = config.timeout - (self._clock() - start)
        response = self._client.send(
            "GET", request.target, request.headers, None, max(timeout, _MIN_WAIT)
        )
        try:
            if response.status in config.status:
                return probe_result.of_body(response)
            read_body(response, MAX_ERROR)  # so that the connection can be reused
            return response.status
        finally:
            response.close()


class Prober:
    """Runs the probes for which this worker is the leader on its machine."""

    def __init__(
        self,
        probes: Sequence[ServerProbe],
        machine: MachineState,
        clock: Callable[[], float] = time.monotonic,
        dice: Callable[[], float] = random.random,
    ) -> None:
        self._machine = machine
        self._clock = clock
        self._dice = dice
        self._running = Pool()
        self._due: dict[ServerProbe, float] = {}
        for probe in probes:
            self.add(probe)

    def add(self, probe: ServerProbe) -> None:
        """Schedule a probe, the first run within a second."""
        self._due[probe] = self._clock() + self._dice() * min(probe.config.every, _MAX_WAIT)

    def remove(self, probe: ServerProbe) -> None:
        """Stop scheduling a probe."""
        del self._due[probe]

    def step(self, _: float = 0.0) -> float:
        """Start the probes that are due. Returns the seconds until the next call."""
        now = self._clock()
        for probe, due in self._due.items():
            if due <= now:
                self._due[probe] = now + probe.config.every
                if self._machine.leads(probe.task):
                    self._running.spawn(probe.run)
        wait = min(self._due.values(), default=now + _MAX_WAIT) - now
        return min(_MAX_WAIT, max(_MIN_WAIT, wait))

    def stop(self) -> None:
        """Kill the running probes."""
        self._running.kill()
