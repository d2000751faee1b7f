"""An operation of a document, compiled for validating its requests."""

from __future__ import annotations

from collections.abc import Iterable
from sys import intern
from typing import NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from engine.source.problem import Findings, Level, Path, Source
from engine.spec.bodies.compile_bodies import compile_bodies
from engine.spec.bodies.request_bodies import NO_BODIES, Bodies, any_bodies
from engine.spec.document import path_templates
from engine.spec.document.node import Node
from engine.spec.document.path_items import method_of
from engine.spec.document.path_keys import Address
from engine.spec.parameter import Parameter, compile_parameters
from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.security import Carrier, carriers

CLIENT_SECRETS = "x-modelway-client-secrets"
"""The fact of a document: client secrets that the gateway has issued open this WebSocket."""

FIRST_MESSAGE = "x-modelway-first-message"
"""The fact of a WebSocket whose first message is what its request body describes."""

FROM_ROOT = "x-modelway-from-root"
"""The fact of an operation whose path is that from the root of the server, the caller's and the
upstream's alike, beside the paths below the document's server URL: `/upload/v1beta/files`."""


class Operation(Struct, frozen=True):
    """One method and path of a document; its `id` is `spec.name`.

    `path` is the template under the document's server URL, `mounts` are the path prefixes under
    which it is served, "/" alone for the path from the root (`FROM_ROOT`). `websocket`: the
    document declares the response 101. `source` and `at` are its place. `query` are the parameters
    that select this operation, `slash_variables` names variables that may contain slashes.
    `response_headers` are the headers declared for any response, in lower case. `client_secrets`:
    the document says CLIENT_SECRETS. `first_message`: the first message of the WebSocket is the
    body of the request, as FIRST_MESSAGE says. `is_http`: it serves requests without an upgrade; a
    WebSocket does if it declares a response 2xx beside 101.
    """

    id: str
    spec: str
    method: str
    path: str
    mounts: tuple[str, ...]
    carriers: tuple[Carrier, ...]
    parameters: tuple[Parameter, ...]
    bodies: Bodies
    websocket: bool
    source: Source
    at: Path
    query: tuple[tuple[str, str], ...] = ()
    slash_variables: tuple[str, ...] = ()
    response_headers: tuple[str, ...] = ()
    client_secrets: bool = False
    first_message: bool = False
    is_http: bool = True

    @property
    def name(self) -> str:
        return self.id[len(self.spec) + 1 :]

    @property
    def templates(self) -> list[tuple[str, str]]:
        """Each full path template with its mount prefix."""
        return [(mount.rstrip("/") + self.path, mount) for mount in self.mounts]

    def is_alternative(self, other: Operation) -> bool:
        """Whether both are operations of one document for the same method and paths: a request
        belongs to the first of them that accepts it."""
        return (
            (self.spec, self.method) == (other.spec, other.method)
            and self.mounts == other.mounts
            and path_templates.shape(self.path) == path_templates.shape(other.path)
        )


class Declaration(NamedTuple):
    """An operation before it is compiled: its names, its path below `paths`, its address."""

    spec: str
    name: str
    at: tuple[str, ...]
    address: Address
    mounts: tuple[str, ...]


def recompile(
    operation: Operation,
    node: Node,
    item: Node,
    schemas: Schemas,
    *,
    with_names: bool,
    with_read_only: bool,
) -> Operation:
    """The operation with its requests compiled with other schemas. `with_names`: keep the names of
    the bodies' members, `with_read_only`: those of their read-only members.
    """
    findings = Findings()  # its warnings are those of the first compilation
    return replace(
        operation,
        parameters=compile_parameters(node, item, operation.path, schemas, findings),
        bodies=_bodies(
            *(node.get("requestBody"), schemas, findings),
            with_names=with_names,
            with_read_only=with_read_only,
        ),
    )


def compile_operation(
    declaration: Declaration, item: Node, node: Node, schemas: Schemas, findings: Findings
) -> Operation:
    """Compile the operation at `node` of the path item `item`. If errors go to the findings, it
    must not be served."""
    library, method = item.library, method_of(declaration.at[1:])
    document = library.document
    template = declaration.address.template
    responses = dict(node.get("responses").items())
    at = ("paths", *declaration.at)
    if node.get(FROM_ROOT).value is True:
        mounts: tuple[str, ...] = ("/",)
    else:
        mounts = declaration.mounts or (_server_path(node, item, document, findings),)
    websocket = method == "GET" and "101" in responses
    first_message = websocket and node.get(FIRST_MESSAGE).value is True
    has_content = any(status.startswith("2") for status in responses)
    return Operation(
        id=f"{declaration.spec}.{declaration.name}",
        spec=declaration.spec,
        method=intern(method),
        path=template,
        mounts=schemas.first(mounts),
        carriers=schemas.first(carriers(node, document, findings)),
        parameters=compile_parameters(node, item, template, schemas, findings),
        bodies=_bodies(node.get("requestBody"), schemas, findings),
        websocket=websocket,
        source=library.source(library.root, at),
        at=at,
        query=declaration.address.query,
        slash_variables=declaration.address.slash_variables,
        response_headers=schemas.first(_response_headers(responses.values())),
        client_secrets=websocket and node.get(CLIENT_SECRETS).value is True,
        first_message=first_message,
        is_http=not websocket or (has_content and not first_message),
    )


def _response_headers(responses: Iterable[Node]) -> tuple[str, ...]:
    """The names of the headers that any of the operation's responses declares."""
    names = [name.lower() for response in responses for name, _ in response.get("headers").items()]
    return tuple(dict.fromkeys(names))


def _server_path(node: Node, item: Node, document: Node, findings: Findings) -> str:
    """The path of the operation's first server URL that can be read, without a final slash."""
    for holder in (node, item, document):
        unreadable: list[tuple[Node, str]] = []
        for server in holder.get("servers").elements():
            try:
                path = _path_of(server)
            except ValueError as error:
                unreadable.append((server, f"this server's URL cannot be read: {error}"))
                continue
            for other, message in unreadable:
                findings.note(other.source, other.path, Level.WARNING, "MW208", message)
            return path
        if unreadable:
            server, message = unreadable[0]
            findings.error(server.source, server.path, "MW208", message)
            return ""
    return ""


def server_url(server: Node) -> str:
    """The URL of a server, with the defaults of its variables."""
    url = server.text("url")
    for name, variable in server.get("variables").items():
        url = url.replace("{" + name + "}", variable.text("default"))
    return url


def _path_of(server: Node) -> str:
    """The path of a server's URL, without a final slash. Raises ValueError."""
    path = urlsplit(server_url(server)).path.rstrip("/")
    return path if path.startswith("/") or not path else f"/{path}"


def _bodies(
    node: Node,
    schemas: Schemas,
    findings: Findings,
    *,
    with_names: bool = False,
    with_read_only: bool = False,
) -> Bodies:
    if not isinstance(node.value, dict):
        return NO_BODIES
    try:
        return compile_bodies(node, schemas, with_names=with_names, with_read_only=with_read_only)
    except ValueError as error:
        message = f"bodies are not validated: {error}"
        findings.note(node.source, node.path, Level.WARNING, "MW204", message)
        return any_bodies(required=node.value.get("required") is True)
