"""Active probes: one worker of a machine asks each server for a page again and again.

The law:

    healthy    until `unhealthy` probes in a row failed; the first probe of all decides alone
    failing    until `healthy` probes in a row succeeded

A probe succeeds with one of the configured statuses and a body that ends within its timeout. While
a server fails, the shared state holds a time that each failed probe moves on; so the state ends by
itself if nobody probes any more. If the worker that probes ends, another one goes on.
"""

from __future__ import annotations

import hashlib
import logging
import random
import time
from collections.abc import Callable, Sequence

from gevent.pool import Pool

from engine.config.health import ProbeConfig
from engine.credentials.tokens.token import CredentialUnavailable
from engine.upstream.addresses.replicas import Replica
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.request import UpstreamRequest
from engine.upstream.client.response import MAX_ERROR, read_body
from engine.upstream.health import probe_result
from engine.upstream.health.probe_result import HEALTHY
from engine.upstream.request import USER_AGENT
from engine.upstream.target import Upstream
from engine.values.errors import GatewayError
from engine.values.machine_state import MachineState, SharedNumber

_LATE = 3
"""Times between two probes after which the state of a failing server ends by itself."""
_LEAST_HOLD = 2.0
"""Seconds for which that state is held at least: a loaded worker may be late with a probe."""
_LONGEST_WAIT = 1.0
_LEAST_WAIT = 0.05

log = logging.getLogger("modelway")


class ProbeLaw:
    """Whether a server is failing, by its probes. `failing` is None before the first one."""

    def __init__(self, config: ProbeConfig, failing: bool | None = None) -> None:
        self.failing = failing
        self._config = config
        self._against = 0  # probes in a row that contradict the state

    def record(self, success: bool) -> bool:
        """Record a probe. Whether the server is failing now."""
        if self.failing is None:
            self.failing = not success
        elif success is not self.failing:
            self._against = 0
        else:
            self._against += 1
            config = self._config
            if self._against >= (config.healthy if self.failing else config.unhealthy):
                self.failing, self._against = not self.failing, 0
        return self.failing


class ServerProbe:
    """The probe of the server of an upstream, or of its `replica`. `failing_until` is the shared
    number with the time until which it is failing; `task` names the probes of the upstream among
    the workers. `count` are those of this worker."""

    def __init__(
        self,
        upstream: Upstream,
        config: ProbeConfig,
        machine: MachineState,
        clock: Callable[[], float] = time.monotonic,
        replica: Replica | None = None,
    ) -> None:
        self.config = config
        # A worker of an old config that ends slowly does not keep the probes of a new one.
        settings = hashlib.sha256(repr((upstream.url, config)).encode()).hexdigest()[:16]
        self.task = f"health/{upstream.name}/{settings}"
        self.name = upstream.name if replica is None else f"{upstream.name}@{replica.address}"
        self.failing_until: SharedNumber = machine.number(f"health/{self.name}/failing")
        self._failure: SharedNumber = machine.number(f"health/{self.name}/failure")
        self.count = 0
        self._upstream = upstream
        self._client = upstream.client if replica is None else replica.client
        self._clock = clock
        self._law: ProbeLaw | None = None

    @property
    def reason(self) -> str:
        """Why the last probe that failed did, of whichever worker; "" if none has."""
        return probe_result.reason(self._failure.value)

    def run(self) -> None:
        """Probe the server once, and share the result. Where this worker is out of file
        descriptors, nothing is known of the server."""
        detail = ""
        try:
            result = self._ask()
        except (CredentialUnavailable, UpstreamFailure) as failure:
            result, detail = probe_result.of_failure(failure), str(failure)
        except GatewayError:
            return
        if result != HEALTHY:
            self._failure.value = result
        now, number = self._clock(), self.failing_until
        was_failing = number.value > now
        if self._law is None:
            self._law = ProbeLaw(self.config, was_failing or None)
        failing = self._law.record(result == HEALTHY)
        self.count += 1
        if failing:
            hold = max(_LATE * self.config.every, _LEAST_HOLD)
            number.value = now + hold + self.config.timeout
        elif was_failing:
            number.value = now  # from here on it returns slowly
        name = self.name
        if failing and not was_failing:
            log.warning("upstream %s fails its health check: %s", name, detail or self.reason)
        elif was_failing and not failing:
            log.warning("upstream %s is healthy again", name)

    def _ask(self) -> int:
        """Ask for the page. Returns the result of the probe (see `probe_result`)."""
        config, upstream = self.config, self._upstream
        path, _, query = config.path.partition("?")
        headers = [("accept-encoding", "identity"), ("user-agent", USER_AGENT)]
        request = UpstreamRequest("GET", upstream.client.host, path, query, headers, None)
        start = self._clock()
        if not config.anonymous and (credential := upstream.credentials.first) is not None:
            credential.apply(request, config.timeout)
        timeout = config.timeout - (self._clock() - start)
        response = self._client.send(
            "GET", request.target, request.headers, None, max(timeout, _LEAST_WAIT)
        )
        try:
            if response.status in config.status:
                return probe_result.of_body(response)
            read_body(response, MAX_ERROR)  # so that the connection can be used again
            return response.status
        finally:
            response.close()


class Prober:
    """Runs the probes of which this worker is the one of the machine."""

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
        """Run a probe from now on, the first time within a second."""
        self._due[probe] = self._clock() + self._dice() * min(probe.config.every, _LONGEST_WAIT)

    def remove(self, probe: ServerProbe) -> None:
        """Start a probe no more."""
        del self._due[probe]

    def step(self, _: float = 0.0) -> float:
        """Start the probes that are due. Returns the seconds until it is to be called again."""
        now = self._clock()
        for probe, due in self._due.items():
            if due <= now:
                self._due[probe] = now + probe.config.every
                if self._machine.leads(probe.task):
                    self._running.spawn(probe.run)
        wait = min(self._due.values(), default=now + _LONGEST_WAIT) - now
        return min(_LONGEST_WAIT, max(_LEAST_WAIT, wait))

    def stop(self) -> None:
        """End the probes that run."""
        self._running.kill()
