"""Calls of the operations of a config that describe, download and upload files, from inside, as the
caller of a request. So rights, limits, credentials, marks, and the rows of the ledger (`via: copy`)
are those of the caller's own requests.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import Any

import orjson
from msgspec import Struct

from engine.dialects.interface.files import FileFacts, FileFormat, FileUpload, Pairs
from engine.edge.inside_call import InsideCalls, InternalResponse, respond
from engine.exchange.caller_connection import InternalCaller, InternalConnection
from engine.exchange.exchange import MISSING, Exchange
from engine.exchange.internal_request import Request, environ_of
from engine.exchange.opened_ids import Holder
from engine.exchange.request_body import Body
from engine.objects.file_copies import FILE
from engine.objects.id_opener import holder_name
from engine.objects.id_places import IdPlace
from engine.plan.plan import Plan
from engine.plan.route import Route
from engine.spec.bodies.form_writers import File, write_multipart
from engine.spec.document import path_templates
from engine.spec.request_writer import RequestValues
from engine.values.errors import AbortConnection, GatewayError
from engine.values.trees import member_at

_MAX_ANSWER = 1_000_000
"""Bytes of an answer that is read as JSON."""
_UNSAFE = re.compile(r'["\\%\x00-\x1f\x7f]')
"""Characters of file names that parsers read differently."""
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", re.ASCII)
_VERSION = "v1beta"
"""The value of a variable of a path that names the version of an API."""


class CannotCopy(Exception):
    """A file cannot be copied; `str` says why, for the caller."""


class _Source(InternalConnection):
    """The connection of a request whose body is on disk."""

    def __init__(self, pieces: Iterator[bytes], caller: InternalCaller) -> None:
        super().__init__(b"", caller)
        self._pieces, self._rest = pieces, b""

    def buffered_body(self) -> bytes | None:
        return None

    def read(self, size: int, /) -> bytes:
        while len(self._rest) < size and (piece := next(self._pieces, b"")):
            self._rest += piece
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


class _Call(Struct, frozen=True):
    """A call of an operation: its body are these `pieces` of `size` bytes."""

    method: str
    target: str
    headers: Pairs = ()
    pieces: Sequence[bytes | Body] = ()

    @property
    def size(self) -> int:
        return sum(p.size if isinstance(p, Body) else len(p) for p in self.pieces)

    def chunks(self) -> Iterator[bytes]:
        return chain.from_iterable(p.chunks() if isinstance(p, Body) else (p,) for p in self.pieces)


class FileCalls:
    """Calls the operations of a plan that have a part in copying files."""

    def __init__(self, plan: Plan, inside: InsideCalls) -> None:
        self._plan, self._inside = plan, inside

    def describe(self, exchange: Exchange, sealed: str, holder: Holder) -> FileFacts:
        """What its vendor says of a file. Raises CannotCopy and GatewayError."""
        route = self._route(holder, "describe")
        response = self._ask(exchange, route, self._call_for(route, sealed))
        return _format(route).facts(_json(response))

    def content(
        self, exchange: Exchange, sealed: str, holder: Holder, limit: int
    ) -> Iterator[bytes]:
        """The pieces of a file. Raises CannotCopy, also for more than `limit` bytes, and
        GatewayError."""
        route = self._route(holder, "content")
        response = self._ask(exchange, route, self._call_for(route, sealed))
        with closing(response):
            _check(response)
            yield from _bounded(response, limit)

    def upload(self, exchange: Exchange, facts: FileFacts, body: Body, to: Holder) -> str:
        """Upload a file. Returns its sealed id. Raises CannotCopy and GatewayError."""
        route = self._route(to, "upload")
        form = _format(route)
        first = form.upload(facts)
        headers = (*form.headers, *first.headers)
        request = self._call_for(route, "")
        if first.part:
            pieces, media_type = _form(first, facts, body)
        else:
            pieces, media_type = [orjson.dumps(first.body)], "application/json"
        call = _Call(
            request.method, request.target, (*headers, ("content-type", media_type)), pieces
        )
        response = self._ask(exchange, route, call, to)
        if form.address:
            address = dict(response.headers).get(form.address, "")
            _json(response)
            path = "/" + address.partition("://")[2].partition("/")[2]
            octets = ("content-type", facts.media_type)
            call = _Call("POST", path, (*form.headers, *form.piece, octets), [body])
            response = self._ask(exchange, self._route(to, "bytes"), call)
        vendor_id = member_at(_json(response), form.id)
        if not isinstance(vendor_id, str):
            raise CannotCopy("the upload was answered without an id.")
        return vendor_id

    def lifetime(self, holder: Holder) -> float | None:
        """For how many seconds a vendor keeps files, None for ever. Raises CannotCopy if no route
        uploads any."""
        return _format(self._route(holder, "upload")).lifetime

    def _route(self, holder: Holder, part: str) -> Route:
        """The route to a holder that has a part in copying. Raises CannotCopy."""
        for route in self._plan.routes:
            is_part = route.objects is not None and route.objects.copy == part
            if is_part and any(to.upstream == holder.upstream for to in route.to):
                return route
        verb = "uploads files to" if part in ("upload", "bytes") else "downloads files from"
        raise CannotCopy(f"no route of this gateway {verb} {holder_name(holder)}.")

    def _call_for(self, route: Route, sealed: str) -> _Call:
        """The call of an operation for a file."""
        operation = route.operation
        values = dict.fromkeys(path_templates.variables(operation.path), _VERSION)
        place = _file_place(route)
        if place is not None:
            values[place.steps[0]] = sealed.removeprefix(place.prefix)
        form = _format(route)
        query = form.query if _has_content(route) else {}
        writer = self._plan.specifications[operation.spec].writer(operation, route.slash_variables)
        body = MISSING if place is not None else b"{}"  # the body of an upload is written later
        request = writer.write(RequestValues(values, query, body=body))
        return _Call(request.method, request.target, form.headers)

    def _ask(
        self, exchange: Exchange, route: Route, call: _Call, to: Holder | None = None
    ) -> InternalResponse:
        """The response to a call as the caller of an exchange. Raises CannotCopy if the connection
        breaks."""
        caller = InternalCaller(
            *(exchange.caller, exchange.token, exchange.connection.fileno()),
            is_copy=True,
            holder=to,
        )
        headers = [*call.headers, ("host", exchange.header("HTTP_HOST") or "localhost")]
        if call.pieces:
            headers.append(("content-length", str(call.size)))
        address = exchange.environ.get("REMOTE_ADDR", "")
        environ = environ_of(Request(call.method, call.target, headers, address=address))
        assert self._inside.app is not None
        try:
            return respond(self._inside.app, environ, _Source(call.chunks(), caller))
        except AbortConnection as error:
            raise CannotCopy(f"{route.operation.id} broke off.") from error


def _file_place(route: Route) -> IdPlace | None:
    """The variable of a path that names a file."""
    names = () if route.objects is None else route.objects.names
    return next((p for p in names if p.kind == FILE and p.location == "path"), None)


def _has_content(route: Route) -> bool:
    return route.objects is not None and route.objects.copy == "content"


def _format(route: Route) -> FileFormat:
    """The files of a route's dialect. Raises CannotCopy."""
    form = route.dialects[-1].files
    if form is None:
        raise CannotCopy(f"{route.operation.id} is of no API whose files can be copied.")
    return form


def _form(upload: FileUpload, facts: FileFacts, body: Body) -> tuple[list[bytes | Body], str]:
    """The pieces of a form with a file, and its Content-Type. Raises CannotCopy."""
    mark = secrets.token_hex(16).encode()  # in the place of the content
    is_type = _MEDIA_TYPE.fullmatch(facts.media_type)
    media_type = facts.media_type if is_type else "application/octet-stream"
    file = File(mark, _UNSAFE.sub("_", facts.name), media_type)
    try:
        text, media_type = write_multipart({**upload.fields, upload.part: file}, None)
    except ValueError as error:
        raise CannotCopy(f"{error}.") from error
    head, _, end = text.partition(mark)
    return [head, body, end], media_type


def _check(response: InternalResponse) -> None:
    """Raises CannotCopy with the reason of a refusal, GatewayError for a failure."""
    if response.status < 400:
        return
    with closing(response):
        text = b"".join(_bounded(response, _MAX_ANSWER))
    try:
        value = orjson.loads(text)
        message = str(value["error"]["message"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        message = f"status {response.status}."
    if response.status >= 500 or response.status == 429:
        raise GatewayError(response.status, "file_not_copied", f"A file was not copied: {message}")
    raise CannotCopy(message)


def _json(response: InternalResponse) -> dict[str, Any]:
    """The JSON object of a response. Raises CannotCopy and GatewayError."""
    _check(response)
    with closing(response):
        text = b"".join(_bounded(response, _MAX_ANSWER))
    try:
        value = orjson.loads(text or b"{}")
    except orjson.JSONDecodeError as error:
        raise CannotCopy("an answer about it is not JSON.") from error
    return value if isinstance(value, dict) else {}


def _bounded(response: InternalResponse, limit: int) -> Iterator[bytes]:
    """The pieces of a body. Raises CannotCopy for more than `limit` bytes, and if it breaks off."""
    size = 0
    try:
        for piece in response:
            size += len(piece)
            if size > limit:
                raise CannotCopy(f"it has more than {limit} bytes.")
            yield piece
    except AbortConnection as error:
        raise CannotCopy("its content broke off.") from error
