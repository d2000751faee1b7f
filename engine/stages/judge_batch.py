"""The stage that judges the requests of a batch before it is sent: each as its operation would, by
the rights of the caller, the policies of its route and its schema."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Protocol
from urllib.parse import quote

import orjson

from engine.dialects.interface.files import BatchFormat
from engine.exchange.exchange import MISSING, Exchange, Handler, Response, Stage
from engine.exchange.member_protocols import Part
from engine.exchange.opened_ids import Batch, OpenedIds
from engine.exchange.request_body import Body
from engine.exchange.spooled_body import spool
from engine.objects.batches.batch_files import BatchFiles
from engine.objects.batches.batch_requests import BatchRequest, BatchWriter, VendorRequest
from engine.objects.id_places import JsonName, find
from engine.objects.sealed_ids import owner_of
from engine.process.loop_turn import pacer
from engine.spec.bodies.multipart import MultipartError, boundary_of, parse
from engine.values.errors import GatewayError
from engine.values.json_spans import JsonPath
from engine.values.media_types import essence
from engine.values.trees import value_at

log = logging.getLogger("modelway")

HEADER = "x-modelway-batch"
"""Says in a response what is wrong with requests of a batch that was accepted."""

_MODEL = "model"
"""The variable of a path that names the model of a whole batch."""


class JudgeRequest(Protocol):
    """Judges one request of the batch that an exchange brings (`app/routes/batch_judge.py`)."""

    def __call__(
        self, exchange: Exchange, request: BatchRequest, batch: Batch, /
    ) -> VendorRequest: ...


def judge_batch(
    form: BatchFormat,
    judge: JudgeRequest,
    owner: str,
    upstreams: tuple[str, ...],
    json_name: JsonName | None,
    files: BatchFiles | None = None,
    *,
    reports: bool,
) -> Stage:
    """A stage that judges the batch of a request, if it has one, and writes its requests as their
    vendor gets them. `files` judges a file that the body names. `upstreams` are those of the route;
    the batch goes to the first that has what its first request asks for. With `reports` requests
    that break the document pass, and the response and the log say so.

    Raises GatewayError 400 with the place of each request that cannot be made."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        batch = Batch(upstreams)
        arguments = batch, partial(judge, exchange), pacer(), json_name
        writer = BatchWriter(form, *arguments, reports=reports)
        if form.stored and files is not None and (path := _stored(exchange, form, json_name)):
            of_file = form._replace(name=form.stored_name)
            files.judge(exchange, path, batch, BatchWriter(of_file, *arguments, reports=reports))
            _name_vendor_model(exchange, batch)
        elif form.requests:
            _judge_body(exchange, batch, writer)
        elif (part := _batch_file(exchange, form)) is not None:
            _judge_file(exchange, part, writer)
        else:
            return following(exchange)
        opened = OpenedIds(owner_of(exchange.caller, owner), batch=batch)
        opened.holder, opened.kind = batch.holder, batch.kind
        exchange.objects = opened
        response = following(exchange)
        if batch.report_count:
            _report(exchange, response, batch)
        return response

    return stage


def refuse_pieces(form: BatchFormat) -> Stage:
    """A stage of uploads in pieces, of which no batch can be judged. Raises GatewayError 400."""

    def stage(exchange: Exchange, following: Handler) -> Response:
        value = exchange.content.value
        if isinstance(value, dict) and _is_purpose(value.get(form.purpose), form):
            message = "A batch cannot be uploaded in parts. Send it with POST to .../files."
            raise GatewayError(400, "unsupported_value", message, param=form.purpose)
        return following(exchange)

    return stage


def _judge_body(exchange: Exchange, batch: Batch, writer: BatchWriter) -> None:
    """Judge the requests in a JSON body."""
    text, value = bytes(exchange.body.buffer), exchange.content.value
    if value is MISSING:
        raise GatewayError(415, "unsupported_media_type", "Send the batch as application/json.")
    new = writer.body(text, value)
    if new is not text:
        exchange.body = Body(new)
        exchange.content = exchange.content._replace(value=orjson.loads(new))
    _name_vendor_model(exchange, batch)


def _stored(exchange: Exchange, form: BatchFormat, json_name: JsonName | None) -> JsonPath | None:
    """The path of the file that a JSON body names, None for none. Raises GatewayError 400 for one
    with requests beside it."""
    value = exchange.content.value
    paths = [] if value is MISSING else find(value, form.stored, json_name)
    paths = [path for path in paths if value_at(value, path) not in (None, "")]
    if len(paths) + len(find(value, form.requests, json_name) if paths else ()) > 1:
        message = f"A batch has either '{form.stored[-1]}' or '{form.requests[-1]}', and one of it."
        raise GatewayError(400, "invalid_value", message, param=".".join(form.stored))
    return paths[0] if paths else None


def _name_vendor_model(exchange: Exchange, batch: Batch) -> None:
    """Let the path name the vendor's model."""
    if _MODEL in exchange.variables and batch.models:
        path, variables = exchange.path, exchange.variables
        exchange.on_end.append(partial(_restore, exchange, path, variables))
        exchange.replace_variable(_MODEL, quote(next(iter(batch.models)), safe=""))


def _restore(exchange: Exchange, path: str, variables: Mapping[str, tuple[int, int]]) -> None:
    """The log has the caller's path."""
    exchange.path, exchange.variables = path, variables


def _batch_file(exchange: Exchange, form: BatchFormat) -> Part | None:
    """The file of a form that is a batch, None for any other. Raises GatewayError 400 for a form
    that two servers may read differently."""
    content_type = exchange.header("CONTENT_TYPE") or ""
    if essence(content_type) != "multipart/form-data":
        return None
    body = exchange.body.buffer
    parts = exchange.content.parts or _parts(exchange.body, content_type)
    purposes = [
        bytes(body[part.start : part.end]).decode("utf-8", "replace")
        for part in parts
        if part.name == form.purpose and part.end - part.start < 1000
    ]
    if not any(_is_purpose(purpose, form) for purpose in purposes):
        return None
    files = [part for part in parts if part.name == form.file]
    for name, values in ((form.purpose, purposes), (form.file, files)):
        if len(values) != 1:
            message = f"A batch needs exactly one '{name}'."
            raise GatewayError(400, "invalid_value", message, param=name)
    return files[0]


def _is_purpose(value: object, form: BatchFormat) -> bool:
    return isinstance(value, str) and value.strip().casefold() in form.purposes


def _judge_file(exchange: Exchange, part: Part, writer: BatchWriter) -> None:
    """Judge the lines of a file. A file on disk is written again to another one."""
    body = exchange.body
    pieces = writer.lines(body.buffer, part.start, part.end)
    if body.in_memory is not None:
        exchange.body = Body(b"".join(pieces))
    else:
        exchange.body = spool(pieces)
        exchange.on_end.append(exchange.body.close)
    parts = _parts(exchange.body, exchange.header("CONTENT_TYPE") or "")
    exchange.content = exchange.content._replace(parts=parts)


def _parts(body: Body, content_type: str) -> list[Part]:
    try:
        return [*parse(body.buffer, boundary_of(content_type))]
    except MultipartError as error:
        message = f"The request body cannot be read as multipart/form-data: {error}."
        raise GatewayError(400, "invalid_multipart", message) from error


def _report(exchange: Exchange, response: Response, batch: Batch) -> None:
    """Say in the log and in a header which requests break the document."""
    for report in batch.reports:
        log.warning("request %s: batch: %s", exchange.request_id, report)
    text = f"{batch.report_count} of {batch.size} requests break the document"
    log.warning("request %s: batch: %s", exchange.request_id, text)
    response.headers.append((HEADER, text))
