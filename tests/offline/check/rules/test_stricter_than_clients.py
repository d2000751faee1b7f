"""Requests of the vendors' clients are accepted by our documents, and leniently by the vendors'."""

from __future__ import annotations

from functools import cache

import pytest

from engine.exchange.environ_headers import environ_key
from engine.exchange.request_body import Body
from engine.offline.check.rules.stricter_than_clients import ClientRequest, client_requests
from engine.source.problem import Findings
from engine.spec.bodies.request_bodies import check
from engine.spec.document.path_tree import PathMatch, PathTree
from engine.spec.operation import Operation
from engine.spec.parameter import check_parameters
from engine.spec.spec import Specification, read
from tests.support.captures import RECORDINGS, SHARED, Recording, needs_recordings
from tests.support.documents import shipped
from tests.support.each import each
from tests.support.exchanges import new_exchange

VENDORS_DOCUMENT = SHARED / "documents/openai/openapi.yaml"
# Paths that the shipped documents do not describe.
NOT_SHIPPED = {"/audio/translations", "/tunedModels/abc:generateContent", "/files"}


def name_of(request: Recording | None) -> str:
    return request.name if request else "none"


needs_vendors_document = pytest.mark.skipif(
    not VENDORS_DOCUMENT.is_file(), reason="no vendor's document beside it"
)


@cache
def document(name: str) -> Specification:
    """A shipped document, or the vendor's own."""
    if name != "vendor":
        return shipped(name)[0]
    specification = read("openai", VENDORS_DOCUMENT, "openapi.yaml", ("/v1",), Findings())
    assert specification is not None
    return specification


@cache
def paths(name: str) -> PathTree:
    """The operations of a document, with and without the prefix of its server."""
    tree = PathTree()
    for operation in document(name).operations.values():
        for mount in ("", *operation.mounts):
            tree.add(mount + operation.path, operation.method, operation)
    return tree


@cache
def lenient(name: str, operation: str) -> Operation:
    specification = document(name)
    return specification.recompile(
        specification.operations[operation], lenient=True, with_names=False
    )


def accept(operation: Operation, request: Recording, match: PathMatch) -> None:
    """Raises GatewayError when the operation refuses the request."""
    path, _, query = request.target.partition("?")
    environ = {environ_key(name): value for name, value in request.headers.items()}
    exchange = new_exchange(request.method, path, query, environ, variables=match.variables)
    exchange.body = Body(request.body)
    check_parameters(operation.parameters, exchange)
    rule = operation.bodies.parse(exchange)
    if rule is not None:
        check(rule, exchange.content.value)


# The vendor's document has no WebSockets.
DESCRIBED = [
    request
    for request in RECORDINGS
    if request.name.startswith("openai-") and not request.name.endswith(("realtime GA", "ws"))
]


@needs_vendors_document
@needs_recordings
@each("request_", DESCRIBED or [None], ids=name_of)
def test_the_vendors_document_accepts_recordings_leniently(request_: Recording) -> None:
    match = paths("vendor").find(request_.target.partition("?")[0], request_.method)
    assert isinstance(match, PathMatch)
    accept(lenient("vendor", match.value.name), request_, match)


@needs_recordings
@each("request_", RECORDINGS or [None], ids=name_of)
def test_the_shipped_documents_accept_recordings_strictly(request_: Recording) -> None:
    path = request_.target.partition("?")[0]
    dialect = "anthropic" if "anthropic" in request_.name else "openai"
    dialect = "gemini" if "genai" in request_.name else dialect
    match = paths(dialect).find(path, request_.method)
    if not isinstance(match, PathMatch) and dialect == "gemini":
        match = paths(dialect).find("/v1beta" + path.removeprefix("/v1"), request_.method)
    if isinstance(match, PathMatch):
        accept(match.value, request_, match)


CLIENT_REQUESTS = [pytest.param(r, id=f"{r.client} {r.call}") for r in client_requests()]


@each("request_", CLIENT_REQUESTS)
def test_the_shipped_documents_accept_requests_of_clients_in_both_modes(
    request_: ClientRequest,
) -> None:
    match = paths(request_.dialect).find(request_.path, "POST")
    if not isinstance(match, PathMatch):
        assert request_.path in NOT_SHIPPED
        return
    assert request_.refusal(match.value) is None
    assert request_.refusal(lenient(request_.dialect, match.value.name)) is None


@needs_vendors_document
@each("request_", CLIENT_REQUESTS)
def test_the_vendors_document_accepts_requests_of_clients_leniently(
    request_: ClientRequest,
) -> None:
    match = paths("vendor").find(request_.path, "POST")
    if request_.dialect == "openai" and isinstance(match, PathMatch):
        assert request_.refusal(lenient("vendor", match.value.name)) is None
