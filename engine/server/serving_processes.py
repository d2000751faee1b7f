"""The processes that serve one config (workers, heavy workers and the recorder), and the interface
between a master and the application whose workers it replaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from gunicorn.glogging import Logger
from gunicorn.sock import BaseSocket

from engine.config.server import Server
from engine.process.channel import Channel
from engine.server.boot_pipe import BootPipe
from engine.server.master_state import WorkerState
from engine.server.recorder_process import RecorderProcess, Run
from engine.server.sockets.listening_sockets import ListeningSockets


class Role(NamedTuple):
    """What a new process does. A worker accepts connections, and passes requests with a body of
    more than `above` bytes to the `channel`, if there is one. A heavy worker (`is_heavy`) serves
    those. `workers` is the number of workers, `recorder` the channel to the recorder, if the config
    needs one."""

    is_heavy: bool = False
    workers: int = 1
    channel: Channel | None = None
    above: int = 0
    recorder: Channel | None = None


ALONE = Role()
"""That of a worker without heavy workers."""


class ServingProcesses:
    """The processes that serve one config: those started after the one of the age `after` (gunicorn
    numbers them), and the `recorder`, if the config needs one."""

    def __init__(self, server: Server, after: int, recorder: RecorderProcess | None = None) -> None:
        self.server = server
        self.recorder = recorder
        self._after = after
        self._channel: Channel | None = None

    def next_role(self, living: Iterable[tuple[int, Role]], processes: int) -> Role:
        """The role of the next process, given the ages and roles of those that live, and how many
        there are to be: workers come first."""
        server = self.server
        if server.heavy_processes and self._channel is None:
            self._channel = Channel()
        heavy = self._heavy(living)
        enough = heavy.count(False) >= processes - server.heavy_processes
        is_heavy = enough and heavy.count(True) < server.heavy_processes
        recorder = self.recorder.channel if self.recorder is not None else None
        return Role(is_heavy, server.workers, self._channel, server.heavy_above, recorder)

    def lacks_heavy_workers(self, living: Iterable[tuple[int, Role]]) -> bool:
        """Whether a heavy worker has ended, and gunicorn has all the processes that it wants."""
        return self._heavy(living).count(True) < self.server.heavy_processes

    def _heavy(self, living: Iterable[tuple[int, Role]]) -> list[bool]:
        """Whether each of its processes is a heavy worker."""
        return [role.is_heavy for age, role in living if age > self._after]

    def close(self) -> None:
        """No process is started for it any more."""
        self.close_heavy_channel()
        if self.recorder is not None:
            self.recorder.channel.close()

    def close_heavy_channel(self) -> None:
        """Called in the recorder as well: heavy workers end when nobody can pass them requests."""
        if self._channel is not None:
            self._channel.close()


class ReloadableApp(Protocol):
    """The application of a gunicorn whose workers can be replaced: a `GunicornApplication`."""

    boots: BootPipe
    sockets: ListeningSockets
    server: Server
    next_role: Role

    @property
    def recorder(self) -> Run | None: ...
    @property
    def delay(self) -> float: ...
    @property
    def config(self) -> str: ...
    def report(self, workers: Sequence[WorkerState]) -> None: ...
    def listen(self, before: Sequence[BaseSocket], log: Logger) -> list[BaseSocket]: ...
    def reload(self) -> None: ...
    def renew(self) -> bool: ...
    def changed(self) -> bool: ...
    def interrupt(self) -> None: ...
    def confirm(self) -> None: ...
    def revert(self, reason: str) -> None: ...
