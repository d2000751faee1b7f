"""A worker of the gateway with everything on, in this process."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path
from typing import Any

import gevent
import gevent.socket

from engine.app.services.worker_services import prepare
from engine.plan.assembly.make_plan import make_plan
from engine.process.periodic import PeriodicTask
from engine.process.runtime_dir import runtime_directory
from engine.server.gunicorn_application import GunicornApplication
from engine.server.serving import serving
from engine.server.worker import Worker
from engine.stores.ledger.journal import Journal
from engine.stores.ledger.shipper import Shipper
from engine.telemetry import batch
from engine.telemetry.health import ConfigStatus
from engine.telemetry.metrics.storage.folder import folder_of
from engine.telemetry.metrics.worker_metrics import WorkerMetrics
from engine.values.caller import digest

TOKEN = "mw-" + "a" * 64
BATCH = 25
"""Requests whose telemetry is written together, by the number instead of the clock."""
CONFIG = """
version: 1
stores: {{records: "sqlite:///var/modelway.db", counters: memory}}
specs: {{openai: {{document: openapi/openai.yaml, dialect: openai}}}}
upstreams:
  up:
    url: http://127.0.0.1:{port}/v1
    dialect: openai
    credential: {{bearer: "sk-scripted"}}
    retry: {{attempts: 2}}
    breaker: {{failures: 5, cooldown: 30s}}
models: {{gpt-4o: {{to: [{{upstream: up}}]}}}}
prices: {{"*": {{input: 2.5, output: 10, cached_input: 1.25}}}}
telemetry: {{access_log: {{path: access.log}}}}
policies:
  - rate_limit: {{requests: 100000000, per: 1m}}
routes:
  - {{operation: openai.createChatCompletion, model: $request.body#/model}}
tokens: [{{name: counted, sha256: {digest}}}]
"""
WITH_OBJECTS = CONFIG + f'objects: {{{{key: "{"0123456789abcdef" * 4}"}}}}\n'


class _Booted(Worker):
    """A worker that is ready and does not accept connections: it is handed one."""

    def run(self) -> None:
        """Ready."""


class House:
    """The gateway in `folder`, in front of the upstream on a port of this machine.

    What it does now and then by the clock of the machine, it does when it is told, or after so many
    requests: shipping the ledger's rows, and writing the lines that were gathered. Gauges are not
    sampled and targets not compared: that belongs to no request.
    """

    def __init__(self, folder: Path, port: int, config: str = CONFIG) -> None:
        documents = Path(__file__).resolve().parents[2] / "openapi"
        shutil.copytree(documents, folder / "openapi")
        file = folder / "gateway.yaml"
        file.write_text(config.format(port=port, digest=digest(TOKEN)))
        planned = make_plan(file, {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")})
        assert planned.plan is not None, planned.findings.errors[:5]
        self._folders = [runtime_directory(file), folder_of(os.getpid())]
        prepare(planned.plan.config)
        self._shippers: list[Shipper] = []
        self._journals: list[Journal] = []
        setattr(Shipper, "start", lambda shipper: self._shippers.append(shipper))  # noqa: B010
        setattr(Journal, "start", lambda journal: self._journals.append(journal))  # noqa: B010
        for background in (WorkerMetrics, PeriodicTask):
            setattr(background, "start", lambda task, **options: None)  # noqa: B010
        batch.INTERVAL, batch.MAX_ITEMS = 1e9, BATCH
        plan = planned.plan
        gunicorn = GunicornApplication(
            plan.config.server, lambda: serving(plan, self._folders[1], ConfigStatus())
        )
        self._listener = socket.create_server(("127.0.0.1", 0))
        log = gunicorn.cfg.logger_class(gunicorn.cfg)
        self._worker = _Booted(1, os.getppid(), [], gunicorn, 30, gunicorn.cfg, log)
        self._worker.init_process()

    def connect(self) -> Any:
        """A connection to the gateway."""
        ours, theirs = gevent.socket.socketpair()
        gevent.spawn(self._worker.handle, self._listener, theirs, ("127.0.0.1", 50_000))
        return ours

    def ship(self) -> None:
        """Enter what the ledger's journal holds into the database, as the recorder does."""
        for journal in self._journals:
            journal.release()
        for shipper in self._shippers:
            shipper.round()

    def shipped(self) -> int:
        """Rows of the ledger that are in the database."""
        return sum(shipper.shipped for shipper in self._shippers)

    def close(self) -> None:
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
