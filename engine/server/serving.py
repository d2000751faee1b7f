"""Builds the application of one worker, with its logs, metrics and health."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from engine.app.build import build
from engine.app.services.telemetry import telemetry_of
from engine.app.services.worker_services import services_of
from engine.callers.revocation import RemovedTokens
from engine.edge.falcon_application import Application
from engine.exchange.large_request_turns import Turns
from engine.plan.plan import Plan
from engine.process.channel import Channel
from engine.process.gc_pause import no_collection
from engine.process.gc_when_idle import IdleCollection
from engine.telemetry.health import ConfigStatus
from engine.telemetry.log import LOGGERS
from engine.telemetry.metrics.storage.folder import folder_of


def metrics_folder(plan: Plan, master: int) -> Path | None:
    """The folder of the metrics shared by the workers of a master, given by its pid; None without
    metrics. Raises OSError."""
    return folder_of(master) if plan.config.telemetry.metrics else None


def serving(
    plan: Plan,
    folder: Path | None,
    status: ConfigStatus,
    loggers: Sequence[str] = LOGGERS,
    ended: RemovedTokens = dict,
    *,
    is_heavy: bool = False,
    recorder: Channel | None = None,
) -> Application:
    """The application of one worker, made in its process, after the fork. Raises CannotConnect.

    `status` describes the config that is served; `loggers` are the names of loggers to configure;
    `ended` returns the tokens that a later config has removed; `is_heavy`: the worker serves
    requests with large bodies only. `recorder` is the channel to the recorder; None: this process
    does its work.
    """
    with no_collection(keep=True):  # later collections skip these objects as well
        telemetry = telemetry_of(plan.config, folder, loggers, status=status, is_heavy=is_heavy)
        services = services_of(plan, telemetry, ended, recorder)
        if is_heavy:
            services = replace(services, turns=Turns(plan.config.server.heavy_queue))
        collection = IdleCollection()
        services.closing.append(collection.stop)
        app = build(plan, services)
    collection.start()
    return app
