"""What the workers of a machine share in files of its runtime directory: the state of targets, the
queues of upstreams, the tokens of credentials, and the counters of limits.

Modules that a deployment does not use are not imported.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.app.services.plan_needs import is_bounded
from engine.app.services.telemetry import WorkerTelemetry
from engine.config.config import Config
from engine.credentials.interface.credential import Credential, LiveCredential, OpenCredential
from engine.machine.state import SharedState
from engine.plan.plan import CannotConnect, Plan
from engine.process.file_descriptors import is_exhausted
from engine.process.periodic import PeriodicTask
from engine.process.runtime_dir import NoWritableFolder, runtime_directory
from engine.values.admission import AdmissionQueues
from engine.values.machine_state import LocalState, MachineState

if TYPE_CHECKING:
    from engine.stores.counters.memory import MemoryCounters

_RELEASE_SECONDS = 1.0
"""Seconds between two checks for killed workers, whose counts are then released."""


def runtime_directory_of(config: Config) -> Path:
    """The folder that the gateways of this config on this machine share. Raises
    NoWritableFolder."""
    file = config.folder / Path(config.source.file).name
    return runtime_directory(file, config.overlays)


def machine_state(config: Config, telemetry: WorkerTelemetry) -> MachineState:
    """The state that the workers of this machine share; a rehearsal has its own."""
    if not telemetry.background:
        return LocalState()
    try:
        state = SharedState(runtime_directory_of(config) / "machine")
    except OSError as error:
        raise CannotConnect(f"the workers cannot share their state: {error}") from error

    def release(_: float) -> float:
        try:
            state.release_dead_slots()
        except OSError as error:
            if not is_exhausted(error):  # without a free descriptor, try again in a second
                raise
        return _RELEASE_SECONDS

    task = PeriodicTask(release, _RELEASE_SECONDS)
    task.start()
    telemetry.closing.insert(0, state.close)  # closed last: metrics are sampled once more
    telemetry.closing.append(lambda: task.stop(_RELEASE_SECONDS))
    return state


def admission_queues(plan: Plan, telemetry: WorkerTelemetry) -> AdmissionQueues | None:
    """The queues of upstreams with `max_in_flight`; None in a rehearsal, which must not take slots
    from requests."""
    if not telemetry.background or not is_bounded(plan):
        return None
    from engine.stores.admission.shared_queue import QueueFolder

    try:
        folder = QueueFolder(runtime_directory_of(plan.config) / "admission")
    except OSError as error:
        raise CannotConnect(f"requests in flight cannot be counted: {error}") from error
    telemetry.closing.insert(0, folder.close)  # as the state of the machine
    return folder


def memory_counters(folder: Path) -> MemoryCounters:
    """The counters in the shared memory of this machine."""
    from engine.stores.counters.memory import MemoryCounters

    try:
        return MemoryCounters(folder)
    except OSError as error:
        raise CannotConnect(f"limits cannot be counted: {error}") from error


def open_shared(config: Config) -> OpenCredential:
    """A function that opens credentials, whose tokens the workers of this machine share. If no
    folder is writable, each worker fetches its own."""
    try:
        folder: Path | None = runtime_directory_of(config)
    except NoWritableFolder:
        folder = None

    def open_credential(credential: Credential, changed: Callable[[], None]) -> LiveCredential:
        return credential.open(folder, changed)

    return open_credential
