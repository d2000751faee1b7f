"""Compares what both readers say of the parameters of a request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote

from engine.exchange.environ_headers import header_name
from engine.exchange.exchange import Exchange
from engine.offline.second_opinion.modelway_reader import read_parameter
from engine.offline.second_opinion.verdict import Disagreement, Verdict, disagreement
from engine.spec.document.node import Node
from engine.spec.document.path_items import declared_parameters
from engine.spec.operation import Operation
from engine.spec.parameter import Parameter
from engine.spec.parameters.parameter_readers import cookies
from engine.spec.parameters.query_string import Query
from engine.spec.spec import Specification
from engine.values.errors import Malformed

if TYPE_CHECKING:
    from engine.offline.second_opinion.openapi_core_reader import OpenapiCoreReader


def compare_parameters(
    operation: Operation,
    specification: Specification,
    exchange: Exchange,
    reader: OpenapiCoreReader,
) -> Iterator[Disagreement]:
    try:
        query = Query.parse(exchange.query)
        pairs = query.items()
    except Malformed:
        return
    values = {name: exchange.variable(name) for name in exchange.variables}
    core_verdicts = reader.parameters(
        operation,
        path={name: unquote(value) for name, value in values.items()},
        query=pairs,
        headers=_headers(exchange),
        cookies=[(n, unquote(v)) for n, v in cookies(exchange.header("HTTP_COOKIE"))],
    )
    schemas = _parameter_schemas(operation, specification)
    for parameter in operation.parameters:
        key = parameter.location, parameter.name
        verdict = core_verdicts.get(key, Verdict())
        if verdict is not None and _is_compared(parameter, query, exchange):
            modelway = read_parameter(parameter, schemas[key], parameter.source(exchange, query))
            subject = f"{parameter.location} parameter '{parameter.name}'"
            if (difference := disagreement(subject, modelway, verdict)) is not None:
                yield difference


def _is_compared(parameter: Parameter, query: Query, exchange: Exchange) -> bool:
    """Whether the text of a parameter contains nothing of `NOT_READ`."""
    if parameter.other_readers and "%2c" in f"{exchange.path}?{query.raw}".lower():
        return False
    if parameter.location != "query":
        return True
    return query.values(parameter.name) != [""] and not query.nested(parameter.name)


def _headers(exchange: Exchange) -> list[tuple[str, str]]:
    return [
        (header_name(key), str(value))
        for key, value in exchange.environ.items()
        if key.startswith("HTTP_")
    ]


def _parameter_schemas(
    operation: Operation, specification: Specification
) -> dict[tuple[str, str], Node]:
    node = specification.node(operation)
    item = specification.library.document.get("paths").get(str(operation.at[1]))
    return {
        (parameter.text("in"), parameter.text("name")): parameter.get("schema")
        for parameter in declared_parameters(item, node)
    }
