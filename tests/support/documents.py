"""OpenAPI documents made in a test, and requests to their operations without a server."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from engine.exchange.exchange import Exchange
from engine.exchange.request_body import Body
from engine.source.files import DOCUMENTS
from engine.source.problem import Findings, Problem
from engine.source.reader import SourceDocument
from engine.spec import spec as documents
from engine.spec.bodies.request_bodies import check
from engine.spec.document.node import Library, Node
from engine.spec.load import repair
from engine.spec.operation import Operation
from engine.spec.schemas.compiled_schemas import Schemas
from engine.spec.spec import Specification
from engine.values.errors import GatewayError
from tests.support import yaml_text
from tests.support.exchanges import new_exchange

RESPONSES: dict[str, Any] = {"200": {"description": "d"}}
HERE = Path("/nowhere/document.json")
"""The path of documents that are not written to disk."""


def document(*, version: str = "3.1.0", paths: Any = None, **more: Any) -> dict[str, Any]:
    """A minimal OpenAPI document."""
    return {"openapi": version, "info": {"title": "T", "version": "1"}, "paths": paths or {}} | more


def get(name: str = "x", **more: Any) -> dict[str, Any]:
    """An operation of a document."""
    return {"operationId": name, "responses": RESPONSES, **more}


def doubling(leaf: dict[str, Any], **depths: int) -> dict[str, Any]:
    """Schemas `NAME0` to `NAMEn` by name, of which each refers to the next twice."""
    schemas: dict[str, Any] = {f"{name}{depth}": leaf for name, depth in depths.items()}
    for name, depth in depths.items():
        for n in range(depth):
            reference = {"$ref": f"#/components/schemas/{name}{n + 1}"}
            schemas[f"{name}{n}"] = {"anyOf": [reference, reference]}
    return schemas


def library(value: dict[str, Any]) -> Library:
    """The library of a document that refers to no other file, without a file."""
    new_library = Library(HERE)
    new_library.files[HERE] = SourceDocument("document.json", "", value)
    return new_library


def validator(schema: Any, *, version: str = "3.1.0", **components: Any) -> Any:
    """The compiled validator of one schema, with others beside it under components."""
    schemas = {"Root": schema, **components}
    files = library(document(version=version, components={"schemas": schemas}))
    node: Node = files.document.get("components").get("schemas").step("Root")
    return Schemas(files).validator(node)


def repaired(schema: Any, *, version: str = "3.1.0", **schemas: Any) -> tuple[Any, list[str]]:
    """A schema after the repairs of its document, and the codes of the warnings."""
    files = library(document(version=version, components={"schemas": {"Root": schema, **schemas}}))
    findings = Findings()
    repair(files, findings)
    root = files.document.value["components"]["schemas"]["Root"]
    return root, [problem.code for problem in findings.problems]


def read(
    folder: Path, text: Any, *, mounts: tuple[str, ...] = (), file: str = "api.yaml"
) -> tuple[Specification | None, list[Problem]]:
    """Write a document (text, or a value that is dumped) into a folder and read it."""
    path = folder / file
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    findings = Findings()
    return documents.read("api", path, file, mounts, findings), findings.problems


def causes(problems: list[Problem]) -> list[Problem]:
    """The problems without MW209, which only names an operation that another problem removes."""
    return [problem for problem in problems if problem.code != "MW209"]


def warning_codes(folder: Path, text: Any) -> list[str]:
    """The codes of the problems of a document, without those that only name an operation."""
    return [problem.code for problem in causes(read(folder, text)[1])]


def operations(folder: Path, text: Any, **more: Any) -> dict[str, Operation]:
    """The operations of a document that has no problems, but for files written as in 3.0 and bodies
    under a media range."""
    specification, problems = read(folder, text, **more)
    assert specification is not None, problems
    assert [problem for problem in problems if problem.code not in ("MW225", "MW241")] == []
    return dict(specification.operations)


@cache
def shipped(name: str) -> tuple[Specification, list[Problem]]:
    """One of the shipped documents."""
    findings = Findings()
    path = DOCUMENTS / f"{name}.yaml"
    specification = documents.read(name, path, f"openapi/{name}.yaml", (), findings)
    assert specification is not None, findings.problems
    return specification, findings.problems


def exchange(
    body: Any = b"",
    media_type: str = "application/json",
    *,
    method: str = "POST",
    path: str = "/x",
    query: str = "",
    headers: dict[str, str] | None = None,
    variables: dict[str, tuple[int, int]] | None = None,
) -> Exchange:
    """A request whose body has been received; anything but bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    environ = {"CONTENT_TYPE": media_type} if media_type else {}
    for name, value in (headers or {}).items():
        environ["HTTP_" + name.upper().replace("-", "_")] = value
    return new_exchange(method, path, query, environ, "req-1", variables=variables, body=Body(data))


def ask(to: Operation, body: Any = b"", media_type: str = "application/json") -> Any:
    """Parse and check a body as the validate stage does; the value it was read as."""
    request = exchange(body, media_type)
    rule = to.bodies.parse(request)
    if rule is not None:
        check(rule, request.content.value)
    return request.content.value


def json_body(schema: Any) -> dict[str, Any]:
    """A request body that a schema describes."""
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def read_with_schema(
    folder: Path, schema: Any, *, version: str = "3.1.0", **schemas: Any
) -> tuple[Specification, list[str]]:
    """A document whose operation takes what a schema accepts, and its problems."""
    paths = {"/x": {"post": get(requestBody=json_body(schema))}}
    text = document(version=version, paths=paths, components={"schemas": schemas})
    specification, problems = read(folder, text)
    assert specification is not None
    return specification, [str(problem) for problem in problems]


def accepts(specification: Specification, value: Any) -> bool:
    """Whether the operation of such a document takes a value."""
    try:
        ask(specification.operations["x"], value)
    except GatewayError:
        return False
    return True


def form_data(fields: list[list[str]], boundary: str = "xyz") -> tuple[bytes, str]:
    """A multipart body of `[name, content]` or `[name, content, filename, type]`, and its type."""
    pieces = []
    for name, content, *file in fields:
        head = f'Content-Disposition: form-data; name="{name}"'
        if file:
            head += f'; filename="{file[0]}"\r\nContent-Type: {file[1]}'
        pieces.append(f"--{boundary}\r\n{head}\r\n\r\n{content}\r\n")
    body = "".join(pieces) + f"--{boundary}--\r\n"
    return body.encode(), f"multipart/form-data; boundary={boundary}"


def raw_document(name: str) -> dict[str, Any]:
    """A shipped document as PyYAML reads it."""
    value = yaml_text.load((DOCUMENTS / f"{name}.yaml").read_text())
    assert isinstance(value, dict)
    return value
