"""The plan that is served, and how the next one takes its place: planned first, all or nothing.

The master plans. What it says of that stands in a file in the deployment's folder, for
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

from engine import rundir
from engine.connect import CannotConnect, prepare
from engine.memory import give_back
from engine.plan import Plan, Planned
from engine.problem import render
from engine.server import Gunicorn, taken
from engine.serving import serving

log = logging.getLogger("modelway")

_FILE, _LOCK = "config.json", "master"
_MOST_SHOWN = 5


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

    `make` plans anew. `seen` is what the files look like from outside, by path.
    """

    def __init__(self, first: Planned, make: Callable[[], Planned], folder: Path) -> None:
        assert first.plan is not None
        self.plan: Plan = first.plan
        self._make = make
        self._folder = folder
        self._files = dict(first.files)
        self._seen = look(self._files)
        self._changing: Mapping[Path, object] | None = None
        now = time.time()
        self.state = State(os.getpid(), first.hash, now, now)
        self._lock: int | None = None
        self._tried = first.hash
        self._next: Planned | None = None

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
            rundir.prepare(self._folder)
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
        planned = self._planned()
        if planned is not None and planned.hash == self._tried:
            return False
        self._next = planned
        return True

    def renew(self) -> bool:
        """Plan anew. Whether there is another plan to serve; if not, the log says why."""
        planned, self._next = self._next or self._planned(), None
        now = time.time()
        error = "planning failed, which is a fault of this program; its log has more"
        if planned is not None:
            self._tried = planned.hash
            self._files = dict(planned.files) | dict.fromkeys(self._files, "")
            self._seen = look(self._files)
            error = self._fault(planned)
        if error:
            self.state = State(os.getpid(), self.state.hash, self.state.loaded, now, error)
            log.error("the config was not reloaded, the last good one is served on:\n%s", error)
        elif planned is not None and planned.plan is not None:
            self.plan = planned.plan
            self._files = dict(planned.files)
            self._seen = look(self._files)
            self.state = State(os.getpid(), planned.hash, now, now)
            log.warning("config %s is served from now on", planned.hash)
        self.publish()
        del planned
        give_back()
        return not error

    def _planned(self) -> Planned | None:
        """Another plan. None for a fault of ours: it must not end the master that serves."""
        try:
            return self._make()
        except Exception:
            log.exception("planning the config failed")
            return None

    def _fault(self, planned: Planned) -> str:
        """Why a plan cannot be served, in words; "" when it can."""
        if planned.plan is None:
            errors = planned.findings.errors
            shown = [render(error, planned.texts) for error in errors[:_MOST_SHOWN]]
            more = len(errors) - len(shown)
            return "\n".join([*shown, *([f"... and {more} more errors"] if more else [])])
        listen = planned.plan.config.server.listen
        if listen != self.plan.config.server.listen and (why := taken(listen)) is not None:
            return why
        try:
            if warning := prepare(planned.plan.config):
                log.warning("%s", warning)
        except (CannotConnect, OSError) as error:
            return str(error)
        return ""


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
        )

    def renew(self) -> bool:
        good = self.plans.renew()
        self.server = self.plans.plan.config.server
        return good

    def changed(self) -> bool:
        return self.server.watch and self.plans.changed()
