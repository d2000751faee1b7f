"""A parameter of an operation, compiled for reading and validating it in requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from sys import intern
from typing import Any

from msgspec import Struct

from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import MISSING, Exchange
from engine.source.problem import Findings, Level
from engine.spec.bodies.form_bodies import compile_form
from engine.spec.document import path_templates
from engine.spec.document.compact_json import dumps
from engine.spec.document.node import Node
from engine.spec.document.path_items import declared_parameters
from engine.spec.document.schema_types import Resolve, kind_of, properties_of, types_of
from engine.spec.parameters.parameter_readers import compile_reader, splits_at_commas
from engine.spec.parameters.parameter_styles import Reader, http_date_reader, parse_json
from engine.spec.parameters.query_string import Query, decode
from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.schemas.refusal_messages import explain
from engine.spec.schemas.schema_validator import SchemaValidator
from engine.values.errors import GatewayError, Malformed
from engine.values.media_types import body_kind, essence

NO_PARAMETERS = frozenset(
    {"accept", "content-type", "authorization"}
    | {"accept-encoding", "connection", "content-length", "host", "keep-alive", "te", "trailer"}
    | {"proxy-connection", "transfer-encoding", "upgrade"}
)
"""Headers that are no parameters: OpenAPI ignores the first three; HTTP clients and the gateway
write the others, each for its own connection (RFC 9110 section 7.6.1)."""

_WHERE = "the query string"


class Parameter(Struct, frozen=True):
    """A declared parameter: its location, reader and validator. `header` is the WSGI name of one in
    a header, "" for any other.

    `other_readers` are used, in this order, if `read` gives no valid value: one takes
    percent-encoded commas as separators, one reads a single value where the schema allows a list
    as well.
    """

    name: str
    location: str
    required: bool
    read: Callable[[Any], Any]
    validator: SchemaValidator | None
    other_readers: tuple[Callable[[Any], Any], ...] = ()
    header: str = ""

    def check(self, source: object) -> Any:
        """The parameter's value, or MISSING. Raises GatewayError 400 with its name."""
        try:
            value = self.read(source)
        except Malformed as error:
            if (value := self._read_otherwise(source)) is MISSING:
                raise GatewayError(400, "invalid_value", f"{error}", param=self.name) from error
            return value
        if value is MISSING and not self.required:
            return value
        if value is not MISSING and (self.validator is None or self.validator.is_valid(value)):
            return value
        if (other := self._read_otherwise(source)) is not MISSING:
            return other
        if value is MISSING or self.validator is None:
            message = f"Missing required {self.location} parameter: '{self.name}'."
            raise GatewayError(400, "missing_required_parameter", message, param=self.name)
        raise explain(self.validator, value, self.name).error()

    def accepts(self, source: object) -> bool:
        """Whether `check` accepts the source; cheaper than its explanation of a refusal."""
        try:
            value = self.read(source)
        except Malformed:
            return self._read_otherwise(source) is not MISSING
        if value is MISSING and not self.required:
            return True
        is_valid = value is not MISSING and (
            self.validator is None or self.validator.is_valid(value)
        )
        return is_valid or self._read_otherwise(source) is not MISSING

    def source(self, exchange: Exchange, query: Query | None) -> Query | str | None:
        """The part of a request that holds the parameter, as `read` expects it."""
        if self.location == "query":
            return query
        if self.location == "path":
            return exchange.variable(self.name)
        if self.location == "header":
            return exchange.header(self.header)
        return exchange.header("HTTP_COOKIE") if self.location == "cookie" else exchange.query

    def _read_otherwise(self, source: object) -> object:
        """The first valid value of the other readers; MISSING if none has one."""
        if self.validator is None:
            return MISSING
        for read in self.other_readers:
            try:
                value = read(source)
            except Malformed:
                continue
            if value is not MISSING and self.validator.is_valid(value):
                return value
        return MISSING


_NO_QUERY = Query.parse("")


def check_parameters(parameters: Iterable[Parameter], exchange: Exchange) -> None:
    """Read and check every declared parameter. Raises GatewayError 400."""
    query: Query | None = None
    for parameter in parameters:
        if parameter.location == "query" and query is None:
            query = Query.parse(exchange.query) if exchange.query else _NO_QUERY
        parameter.check(parameter.source(exchange, query))


def accepts_parameters(parameters: Iterable[Parameter], exchange: Exchange) -> bool:
    """Whether `check_parameters` accepts them. Raises GatewayError for what takes too long."""
    query: Query | None = None
    for parameter in parameters:
        if parameter.location == "query" and query is None:
            try:
                query = Query.parse(exchange.query)
            except Malformed:
                return False
        if not parameter.accepts(parameter.source(exchange, query)):
            return False
    return True


def compile_parameters(
    node: Node, item: Node, template: str, schemas: Schemas, findings: Findings
) -> tuple[Parameter, ...]:
    """The operation's parameters, and those of its path item that it does not override."""
    parameters: dict[tuple[str, str], Parameter] = {}
    names = path_templates.variables(template)
    all_declared = list(declared_parameters(item, node))
    owners = _Owners(all_declared, schemas)
    for declared in all_declared:
        name, location = intern(declared.text("name")), intern(declared.text("in"))
        if not isinstance(declared.value, dict) or not name or not location:
            continue  # of a reference without a target, which has a warning
        if location == "path" and name not in names:
            message = f"path parameter '{name}' is not in the path '{template}'; it is left out"
            findings.note(declared.source, declared.path, Level.WARNING, "MW207", message)
            continue
        if location == "header" and name.lower() in NO_PARAMETERS:
            continue
        try:
            reserved = owners.reserved(declared)
            parameters[location, name] = schemas.once(
                ("parameter", declared.uri, dumps(declared.value), reserved),
                partial(_parameter, declared, name, location, schemas, reserved),
            )
        except ValueError as error:
            message = f"parameter '{name}' is not validated: {error}"
            findings.note(declared.source, declared.path, Level.WARNING, "MW204", message)
    return schemas.first(tuple(parameters.values()))


class _Owners:
    """To which parameter of a query a name belongs that several could read: exploded objects read
    the names of their properties."""

    def __init__(self, declared: Sequence[Node], schemas: Schemas) -> None:
        in_query = [
            node for node in declared if isinstance(node.value, dict) and node.text("in") == "query"
        ]
        self._styles = {node.text("name"): node.text("style") for node in in_query}
        self._properties = {
            node.text("name"): schemas.once(
                ("properties", node.uri, dumps(node.value)), partial(_properties, node)
            )
            for node in (in_query if len(in_query) > 1 else ())
        }

    def reserved(self, node: Node) -> frozenset[str]:
        """The names that another parameter reads, and not this one."""
        name = node.text("name")
        if node.text("in") != "query" or not any(self._properties.values()):
            return frozenset()
        if self._styles[name] == "deepObject":
            others = (names for other, names in self._properties.items() if other != name)
            return frozenset({name}) if any(name in names for names in others) else frozenset()
        plain = {other for other, style in self._styles.items() if style != "deepObject"}
        return self._properties.get(name, frozenset()) & (plain - {name})


def _properties(node: Node) -> frozenset[str]:
    """The names that a parameter reads if it is an exploded object; none for any other."""
    schema = node.get("schema")
    is_exploded = (
        node.value.get("style", "form") == "form" and node.value.get("explode") is not False
    )
    if not is_exploded or not isinstance(schema.value, dict):
        return frozenset()
    is_object = kind_of(schema.value, schema.follow) == "object"
    return frozenset(properties_of(schema.value, schema.follow)) if is_object else frozenset()


def _parameter(
    node: Node, name: str, location: str, schemas: Schemas, reserved: frozenset[str]
) -> Parameter:
    contents = list(node.get("content").items())
    media_type, schema, required = None, node.get("schema"), node.value.get("required") is True
    if contents:
        media_type, schema = contents[0][0], contents[0][1].get("schema")
    if location == "querystring" and not contents:
        raise ValueError("in: querystring needs 'content'")
    validator = schemas.validator(schema) if schema.value is not None else None
    if location == "querystring":
        return Parameter(name, location, required, compile_query(*contents[0]), validator)
    style, explode = node.text("style") or None, node.value.get("explode")
    shape, resolve = schema.value or {}, schema.follow
    may_be_empty = node.value.get("allowEmptyValue") is True or (
        schemas.is_lenient and not required
    )
    compile_read = partial(
        compile_reader,
        name=name,
        location=location,
        schema=shape,
        resolve=resolve,
        style=style,
        explode=explode,
        media_type=media_type,
        allow_empty_value=may_be_empty,
        reserved=reserved,
        has_bare=name not in reserved,
    )
    read = compile_read()
    splits = media_type is None and splits_at_commas(location, style, explode, shape, resolve)
    others = [compile_read(decoded=True)] if splits else []
    if media_type is None and (single := _single_types(shape, resolve)):
        others.append(compile_read(schema={"type": single}))
    if location == "header" and schema.text("format") == "date-time":
        others.append(http_date_reader(read))
    is_required = required or location == "path"
    header = environ_key(name) if location == "header" else ""
    return Parameter(name, location, is_required, read, validator, tuple(others), header)


def _single_types(schema: object, resolve: Resolve) -> list[str]:
    """The types of single values of a schema that allows lists or objects as well."""
    types = types_of(schema, resolve)
    if "any" in types or not types & {"array", "object"}:
        return []
    return sorted(types - {"array", "object", "null"})


def compile_query(name: str, media: Node) -> Reader:
    """A function that reads a raw query string as content of this media type: a form, JSON, or else
    text. An empty one is MISSING. The reader raises Malformed."""
    schema, kind = media.get("schema"), body_kind(essence(name))
    if kind == "form":
        encoding = media.get("encoding").value or {}
        form = compile_form(schema.value or {}, encoding, schema.follow)
        return lambda query: form(query.encode("latin-1")) if query else MISSING

    def read(query: str) -> object:
        if not query:
            return MISSING
        text = decode(query, _WHERE)
        return parse_json(text, _WHERE) if kind == "json" else text

    return read
