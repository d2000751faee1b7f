"""Plans and starts a config in a child process, before it is served.

A config that hangs, crashes or uses up the memory ends the child only.
"""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import gevent
from msgspec import Struct, field

from engine.plan.plan import CannotServe, Plan, PlanResult
from engine.process import runtime_dir
from engine.process.child_process import ChildFailed, describe, run
from engine.source.problem import render
from engine.values.units import format_count

SECONDS = 60.0
"""How long planning and starting a config may take."""

_MAX_SHOWN = 5
_ENDING = (signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)
"""Signals that end a process, besides SIGINT, for which Python has a handler."""

Boot = Callable[[Plan, Path], str]
"""Starts a plan without serving it, and returns a warning, or "". It may write into the folder,
which is always removed afterwards. Raises CannotServe."""


class Trial(Struct, frozen=True):
    """The result: `hash` and `files` as in PlanResult, empty if planning failed. `error` is why the
    config cannot be served, "" if it can; `warning` may be ""."""

    hash: str = ""
    files: Mapping[Path, str] = field(default_factory=dict)
    error: str = ""
    warning: str = ""


def try_out(
    make: Callable[[], PlanResult],
    boot: Boot,
    seconds: float = SECONDS,
    current_digest: str = "",
    stop: Callable[[], bool] = lambda: False,
    meanwhile: Callable[[], None] = lambda: None,
) -> Trial:
    """Plan a config with `make`, and start it with `boot` unless its hash is `current_digest`. No
    other thread may run. Ends soon after `stop` returns True. `meanwhile` is called in this
    process, beside the child."""
    try:
        with (
            _exit_on_signals(),
            TemporaryDirectory(
                prefix="modelway-boot-", dir=runtime_dir.base(), ignore_cleanup_errors=True
            ) as name,
        ):
            folder = Path(name)
            return run(
                lambda: _try_out(make, boot, current_digest, folder),
                seconds=seconds,
                stop=stop,
                meanwhile=meanwhile,
            )
    except OSError as error:
        return Trial(error=f"the config cannot be tried: {error}")
    except ChildFailed as failure:
        return Trial(error=f"trying the config in a child process {failure}")


@contextmanager
def _exit_on_signals() -> Iterator[None]:
    """Where a signal that ends a process has its default action, exit instead, so that the child
    and the folder are removed. A master has handlers."""
    is_main = threading.current_thread() is threading.main_thread()
    signals = [sig for sig in _ENDING if is_main and signal.getsignal(sig) is signal.SIG_DFL]
    for sig in signals:
        signal.signal(sig, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        for sig in signals:
            signal.signal(sig, signal.SIG_DFL)


def _try_out(
    make: Callable[[], PlanResult], boot: Boot, current_digest: str, folder: Path
) -> Trial:
    gc.disable()  # one collection over the plan would take longer than the child runs
    gevent.reinit()  # the parent's hub would wait for threads that a child does not have
    try:
        result = make()
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a bug must not end the gateway
        return Trial(error=f"planning it failed, a bug in Modelway: {describe(error)}")
    files = dict(result.files)
    if result.hash == current_digest:
        return Trial(result.hash, files)
    if result.plan is None:
        return Trial(result.hash, files, error=_problems(result))
    redact = result.plan.config.source.redact
    try:
        return Trial(result.hash, files, warning=redact(boot(result.plan, folder)))
    except CannotServe as error:
        return Trial(result.hash, files, error=redact(str(error)))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - as above
        message = f"starting it failed, a bug in Modelway: {describe(error)}"
        return Trial(result.hash, files, error=redact(message))


def _problems(result: PlanResult) -> str:
    errors = result.findings.errors
    texts = [render(error, result.texts) for error in errors[:_MAX_SHOWN]]
    omitted = len(errors) - len(texts)
    return "\n".join(
        [*texts, *([f"... and {format_count(omitted, 'more error')}"] if omitted else [])]
    )
