"""The gateway as gunicorn runs it: its workers serve the last good plan."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from engine.app.services.worker_services import run_recorder
from engine.server.gunicorn_application import GunicornApplication
from engine.server.master_state import WorkerState
from engine.server.recorder_process import Run
from engine.server.reload import Plans
from engine.server.sockets.listening_sockets import NO_SOCKETS, PassedSockets


class Gateway(GunicornApplication):
    """Runs gunicorn over `plans`: new workers get the last good plan."""

    def __init__(
        self,
        plans: Plans,
        folder: Path | None,
        ready: Callable[[], None],
        formatter: logging.Formatter | None = None,
        passed: PassedSockets = NO_SOCKETS,
    ) -> None:
        """`folder` is that of the workers' metrics, `formatter` is for gunicorn's log; `passed` are
        sockets that listen already."""
        self.plans = plans
        self._folder = folder

        def when_ready() -> None:
            plans.publish()
            ready()

        super().__init__(
            plans.plan.config.server,
            lambda: plans.serve(folder, self.next_role),
            when_ready,
            formatter,
            plans.plan.config.telemetry.address,
            passed,
        )

    def renew(self) -> bool:
        renewed = self.plans.renew()
        self._adopt()
        return renewed

    def _adopt(self) -> None:
        """Use the settings of the current plan."""
        config = self.plans.plan.config
        self.server, self.telemetry = config.server, config.telemetry.address

    @property
    def recorder(self) -> Run | None:
        config = self.plans.plan.config
        if not config.needs_recorder:
            return None
        return partial(run_recorder, config, self._folder)

    @property
    def config(self) -> str:
        return self.plans.state.hash

    def report(self, workers: Sequence[WorkerState]) -> None:
        self.plans.report(workers)

    def changed(self) -> bool:
        return self.server.watch and self.plans.changed()

    def interrupt(self) -> None:
        self.plans.stopping = True

    def confirm(self) -> None:
        self.plans.confirm()

    def revert(self, reason: str) -> None:
        self.plans.revert(reason)
        self._adopt()
