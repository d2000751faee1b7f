"""What gunicorn imports: `gunicorn -k gevent engine.wsgi:app`, config named by MODELWAY_CONFIG."""

from __future__ import annotations

import atexit
import os
import shlex
import signal
import sys
import time
from types import FrameType

import gevent
from gevent import monkey
from gunicorn.errors import AppImportError

from engine.app.services.worker_services import prepare
from engine.config.config_files import ConfigFiles
from engine.edge.falcon_application import Application
from engine.plan.assembly.make_plan import make_plan
from engine.plan.plan import CannotConnect
from engine.process.file_descriptors import raise_limit
from engine.process.gc_pause import release_memory
from engine.process.runtime_dir import use_for_temporary_files
from engine.server.gunicorn_connection import WSGIAdapter
from engine.server.serving import metrics_folder, serving
from engine.server.shutdown import deadlines, master_listens
from engine.server.worker import Worker
from engine.source.problem import render
from engine.telemetry.health import ConfigStatus
from engine.values.units import format_count

_APP_LOAD_ERROR = 4
"""The exit status by which gunicorn knows a worker that cannot load its application."""
_PATCHED = ("socket", "threading", "time")
"""Modules that gevent has patched in each worker that runs on it."""


def load() -> Application | WSGIAdapter:
    """The application of the config in MODELWAY_CONFIG (default: ./gateway.yaml), where overlays
    follow the base: gateway.yaml:prod.yaml.

    A config with errors is printed with all of them, and nothing is served.
    """
    if not _is_worker():
        os.register_at_fork(after_in_child=_refuse)
    _refuse_other_workers()
    config = ConfigFiles.parse(os.environ.get("MODELWAY_CONFIG", "gateway.yaml"))
    planned = make_plan(config.main, os.environ, overlays=config.overlays)
    if planned.plan is None:
        errors = planned.findings.errors
        sys.stderr.write("\n".join(render(error, planned.texts) for error in errors) + "\n")
        raise AppImportError(
            f"{format_count(len(errors), 'error')} in the config; nothing is served"
        )
    plan, files_hash = planned.plan.served(), planned.hash
    del planned  # its texts and the routes of its config
    release_memory()
    try:
        if warning := prepare(plan.config):
            sys.stderr.write(f"modelway: {warning}\n")
        use_for_temporary_files()
        # The workers of one gunicorn share a folder that is named by its pid.
        folder = metrics_folder(plan, os.getppid())
        status = ConfigStatus(files_hash, time.time())
        application = serving(plan, folder, status, ["modelway"])
    except OSError as error:
        raise AppImportError(f"modelway: {error}") from error
    except CannotConnect as error:
        raise AppImportError(str(error)) from error
    raise_limit(plan.config.server.connections)
    if Worker.serves_this_process:
        return application
    atexit.register(application.close)
    _end_requests_on_sigterm(application, plan.config.server.grace)
    return WSGIAdapter(application)


def _end_requests_on_sigterm(application: Application, grace: float) -> None:
    """Put a handler before that of gunicorn's own worker, which would accept no more connections at
    once, and let requests go on until the master kills it. The master's grace period is known only
    to gunicorn: `grace` is that of the config, in seconds. The gateway's worker does this itself.
    """
    server_handler = signal.getsignal(signal.SIGTERM)
    if not callable(server_handler):
        return
    seconds, stopping = deadlines(grace), False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopping
        if stopping:
            return
        stopping = True
        has_successor = master_listens()
        application.leaving(has_successor)
        delay = 0.0 if has_successor else application.delay
        gevent.spawn_later(delay, server_handler, number, frame)  # which ends accepting
        gevent.spawn_later(delay + seconds.interrupt, application.interrupt)
        gevent.spawn_later(delay + seconds.cut, application.interrupt)  # the second call cuts

    signal.signal(signal.SIGTERM, stop)


def _refuse() -> None:
    """Refuse `--preload`: journal, counters and connections belong to one worker."""
    os.write(2, b"modelway: each worker loads this for itself: leave out gunicorn's --preload\n")
    os._exit(_APP_LOAD_ERROR)


def _is_worker() -> bool:
    """Whether this is a worker of gunicorn, which has child processes of its own: workers handle
    this signal; a master that preloads does not yet."""
    return signal.getsignal(signal.SIGUSR1) != signal.SIG_DFL


def _refuse_other_workers() -> None:
    """Refuse gunicorn's workers without gevent: a stream would block all other requests of its
    worker. Raises AppImportError."""
    if (
        "gunicorn.arbiter" in sys.modules
        and _is_worker()
        and not all(map(monkey.is_module_patched, _PATCHED))
    ):
        line = shlex.join(["gunicorn", *sys.argv[1:], "-k", "gevent"])
        raise AppImportError(
            "modelway: this worker of gunicorn does not run on gevent, so one stream would block "
            f"all other requests. Write:\n  {line}"
        )


app = load()
