"""Starts a plan as a worker does, without serving: opens its stores and plays requests.

Everything outside of the process is replaced: upstreams have canned responses, counters are zero,
ledger rows, metrics and log lines go to a temporary folder, and no background task runs.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import orjson
from msgspec import Struct
from msgspec.structs import replace

from engine.app.build import build
from engine.app.routes.internal_call import send
from engine.app.services.telemetry import telemetry_of
from engine.app.services.worker_services import prepare, services_of
from engine.config.config import Config
from engine.config.stores import SQLITE
from engine.edge.falcon_application import Application
from engine.exchange.caller_connection import InternalCaller
from engine.exchange.exchange import MISSING
from engine.exchange.internal_request import Request
from engine.mock.generated_values import invent
from engine.offline.rehearsal.observation import UpstreamAnswers
from engine.offline.rehearsal.rehearse import capture_log
from engine.offline.rehearsal.stand_ins import (
    RecordingCounters,
    UnaskedGuards,
    placeholder,
    recorder,
)
from engine.plan.plan import CannotServe, Plan
from engine.plan.route import Route
from engine.spec.document import path_templates
from engine.spec.document.node import Node
from engine.spec.document.path_items import example_value
from engine.spec.request_writer import RequestValues
from engine.stores.ledger.journal import Journal, JournalError
from engine.upstream.targets.connect import connect
from engine.values.caller import Caller
from engine.values.media_types import is_json

_MAX_KINDS = 200
_CALLER = "a rehearsal"


class BootResult(Struct, frozen=True):
    """The result of a boot: the number of requests played, and a `warning`, or ""."""

    requests: int
    warning: str = ""


def boot(plan: Plan, folder: Path, *, migrate: bool = False) -> BootResult:
    """Start all that a worker of this plan starts, and play a request of each kind of route.

    Files are written to `folder`, which the caller removes. `migrate` also migrates the database,
    if all else succeeds. Raises CannotServe for mistakes of the operator; other exceptions are bugs
    of this program.
    """
    try:
        _open_journal(plan)
        faults: list[str] = []
        with capture_log(faults, logging.ERROR):
            result = _rehearse(plan, folder, faults)
            if faults:  # logged by callbacks after the response
                raise CannotServe(f"a request cannot be recorded: {faults[0]}")
        if migrate and (warning := prepare(plan.config)):
            return replace(result, warning=warning)
    except OSError as error:
        raise CannotServe(str(error)) from error
    return result


def _open_journal(plan: Plan) -> None:
    """Check that the ledger's journal can be written. Folders made for it are removed."""
    if plan.config.stores.records is None:
        return
    journal = plan.config.stores.journal
    missing = [folder for folder in (journal, *journal.parents) if not os.path.exists(folder)]
    try:
        Journal(journal)
    except JournalError as error:
        raise CannotServe(str(error)) from error
    finally:
        with contextlib.suppress(OSError):  # a folder was not made, or another process uses it
            for folder in missing:
                folder.rmdir()


def _rehearse(plan: Plan, folder: Path, faults: Sequence[str]) -> BootResult:
    """Play one request of each kind, request each page, and check the stores. Pages show a route of
    each kind: to merge the operations of all is a half of a trial."""
    plan = replace(plan, config=_redirected(plan, folder))
    routes = _one_of_each_kind(plan)
    telemetry = telemetry_of(plan.config, folder, (), background=False)
    opened = services_of(plan, telemetry)
    with closing(opened):
        for upstream in plan.config.upstreams.values():
            connect(upstream).client.close()  # the real client reads the TLS files
        services = replace(opened, counters=RecordingCounters([]), guard_calls=UnaskedGuards())
        app = build(
            plan,
            services,
            client=recorder([], UpstreamAnswers()),
            open_credential=placeholder,
            console_plan=replace(plan, routes=routes),
        )
        requests = [*(_request(plan, route) for route in routes), *_pages(plan)]
        for request in requests:
            _play(app, request, faults)
        checks = opened.health.checks if opened.health is not None else {}
        for check in checks.values():
            check.refresh()
        away = [f"{name}: {c.error}" for name, c in checks.items() if c.error]
    return BootResult(len(requests), f"unavailable: {'; '.join(away)}" if away else "")


def _redirected(plan: Plan, folder: Path) -> Config:
    """The config with all files in `folder`."""
    config = plan.config
    telemetry = config.telemetry
    return replace(
        config,
        stores=replace(
            config.stores,
            journal=folder / "journal",
            records=_database_redirected(config.stores.records, folder),
        ),
        telemetry=replace(telemetry, access_log=replace(telemetry.access_log, path=os.devnull)),
    )


def _database_redirected(url: str | None, folder: Path) -> str | None:
    """The URL of the database; in `folder` if opening it would create a file."""
    if url is None or not url.startswith(SQLITE):
        return url
    file = Path(url.removeprefix(SQLITE))
    existing = next(path for path in (file, *file.parents) if os.path.exists(path))
    # The migration also makes missing folders.
    if existing == file or not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        return url
    return f"{SQLITE}{folder / 'records.db'}"


def _play(app: Application, request: Request, faults: Sequence[str]) -> None:
    """Play a request. Raises CannotServe for status 500 or a logged error; others are fine."""
    response = send(app, request, InternalCaller(Caller(_CALLER)))
    response.read()
    if response.status == 500 or faults:
        reason = faults[0] if faults else "status 500"
        raise CannotServe(f"{request.method} {request.target} fails: {reason}")


def _one_of_each_kind(plan: Plan) -> list[Route]:
    """A route of each kind, the first of its kind in the order of the plan."""
    kinds: dict[tuple[object, ...], Route] = {}
    for route in plan.routes:
        kinds.setdefault(_kind(route), route)
    return list(kinds.values())[:_MAX_KINDS]


def _kind(route: Route) -> tuple[object, ...]:
    """The properties of a route that decide which code its requests run."""
    return (
        route.dialects[-1].name,
        route.answer,
        route.websocket is not None,
        route.model and route.model.location,
        bool(route.to),
        route.allows_anonymous,
        route.validate,
        route.unknown_fields,
        route.readonly,
        route.guards,
    )


def _request(plan: Plan, route: Route) -> Request:
    operation = route.operation
    model = _model(plan, route)
    media_type, body = _body(plan, route, model)
    names = path_templates.variables(operation.path)
    values = RequestValues(path=dict.fromkeys(names, model), body=body, media_type=media_type)
    wire_request = (
        plan.specifications[operation.spec].writer(operation, route.slash_variables).write(values)
    )
    return Request(
        wire_request.method, wire_request.target, wire_request.headers, wire_request.body
    )


def _model(plan: Plan, route: Route) -> str:
    """The name of a model that the route may serve."""
    dialect = route.dialects[-1].name
    for name, model in plan.config.models.items():
        if {plan.config.upstreams[target.upstream].dialect for target in model.to} & {"", dialect}:
            return name.replace("*", "x")
    return "x"


def _body(plan: Plan, route: Route, model: str) -> tuple[str, object]:
    """A media type, and a JSON body as the document describes it, with the model's name in its
    place; MISSING if it describes none."""
    node = plan.specifications[route.operation.spec].node(route.operation)
    for media_type, media in node.get("requestBody").get("content").items():
        if not is_json(media_type):
            continue
        sent_type = media_type if "*" not in media_type else "application/json"
        for value in _examples(media):
            if isinstance(value, dict) and (field := route.model) and field.location == "body":
                value = {**value, field.steps[0]: model}
            with contextlib.suppress(orjson.JSONEncodeError):  # nested deeper than JSON may be
                return sent_type, orjson.dumps(value)
    return "", MISSING


def _examples(media: Node) -> Iterator[object]:
    """The examples of the document, else a minimal value that the schema allows."""
    named_values = [example_value(example).value for _, example in media.get("examples").items()]
    values = [media.literal("example").value, *named_values]
    yield from (value for value in values if value is not None)
    yield invent(media.get("schema"))


def _pages(plan: Plan) -> Iterator[Request]:
    """Requests of the gateway's pages; a page that is switched off responds with 404."""
    config = plan.config
    for path in ("/healthz", "/readyz", config.telemetry.metrics, "/", "/docs", "/openapi.json"):
        if path:
            yield Request("GET", path)
    yield Request("GET", "/console/playground")
    yield Request("GET", "/console/models.json")
