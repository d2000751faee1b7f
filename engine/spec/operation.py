"""An operation of a document, compiled for validating its requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from sys import intern
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import MISSING, Exchange
from engine.source.problem import Findings, Level, Path, Source
from engine.spec import path_templates
from engine.spec.document.compact_json import dumps
from engine.spec.document.node import Node, declared_parameters, method_of
from engine.spec.document.repairs.path_keys import Address
from engine.spec.parameter_readers import compile_reader, splits_at_commas
from engine.spec.query_content import compile_query
from engine.spec.query_string import Query
from engine.spec.refusal_messages import explain
from engine.spec.request_bodies import NO_BODIES, Bodies, any_bodies, compile_bodies
from engine.spec.schema_validator import SchemaValidator
from engine.spec.schemas import Schemas
from engine.spec.security import Carrier, carriers
from engine.values.errors import GatewayError, Malformed


@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter: its place, reader and validator.

    `read_decoded` treats percent-encoded commas as separators; it is used if `read` gives no valid
    value.
    """

    name: str
    place: str
    required: bool
    read: Callable[[Any], Any]
    validator: SchemaValidator | None
    read_decoded: Callable[[Any], Any] | None = None

    def check(self, source: Any) -> Any:
        """The parameter's value, or MISSING. Raises GatewayError 400 with its name."""
        try:
            value = self.read(source)
        except Malformed as error:
            if (value := self._decoded(source)) is MISSING:
                raise GatewayError(400, "invalid_value", f"{error}", param=self.name) from error
            return value
        if value is MISSING:
            if self.required:
                raise GatewayError(
                    400,
                    "missing_required_parameter",
                    f"Missing required {self.place} parameter: '{self.name}'.",
                    param=self.name,
                )
        elif self.validator is not None and not self.validator.is_valid(value):
            if (decoded := self._decoded(source)) is not MISSING:
                return decoded
            raise explain(self.validator, value, self.name).error()
        return value

    def accepts(self, source: Any) -> bool:
        """Whether `check` accepts the source; cheaper than its explanation of a refusal."""
        try:
            value = self.read(source)
        except Malformed:
            return self._decoded(source) is not MISSING
        if value is MISSING:
            return not self.required
        is_valid = self.validator is None or self.validator.is_valid(value)
        return is_valid or self._decoded(source) is not MISSING

    def source(self, exchange: Exchange, query: Query | None) -> Query | str | None:
        """The part of a request that holds the parameter, as `read` expects it."""
        if self.place == "query":
            return query
        if self.place == "path":
            return exchange.variable(self.name)
        if self.place == "header":
            return exchange.header(environ_key(self.name))
        return exchange.header("HTTP_COOKIE") if self.place == "cookie" else exchange.query

    def _decoded(self, source: Any) -> Any:
        """The value with encoded commas as separators; MISSING if it is not valid either."""
        if self.read_decoded is None or self.validator is None:
            return MISSING
        try:
            value = self.read_decoded(source)
        except Malformed:
            return MISSING
        return value if value is not MISSING and self.validator.is_valid(value) else MISSING


@dataclass(frozen=True, slots=True)
class Operation:
    """One method and path of a document; its `id` is `spec.name`.

    `path` is the template under the document's server URL, `mounts` are the path prefixes under
    which it is served. `websocket`: the document declares the response 101. `source` and `at` are
    its place. `query` are the parameters that select this operation, `wide` names variables that
    may contain slashes. `response_headers` are the headers declared for any response, in lower
    case.
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
    wide: tuple[str, ...] = ()
    response_headers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.id[len(self.spec) + 1 :]

    def is_alternative(self, other: Operation) -> bool:
        """Whether both are operations of one document for the same method and paths: a request
        belongs to the first of them that accepts it."""
        return (
            (self.spec, self.method) == (other.spec, other.method)
            and self.mounts == other.mounts
            and path_templates.shape(self.path) == path_templates.shape(other.path)
        )


_NO_QUERY = Query.parse("")


def check_parameters(parameters: Iterable[Parameter], exchange: Exchange) -> None:
    """Read and check every declared parameter. Raises GatewayError 400."""
    query: Query | None = None
    for parameter in parameters:
        if parameter.place == "query" and query is None:
            query = Query.parse(exchange.query) if exchange.query else _NO_QUERY
        parameter.check(parameter.source(exchange, query))


def accepts_parameters(parameters: Iterable[Parameter], exchange: Exchange) -> bool:
    """Whether `check_parameters` accepts them. Raises GatewayError for what takes too long."""
    query: Query | None = None
    for parameter in parameters:
        if parameter.place == "query" and query is None:
            try:
                query = Query.parse(exchange.query)
            except Malformed:
                return False
        if not parameter.accepts(parameter.source(exchange, query)):
            return False
    return True


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
        parameters=_parameters(node, item, operation.path, schemas, findings),
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
    mounts = declaration.mounts or (_server_path(node, item, document, findings),)
    return Operation(
        id=f"{declaration.spec}.{declaration.name}",
        spec=declaration.spec,
        method=intern(method),
        path=template,
        mounts=schemas.first(mounts),
        carriers=schemas.first(carriers(node, document, findings)),
        parameters=_parameters(node, item, template, schemas, findings),
        bodies=_bodies(node.get("requestBody"), schemas, findings),
        websocket=method == "GET" and "101" in responses,
        source=library.source(library.root, at),
        at=at,
        query=declaration.address.query,
        wide=declaration.address.wide,
        response_headers=schemas.first(_response_headers(responses.values())),
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


def _path_of(server: Node) -> str:
    """The path of a server's URL, without a final slash. Raises ValueError."""
    url = server.text("url")
    for name, variable in server.get("variables").items():
        url = url.replace("{" + name + "}", variable.text("default"))
    path = urlsplit(url).path.rstrip("/")
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


def _parameters(
    node: Node, item: Node, template: str, schemas: Schemas, findings: Findings
) -> tuple[Parameter, ...]:
    """The operation's parameters, and those of its path item that it does not override."""
    parameters: dict[tuple[str, str], Parameter] = {}
    names = path_templates.variables(template)
    for declared in declared_parameters(item, node):
        name, place = intern(declared.text("name")), intern(declared.text("in"))
        if not isinstance(declared.value, dict) or not name or not place:
            continue  # of a reference without a target, which has a warning
        if place == "path" and name not in names:
            message = f"path parameter '{name}' is not in the path '{template}'; it is left out"
            findings.note(declared.source, declared.path, Level.WARNING, "MW207", message)
            continue
        if place == "header" and name.lower() in ("accept", "content-type", "authorization"):
            continue
        try:
            parameters[place, name] = schemas.once(
                ("parameter", declared.uri, dumps(declared.value)),
                partial(_parameter, declared, name, place, schemas),
            )
        except ValueError as error:
            message = f"parameter '{name}' is not validated: {error}"
            findings.note(declared.source, declared.path, Level.WARNING, "MW204", message)
    return schemas.first(tuple(parameters.values()))


def _parameter(node: Node, name: str, place: str, schemas: Schemas) -> Parameter:
    contents = list(node.get("content").items())
    media_type, schema, required = None, node.get("schema"), node.value.get("required") is True
    if contents:
        media_type, schema = contents[0][0], contents[0][1].get("schema")
    if place == "querystring":
        if not contents:
            raise ValueError("in: querystring needs 'content'")
        validator = schemas.validator(schema) if schema.value is not None else None
        return Parameter(name, place, required, compile_query(*contents[0]), validator)
    style, explode = node.text("style") or None, node.value.get("explode")
    shape, resolve = schema.value or {}, schema.follow
    compile_read = partial(
        compile_reader,
        name=name,
        location=place,
        schema=shape,
        resolve=resolve,
        style=style,
        explode=explode,
        media_type=media_type,
        allow_empty_value=node.value.get("allowEmptyValue") is True,
    )
    read = compile_read()
    splits = media_type is None and splits_at_commas(place, style, explode, shape, resolve)
    validator = schemas.validator(schema) if schema.value is not None else None
    read_decoded = compile_read(decoded=True) if splits and validator is not None else None
    return Parameter(name, place, required or place == "path", read, validator, read_decoded)
