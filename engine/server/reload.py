"""Reloading: replaces the served plan, completely or not at all.

A child process plans and starts the new config (`trial`); then the master plans it, and new workers
take over. The state is published (`master_state`).

Theory of operation. SIGHUP, or files that changed and are stable, lead from *served* through these
states, of which `Plans` has the plan and `master.py` the workers and sockets:

    trying      `renew`: a child plans the files and starts the plan; then the master plans them. If
                the two read different files, once more, three times in all
    booting     the new plan is in `plan`, the old one in `_previous`; new workers start beside the
                old ones, on the same sockets, and on new ones for new addresses
    served      `confirm`: every new worker has booted. Sockets and files of old addresses are
                removed, old workers end within their grace, and new ones that die are replaced
    served      `revert`: a new worker died, or took over BOOT_SECONDS, or an address or setting
                cannot be used. The new workers end, and plan, settings and sockets are the old ones

Invariants:

- Old workers accept connections until all new ones do: at no time does nobody listen.
- A worker serves the plan that it was forked with, to its end.
- A refused config changes `tried` and `error` of the state, and nothing else.
- Nobody can read that a reload succeeded before it did: within one, workers are not published.
- A signal that ends the master ends the reload; then old and new sockets are closed alike.
- A token that the new config has no more ends in old workers too (`removed_tokens`).
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from engine.app.preload import preload
from engine.callers.jwt.identity import issuer_identities, revoked_identities
from engine.edge.falcon_application import Application
from engine.plan.plan import Plan, PlanResult
from engine.process.gc_pause import no_collection, release_memory, return_memory
from engine.process.log_throttle import LogThrottle
from engine.server.config_trial import SECONDS, Boot, Trial, try_out
from engine.server.master_state import Publication, State, WorkerState, read_all
from engine.server.removed_tokens import RemovedTokens
from engine.server.serving import serving
from engine.server.serving_processes import ALONE, Role
from engine.server.sockets.listening_sockets import (
    listen_addresses,
    why_unavailable,
)
from engine.server.watched_files import WatchedFiles
from engine.telemetry.health import ConfigStatus

log = logging.getLogger("modelway")

_TRIES = 3
"""The most trials of a config whose files change during the trial."""


class Plans:
    """The last good plan of a config, and whether its files have changed since.

    `make` plans the current files and `boot` starts a plan in a trial. Setting
    `stopping` ends a trial soon.
    """

    def __init__(
        self,
        first: PlanResult,
        make: Callable[[], PlanResult],
        folder: Path,
        boot: Boot,
    ) -> None:
        assert first.plan is not None
        self.plan = first.plan.served()
        self._make = make
        self._boot = boot
        self._folder = folder
        self._files = WatchedFiles(first.files)
        now = time.time()
        self.state = State(os.getpid(), first.hash, now, now)
        self._publication = Publication(folder)
        config = self.plan.config
        self._removed_tokens = RemovedTokens(folder, config.tokens, issuer_identities(config.jwt))
        self._throttle = LogThrottle()
        self._tried_hash = first.hash
        self._next_trial: Trial | None = None
        self._previous: tuple[Plan, State, frozenset[Path]] | None = None
        self.stopping = False

    def publish(self) -> None:
        """Publish the state. Called by the master, once it serves. If the folder is not writable,
        only `modelway reload` does not work."""
        try:
            self._publication.publish(self.state)
        except OSError as error:
            self._throttle.log("the state of the served config cannot be published: %s", error)

    def report(self, workers: Sequence[WorkerState]) -> None:
        """Publish the states of the workers, if they have changed or what was published has been
        removed. Those within a reload are published with its result: until then nobody may read
        that it succeeded."""
        if self.state.workers != tuple(workers) or self._publication.is_removed:
            self.state = replace(self.state, workers=tuple(workers))
            if self._previous is None or self.stopping:
                self.publish()

    def status(self) -> tuple[str, float, str] | None:
        """Hash and load time of the config that this worker serves, and the error of the master's
        last reload. Called in a worker."""
        masters = (state for state in read_all(self._folder) if state.pid == self.state.pid)
        error = next((state.error for state in masters), self.state.error)
        return self.state.hash, self.state.loaded, error

    def changed(self) -> bool:
        """Whether the files differ from the config that was planned last, and are the same as at
        the last call: an edit may be incomplete."""
        if not self._files.changed():
            return False
        trial = self._try(current_digest=self._tried_hash)
        if trial.hash and trial.hash == self._tried_hash:
            return False
        self._next_trial = trial
        return True

    def renew(self) -> bool:
        """Try the current config. Returns whether there is a new plan, for which the caller then
        calls `confirm` or `revert`; if not, the reason is logged."""
        with no_collection(keep=True):  # new workers share the memory of the plan
            result, error = self._try_and_plan()
            if result is not None and result.plan is not None:
                preload(result.plan)
        now = time.time()
        if result is None or result.plan is None:
            self._refuse(error, now)
            return False
        self._previous = (self.plan, self.state, self._files.paths)
        self.plan = result.plan.served()
        self._files.watch(result.files)
        self.state = replace(self.state, hash=result.hash, loaded=now, tried=now, error="")
        del result  # its texts and the routes of its config
        return_memory()
        return True

    def serve(self, folder: Path | None, role: Role = ALONE) -> Application:
        """Build the application of a worker with a role, in its process, and free the memory of the
        previous plan there. Raises CannotConnect."""
        self._previous = None
        return serving(
            self.plan,
            folder,
            ConfigStatus(source=self.status),
            ended=self._removed_tokens.read,
            is_heavy=role.is_heavy,
            recorder=role.recorder,
        )

    def confirm(self) -> None:
        """The new plan is served."""
        self._previous = None
        log.warning("config %s is now served", self.state.hash)
        self.publish()
        config = self.plan.config
        self._removed_tokens.publish(
            config.tokens, revoked_identities(config.jwt), issuer_identities(config.jwt)
        )
        release_memory()

    def revert(self, reason: str) -> None:
        """The new plan cannot be served: keep the old one."""
        assert self._previous is not None
        self.plan, before, files = self._previous
        self.state = replace(before, workers=self.state.workers)
        self._files.paths |= files
        self._previous = None
        self._refuse(reason, time.time())

    def _refuse(self, error: str, now: float) -> None:
        self.state = replace(self.state, tried=now, error=error)
        log.error("the config was not reloaded; the last good one is still served:\n%s", error)
        self.publish()
        release_memory()

    def _try_and_plan(self) -> tuple[PlanResult | None, str]:
        """Try the current config, then plan it. Returns the plan, or why it cannot be served."""
        for _ in range(_TRIES):
            trial, self._next_trial = self._next_trial or self._try(), None
            if trial.hash:
                self._tried_hash = trial.hash
            self._files.watch(self._files.paths.union(trial.files))
            if trial.error:
                return None, trial.error
            result = self._make_plan()
            if result is not None and result.hash == trial.hash:
                if trial.warning:
                    log.warning("%s", trial.warning)
                error = self._cannot_listen(result)
                return (None, error) if error else (result, "")
        return None, "its files change while they are read: reload again when they are complete"

    def _cannot_listen(self, result: PlanResult) -> str:
        """Why a new address cannot be listened on, or ""."""
        assert result.plan is not None
        in_use, reuse_port = _addresses(self.plan).values(), result.plan.config.server.reuse_port
        return why_unavailable(_addresses(result.plan), in_use, reuse_port) or ""

    def _try(self, current_digest: str = "") -> Trial:
        return try_out(self._make, self._boot, SECONDS, current_digest, lambda: self.stopping)

    def _make_plan(self) -> PlanResult | None:
        """A new plan; None, with a log line, if a bug makes planning fail: the master must live."""
        try:
            return self._make()
        except Exception:
            log.exception("planning the config failed")
            return None


def _addresses(plan: Plan) -> dict[str, str]:
    return listen_addresses(plan.config.server.listen, plan.config.telemetry.address)
