"""openapi-core's verdicts on bodies, parameters and answers of one document.

Only this module imports openapi-core; `compare.py` imports it when it is needed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from jsonschema.exceptions import ValidationError
from jsonschema_path import SchemaPath
from msgspec import Struct
from openapi_core.datatypes import RequestParameters
from openapi_core.deserializing.styles.exceptions import EmptyQueryParameterValue
from openapi_core.templating.datatypes import TemplateResult
from openapi_core.templating.paths.datatypes import PathOperationServer
from openapi_core.validation.request.exceptions import ParameterValidationError
from openapi_core.validation.request.validators import (
    V30RequestBodyValidator,
    V30RequestParametersValidator,
    V31RequestBodyValidator,
    V31RequestParametersValidator,
    V32RequestBodyValidator,
    V32RequestParametersValidator,
)
from openapi_core.validation.response.validators import (
    V30ResponseDataValidator,
    V31ResponseDataValidator,
    V32ResponseDataValidator,
)
from werkzeug.datastructures import Headers, ImmutableMultiDict

from engine.offline.second_opinion.time_budget import TimeBudget, TimeExceeded
from engine.offline.second_opinion.verdict import NotComparable, Verdict
from engine.spec.document.node import Library, Node
from engine.spec.operation import Operation
from engine.spec.schemas.refusal_messages import place
from engine.values.trees import Json

_UNIONS = frozenset({"allOf", "anyOf", "oneOf"})


class _Kinds(NamedTuple):
    """The classes of validators for one version of OpenAPI."""

    body: type
    parameters: type
    response: type


_V30 = _Kinds(V30RequestBodyValidator, V30RequestParametersValidator, V30ResponseDataValidator)
_V31 = _Kinds(V31RequestBodyValidator, V31RequestParametersValidator, V31ResponseDataValidator)
_V32 = _Kinds(V32RequestBodyValidator, V32RequestParametersValidator, V32ResponseDataValidator)


@dataclass(slots=True)
class _Request:
    """A request as openapi-core's protocol describes it."""

    method: str
    body: bytes = b""
    content_type: str = ""
    parameters: RequestParameters = field(default_factory=RequestParameters)
    host_url: str = "http://localhost"
    path: str = "/"


@dataclass(slots=True)
class _Response:
    """A response as openapi-core's protocol describes it."""

    status_code: int
    data: bytes
    content_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


class _OperationFinder(Struct, frozen=True):
    """Returns the operation of a request, which is known, instead of searching for it."""

    item: SchemaPath
    operation: SchemaPath

    def find(self, method: str, url: str) -> PathOperationServer:
        return PathOperationServer(self.item, self.operation, None, TemplateResult(""), None)


class OpenapiCoreReader:
    """Validates values with openapi-core. The methods raise NotComparable if openapi-core fails,
    and TimeExceeded if it has used up the time of the budget."""

    def __init__(self, library: Library, budget: TimeBudget) -> None:
        self._library = library.unpacked()
        self._budget = budget
        self._kinds = _V30 if library.is_30 else _V32 if library.is_32 else _V31
        self._document = SchemaPath.from_dict(
            self._library.document.value,
            base_uri=library.root.as_uri(),
            handlers={"file": self._file},
        )

    def body(self, operation: Operation, media_type: str, body: bytes) -> Verdict:
        """The verdict on a request body; an empty body counts as none."""
        kind = self._kinds.body
        request = _Request(operation.method.lower(), body, media_type)
        with self._bounded():
            return self._verdict(list(self._validator(kind, operation).iter_errors(request)))

    def parameters(
        self,
        operation: Operation,
        *,
        path: Mapping[str, str],
        query: Sequence[tuple[str, str]],
        headers: Sequence[tuple[str, str]],
        cookies: Sequence[tuple[str, str]],
    ) -> dict[tuple[str, str], Verdict | None]:
        """Verdicts by (place, name) on decoded parameters: refusals only, None if not compared."""
        kind = self._kinds.parameters
        parameters = RequestParameters(
            path=dict(path),
            query=ImmutableMultiDict(query),
            header=Headers(list(headers)),
            cookie=ImmutableMultiDict(cookies),
        )
        request = _Request(operation.method.lower(), parameters=parameters)
        verdicts: dict[tuple[str, str], Verdict | None] = {}
        with self._bounded():
            for error in self._validator(kind, operation).iter_errors(request):
                if isinstance(error, ParameterValidationError):
                    empty = isinstance(error.__cause__, EmptyQueryParameterValue)
                    verdict = None if empty else self._verdict([error])
                    verdicts[error.location, error.name] = verdict
        return verdicts

    def response(self, operation: Operation, status: int, media_type: str, body: bytes) -> Verdict:
        """The verdict on the body of a response."""
        kind = self._kinds.response
        request = _Request(operation.method.lower())
        response = _Response(status, body, media_type)
        with self._bounded():
            errors = list(self._validator(kind, operation).iter_errors(request, response))
            return self._verdict(errors)

    @contextmanager
    def _bounded(self) -> Iterator[None]:
        """Convert any exception of openapi-core to NotComparable, and hide its warnings."""
        try:
            with warnings.catch_warnings(), self._budget.bounded():
                warnings.simplefilter("ignore")
                yield
        except TimeExceeded:
            raise
        except Exception as error:
            words = " ".join(str(error).split())
            message = f"openapi-core fails ({type(error).__name__}: {words}"[:200] + ")"
            raise NotComparable(message) from error

    def _validator(self, kind: Any, operation: Operation) -> Any:
        item = node = self._document / "paths" / str(operation.at[1])
        for step in operation.at[2:]:
            node /= str(step)
        finder = _OperationFinder(item, node)
        return kind(self._document, path_finder_cls=partial(_finder, finder))

    def _file(self, uri: str) -> object:
        """A file that the document refers to, with Modelway's repairs."""
        return self._library.files[Path(unquote(uri.removeprefix("file://")))].value

    def _verdict(self, errors: Sequence[Exception]) -> Verdict:
        if not errors:
            return Verdict()
        cause = errors[0].__cause__ or errors[0]
        broken = list(getattr(cause, "schema_errors", ()))
        if not broken:
            return Verdict(str(cause) or type(cause).__name__)
        first = broken[0]
        where = place([*first.absolute_path])
        words = f"{where}: {first.message}" if where else str(first.message)
        keywords = {word for error in broken for word in _keywords(error, self._library)}
        return Verdict(words, frozenset(keywords))


def _finder(finder: _OperationFinder, spec: SchemaPath, base_url: str | None) -> _OperationFinder:
    """Called by openapi-core to make its path finder: returns the given one."""
    return finder


def _keywords(error: ValidationError, library: Library) -> Iterator[str]:
    """The keywords that caused an error; for an error of a union also those of its alternatives."""
    if _by_discriminator(error):
        yield "discriminator"
    elif error.validator == "required":
        yield from _required(error, library)
    yield str(error.validator)
    for below in error.context or ():
        yield from _keywords(below, library)


def _by_discriminator(error: ValidationError) -> bool:
    """Whether a discriminator chose the schema that refuses: no index follows the union."""
    if error.validator in _UNIONS:
        return isinstance(error.schema, dict) and "discriminator" in error.schema
    steps = list(error.schema_path)
    return any(step in _UNIONS and isinstance(after, str) for step, after in pairwise(steps))


def _required(error: ValidationError, library: Library) -> Iterator[str]:
    """`readOnly` or `writeOnly`, if a missing property has the keyword."""
    if not isinstance(error.schema, dict) or not isinstance(error.instance, dict):
        return
    properties = error.schema.get("properties", {})
    for name in error.schema.get("required", ()):
        if name not in error.instance and isinstance(properties.get(name), dict):
            schema = _resolved(properties[name], library)
            yield from (word for word in ("readOnly", "writeOnly") if schema.get(word) is True)


def _resolved(schema: Json, library: Library) -> Json:
    """A property's schema, with the keywords of the schema behind its `$ref`."""
    try:
        value = Node(library, library.root, (), schema).resolved().value
    except KeyError:  # a reference from another file, which only openapi-core resolves here
        return schema
    return {**value, **schema} if isinstance(value, dict) else schema
