"""The plan that is served, and how the next one takes its place: tried first, all or nothing.

A child process plans and starts the config (`trial`); only then the master plans it, and new
workers take over. What it says of that stands in a file in the deployment's folder, for
`modelway reload`, for `/readyz` and for the metrics.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from engine.plan.route import Plan, PlanResult
from engine.server.listen_addresses import listen_addresses, why_unavailable
from engine.server.master import Gunicorn
from engine.server.serving import serving
from engine.server.trial import (
    SECONDS,
    Boot,
    Trial,
    try_out,
)
from engine.source.isolated import release_memory
from engine.values import runtime_dir

log = logging.getLogger("modelway")

_FILE, _LOCK = "config.json", "master"
_TRIES = 3
"""How often a config is tried whose files change while it is."""


@dataclass(frozen=True, slots=True)
class State:
    """What the master `pid` serves: the `hash` of all files of its config, `loaded` at that time,
    and the last try (`tried`), which failed if there is an `error`. Times are Unix seconds."""

    pid: int
    hash: str
    loaded: float
    tried: float
    error: str = ""


def read(folder: Path) -> State | None:
    """The state of the deployment that meets in `folder`; None when nothing serves it."""
    try:
        with (folder / _LOCK).open("rb") as lock:
            if _lock(lock.fileno()):
                return None  # nobody holds it
        return State(**orjson.loads((folder / _FILE).read_bytes()))
    except (OSError, orjson.JSONDecodeError, TypeError):
        return None


class Plans:
    """The last good plan of a config, and whether its files have changed since.

    `make` plans anew, `boot` starts a plan on trial, within `seconds` for both. Once it is
    `stopping`, a trial ends soon.
    """

    def __init__(
        self,
        first: PlanResult,
        make: Callable[[], PlanResult],
        folder: Path,
        boot: Boot,
        seconds: float = SECONDS,
    ) -> None:
        assert first.plan is not None
        self.plan: Plan = first.plan
        self._make = make
        self._boot = boot
        self._seconds = seconds
        self._folder = folder
        self._files = dict(first.files)
        self._seen = look(self._files)
        self._changing: Mapping[Path, object] | None = None
        now = time.time()
        self.state = State(os.getpid(), first.hash, now, now)
        self._lock: int | None = None
        self._tried = first.hash
        self._next: Trial | None = None
        self._before: tuple[Plan, State, dict[Path, str]] | None = None
        self.stopping = False

    def publish(self) -> None:
        """Let others know; from the master, once it serves.

        Of two masters with one config the first is known, as long as it lives. A folder that cannot
        be written costs `modelway reload`, and nothing else.
        """
        try:
            self._publish()
        except OSError as error:
            log.warning("nobody else can be told which config is served: %s", error)

    def _publish(self) -> None:
        if self._lock is None:
            runtime_dir.prepare(self._folder)
            self._lock = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not _lock(self._lock):
            log.warning("another gateway serves this config: `modelway reload` reaches that one")
            return
        draft = self._folder / f"{_FILE}.{os.getpid()}"
        draft.write_bytes(orjson.dumps(asdict(self.state)))
        draft.replace(self._folder / _FILE)

    def standing(self) -> tuple[str, float, str] | None:
        """Hash, time and error of what the master serves; asked in its workers."""
        state = read(self._folder)
        return None if state is None else (state.hash, state.loaded, state.error)

    def changed(self) -> bool:
        """Whether the files say something else than what was planned last, and have held still
        since the last look: who edits them may not be done."""
        now = look(self._files)
        still, self._changing = now == self._changing, now
        if not still or now == self._seen:
            return False
        self._seen = now
        trial = self._try(known=self._tried)
        if trial.hash and trial.hash == self._tried:
            return False
        self._next = trial
        return True

    def renew(self) -> bool:
        """Try the config as it is now. Whether there is another plan, which `confirm` or `revert`
        then settles; if not, the log says why."""
        planned, error = self._renewed()
        now = time.time()
        if planned is None or planned.plan is None:
            self._refuse(error, now)
            return False
        self._before = (self.plan, self.state, self._files)
        self.plan = planned.plan
        self._files = dict(planned.files)
        self._seen = look(self._files)
        self.state = State(os.getpid(), planned.hash, now, now)
        return True

    def confirm(self) -> None:
        """The plan that `renew` found is served."""
        self._before = None
        log.warning("config %s is served from now on", self.state.hash)
        self.publish()
        release_memory()

    def revert(self, reason: str) -> None:
        """The plan that `renew` found cannot be served: the one before is served on."""
        assert self._before is not None
        self.plan, self.state, files = self._before
        self._files = files | dict.fromkeys(self._files, "")
        self._before = None
        self._refuse(reason, time.time())

    def _refuse(self, error: str, now: float) -> None:
        self.state = State(os.getpid(), self.state.hash, self.state.loaded, now, error)
        log.error("the config was not reloaded, the last good one is served on:\n%s", error)
        self.publish()
        release_memory()

    def _renewed(self) -> tuple[PlanResult | None, str]:
        """The config as it is now, tried and then planned; or why it cannot be served."""
        for _ in range(_TRIES):
            trial, self._next = self._next or self._try(), None
            if trial.hash:
                self._tried = trial.hash
                self._files = dict(trial.files) | dict.fromkeys(self._files, "")
            self._seen = look(self._files)
            if trial.error:
                return None, trial.error
            planned = self._planned()
            if planned is not None and planned.hash == trial.hash:
                if trial.warning:
                    log.warning("%s", trial.warning)
                error = self._cannot_listen(planned)
                return (None, error) if error else (planned, "")
        return None, "its files change while they are read: reload again when they are complete"

    def _cannot_listen(self, planned: PlanResult) -> str:
        """Why another address than before cannot be listened on, or ""."""
        assert planned.plan is not None
        return why_unavailable(_addresses(planned.plan), _addresses(self.plan).values()) or ""

    def _try(self, known: str = "") -> Trial:
        return try_out(self._make, self._boot, self._seconds, known, lambda: self.stopping)

    def _planned(self) -> PlanResult | None:
        """Another plan. None for a fault of ours: it must not end the master that serves."""
        try:
            return self._make()
        except Exception:
            log.exception("planning the config failed")
            return None


def _addresses(plan: Plan) -> dict[str, str]:
    return listen_addresses(plan.config.server.listen, plan.config.telemetry.address)


def look(files: Mapping[Path, object]) -> dict[Path, object]:
    """What files look like from outside: which file it is really, its time and its size.

    The folders that they stand in are looked at as well, for files that come or go.
    """
    every = {*files, *(path.parent for path in files)}
    return {path: _look(path) for path in sorted(every)}


def _look(path: Path) -> object:
    try:
        found = path.stat()
        return os.path.realpath(path), found.st_ino, found.st_mtime_ns, found.st_size
    except OSError as error:
        return error.errno


def _lock(descriptor: int) -> bool:
    """Whether the lock is ours now, or was before."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Gateway(Gunicorn):
    """gunicorn's master over plans: workers that start are given the last good one."""

    def __init__(
        self,
        plans: Plans,
        folder: Path | None,
        ready: Callable[[], None],
        form: logging.Formatter | None = None,
    ) -> None:
        """`folder` is where the workers' metrics meet, `form` how gunicorn's log is written."""
        self.plans = plans

        def known() -> None:
            plans.publish()
            ready()

        super().__init__(
            plans.plan.config.server,
            lambda: serving(plans.plan, folder, source=plans.standing),
            known,
            form,
            plans.plan.config.telemetry.address,
        )

    def renew(self) -> bool:
        good = self.plans.renew()
        self._adopt()
        return good

    def _adopt(self) -> None:
        """Take the settings of the plan that is to be served."""
        config = self.plans.plan.config
        self.server, self.telemetry = config.server, config.telemetry.address

    def changed(self) -> bool:
        return self.server.watch and self.plans.changed()

    def interrupt(self) -> None:
        self.plans.stopping = True

    def confirm(self) -> None:
        self.plans.confirm()

    def revert(self, reason: str) -> None:
        self.plans.revert(reason)
        self._adopt()
