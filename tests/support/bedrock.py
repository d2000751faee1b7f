"""Amazon Bedrock's runtime as the vendor describes it: botocore's model of the service.

It judges requests, as a server would, and reads scripted answers, as the vendor's SDK does.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from urllib.parse import quote

from botocore.eventstream import EventStream
from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel, Shape
from botocore.parsers import EventStreamJSONParser, create_parser
from botocore.serialize import create_serializer
from botocore.validate import ParamValidator

CONVERSE, STREAM = "Converse", "ConverseStream"


@cache
def service() -> ServiceModel:
    return ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"))


def operation(name: str) -> OperationModel:
    return service().operation_model(name)


def problems(model: str, body: bytes, *, stream: bool = False) -> list[str]:
    """The violations of the vendor's model in the body of a request."""
    document = json.loads(body)
    shape = operation(STREAM if stream else CONVERSE).input_shape
    params = {"modelId": model, **_with_bytes(document, shape)}
    report = ParamValidator().validate(params, shape)
    lines = [report.generate_report()] if report.has_errors() else []
    return [*lines, *_violations(params, shape, "")]


def serialized(model: str, body: bytes, *, stream: bool = False) -> tuple[str, Any]:
    """The path and the JSON that the vendor's SDK sends for the same request."""
    model_operation = operation(STREAM if stream else CONVERSE)
    params = {"modelId": model, **_with_bytes(json.loads(body), model_operation.input_shape)}
    request = create_serializer("rest-json").serialize_to_request(params, model_operation)
    return request["url_path"], json.loads(request["body"])


def parsed(body: bytes) -> Any:
    """An answer in one piece, as the vendor's SDK reads it."""
    response = {"status_code": 200, "headers": {}, "body": body}
    return create_parser("rest-json").parse(response, operation(CONVERSE).output_shape)


class _Raw:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def stream(self) -> Iterator[bytes]:
        yield self._data


def parsed_stream(data: bytes) -> list[Any]:
    """The events of a stream, as the vendor's SDK reads them."""
    shape = operation(STREAM).output_shape.members["stream"]
    return list(EventStream(_Raw(data), shape, EventStreamJSONParser(), STREAM))


def path(model: str, *, stream: bool = False) -> str:
    """The path of a request."""
    return f"/model/{quote(model, safe='')}/{'converse-stream' if stream else 'converse'}"


def _with_bytes(value: Any, shape: Shape) -> Any:
    """A JSON value with the bytes of its blobs."""
    if shape.type_name == "blob":
        return base64.b64decode(value, validate=True)
    if shape.type_name == "structure" and not shape.is_document_type:
        members = shape.members
        return {
            name: _with_bytes(each, members[name]) if name in members else each
            for name, each in value.items()
        }
    if shape.type_name == "list":
        return [_with_bytes(each, shape.member) for each in value]
    return value


def _violations(value: Any, shape: Shape, place: str) -> Iterator[str]:
    """Violations that botocore does not check: enums, patterns, lengths and unions."""
    metadata: Mapping[str, Any] = shape.metadata
    if shape.type_name == "structure" and not shape.is_document_type:
        if getattr(shape, "is_tagged_union", False) and len(value) != 1:
            yield f"{place}: one member of {sorted(value)}"
        for name, each in value.items():
            if name in shape.members:
                yield from _violations(each, shape.members[name], f"{place}.{name}")
    elif shape.type_name == "list":
        for at, each in enumerate(value):
            yield from _violations(each, shape.member, f"{place}[{at}]")
    elif shape.type_name == "string":
        words = metadata.get("enum")
        if words and value not in words:
            yield f"{place}: {value} is none of {words}"
        if (pattern := metadata.get("pattern")) and not re.fullmatch(pattern, value):
            yield f"{place}: {value!r} is not {pattern}"
        if len(value) > metadata.get("max", len(value)):
            yield f"{place}: {value!r} is too long"
    elif shape.type_name in ("integer", "float") and value > metadata.get("max", value):
        yield f"{place}: {value} is too large"
