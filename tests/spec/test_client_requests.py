"""What vendors' own clients send is accepted: by our documents, and leniently by the vendors'."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from engine.exchange.body import Body
from engine.exchange.wsgi_environ import environ_key
from engine.offline.client_requests import ClientRequest, client_requests
from engine.source.problem import Findings
from engine.spec.operation import Operation
from engine.spec.path_templates import PathMatch, PathTree
from engine.spec.request_bodies import check
from engine.spec.spec import Specification, read
from tests.support.documents import shipped
from tests.support.exchanges import new_exchange
from tests.support.paths import ROOT

HERE = ROOT
SHARED = Path(os.environ.get("MODELWAY_SHARED") or HERE.parent / "shared")
VENDORS_DOCUMENT = SHARED / "documents/openai/openapi.yaml"
RECORDINGS = sorted((SHARED / "reference/captures").glob("*.requests.txt"))
# Paths that the shipped documents do not describe.
NOT_SHIPPED = {"/audio/translations", "/tunedModels/abc:generateContent", "/files"}


class Recorded(NamedTuple):
    """A request of a recording: `>>> name`, its head, an empty line, its body."""

    name: str
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def recorded() -> Iterator[Recorded]:
    for file in RECORDINGS:
        for block in re.split(r"^>>> ", file.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            name, _, request = block.partition("\n")
            head, _, body = request.partition("\n\n")
            first, *lines = head.split("\n")
            headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines)}
            data = body.encode("latin-1")  # the recordings show bytes as latin-1
            if headers.get("content-type", "").startswith("multipart/"):
                data = data.replace(b"\n", b"\r\n")
            size = int(headers.get("content-length", "0"))
            method, target, _ = first.split(" ")
            assert len(data) >= size, name
            yield Recorded(name, method, target, headers, data[:size])


@cache
def vendors_document() -> Specification:
    findings = Findings()
    made = read("openai", VENDORS_DOCUMENT, "openapi.yaml", ("/v1",), findings)
    assert made is not None
    return made


def find(document: Specification, method: str, path: str) -> tuple[Operation, PathMatch] | None:
    tree = PathTree()
    for operation in document.operations.values():
        for mount in operation.mounts:
            tree.add(mount + operation.path, operation.method, operation)
    found = tree.find(path, method)
    return (found.value, found) if isinstance(found, PathMatch) else None


def accept(operation: Operation, request: Recorded, found: PathMatch) -> None:
    """Raises GatewayError when the operation refuses the request."""
    path, _, query = request.target.partition("?")
    environ = {environ_key(name): value for name, value in request.headers.items()}
    exchange = new_exchange(request.method, path, query, environ, variables=found.variables)
    exchange.body = Body(request.body)
    operation.check_parameters(exchange)
    rule = operation.bodies.parse(exchange)
    if rule is not None:
        check(rule, exchange.value)


VENDORS_CLIENTS = [one for one in recorded() if one.name.startswith("openai-")]
# The vendor's document has no WebSockets.
DESCRIBED = [one for one in VENDORS_CLIENTS if not one.name.endswith(("realtime GA", "ws"))]


@pytest.mark.skipif(not VENDORS_DOCUMENT.is_file(), reason="no vendor's document beside it")
@pytest.mark.parametrize("request_", DESCRIBED, ids=lambda one: one.name)
def test_the_vendors_document_takes_leniently_what_was_recorded(request_: Recorded) -> None:
    found = find(vendors_document(), request_.method, request_.target.partition("?")[0])
    assert found is not None
    operation = vendors_document().reread(found[0], lenient=True, with_names=False)
    accept(operation, request_, found[1])


@pytest.mark.parametrize("request_", list(recorded()), ids=lambda one: one.name)
def test_the_shipped_documents_take_strictly_what_was_recorded(request_: Recorded) -> None:
    path = request_.target.partition("?")[0]
    dialect = "anthropic" if "anthropic" in request_.name else "openai"
    dialect = "gemini" if "genai" in request_.name else dialect
    document, _ = shipped(dialect)
    found = find(document, request_.method, path)
    if found is None and dialect == "gemini":
        found = find(document, request_.method, "/v1beta" + path.removeprefix("/v1"))
    if found is not None:
        accept(found[0], request_, found[1])


def _by_path(document: Specification, request: ClientRequest) -> Operation | None:
    tree = PathTree()
    for operation in document.operations.values():
        tree.add(operation.path, operation.method, operation)
    found = tree.find(request.path, "POST")
    return found.value if isinstance(found, PathMatch) else None


SENT = [pytest.param(one, id=f"{one.client} {one.call}") for one in client_requests()]


@pytest.mark.parametrize("sent", SENT)
def test_the_shipped_documents_take_what_clients_send_in_both_modes(sent: ClientRequest) -> None:
    document, _ = shipped(sent.dialect)
    operation = _by_path(document, sent)
    if operation is None:
        assert sent.path in NOT_SHIPPED
        return
    assert sent.refusal(operation) is None
    assert sent.refusal(document.reread(operation, lenient=True, with_names=False)) is None


@pytest.mark.skipif(not VENDORS_DOCUMENT.is_file(), reason="no vendor's document beside it")
@pytest.mark.parametrize("sent", SENT)
def test_the_vendors_document_takes_leniently_what_clients_send(sent: ClientRequest) -> None:
    operation = _by_path(vendors_document(), sent)
    if sent.dialect == "openai" and operation is not None:
        lenient = vendors_document().reread(operation, lenient=True, with_names=False)
        assert sent.refusal(lenient) is None
