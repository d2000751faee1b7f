"""Requests of an operation, each with the verdict that a gateway owes it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from tests.documents.document import Document, NotJudged, Part
from tests.documents.values import near_misses, values

VALID, EXAMPLE, INVALID = "valid", "example", "invalid"
_MAX_VALID, _MAX_EXAMPLES, _MAX_INVALID = 3, 3, 8
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
_NO_PARAMETERS = frozenset({"accept", "content-type", "authorization"})


@dataclass(frozen=True)
class Request:
    """`verdict` is VALID, EXAMPLE (valid, from the document) or INVALID."""

    operation: str
    verdict: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


def requests(
    document: Document,
    path: str,
    method: str,
    item: Part,
    operation: Part,
    *,
    has_alternatives: bool,
) -> Iterator[Request]:
    """Requests of an operation, without invalid ones for one with alternatives: another operation
    may take them. A query in the path is that of the request. Raises NotJudged for an operation of
    which none can be generated."""
    plain = _without_body(path, method, item, operation)
    body = operation.get("requestBody")
    content = dict(body.get("content").items())
    name = next((n for kind in (_JSON, _FORM) for n in content if _essence(n) == kind), "")
    schema = content[name].get("schema") if name else None
    if schema is None or not isinstance(schema.value, dict):
        if body.value is not None and body.value.get("required") is True:
            yield _with_bytes(plain, content)
        else:
            yield plain
        return
    accepted = list(islice(values(schema), _MAX_VALID))
    if not accepted:
        raise NotJudged("no valid body was found")
    if _essence(name) == _FORM:
        yield from _forms(plain, content[name], accepted)
        return
    typed = replace(plain, headers=(*plain.headers, ("Content-Type", _JSON)))
    for value in accepted:
        yield _with_body(typed, VALID, value)
    for value in islice(_examples(content[name], schema), _MAX_EXAMPLES):
        yield _with_body(typed, EXAMPLE, value)
    for value in () if has_alternatives else _refused(schema, accepted[-1]):
        yield _with_body(typed, INVALID, value)


def _refused(schema: Part, accepted: Any) -> Iterator[Any]:
    """Values like an accepted one that the schema refuses."""
    misses = list(near_misses(accepted))
    step = max(len(misses) // (4 * _MAX_INVALID), 1)
    return islice((value for value in misses[::step] if _refuses(schema, value)), _MAX_INVALID)


def _refuses(schema: Part, value: Any) -> bool:
    """Whether the schema refuses a value; not if the judge fails at it."""
    try:
        return not schema.accepts(value)
    except NotJudged:
        return False


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip()


def _with_bytes(plain: Request, content: dict[str, Part]) -> Request:
    """A body of a media type of which nothing is described, or that is a text. Raises NotJudged for
    other media types."""
    for name, media in content.items():
        schema = media.get("schema").value
        is_open = not isinstance(schema, dict) or schema.get("type") == "string"
        if is_open and not _essence(name).startswith("multipart/"):
            kind = "application/octet-stream" if "*" in name else name
            headers = (*plain.headers, ("Content-Type", kind))
            body = b"true" if kind.endswith("json") else b"bytes"
            return replace(plain, headers=headers, body=body)
    raise NotJudged("a body of another media type")


def _forms(plain: Request, media: Part, accepted: Sequence[Any]) -> Iterator[Request]:
    """Valid forms, and one without a member that is required."""
    required = media.get("schema").value.get("required")
    typed = replace(plain, headers=(*plain.headers, ("Content-Type", _FORM)))
    for value in accepted:
        yield replace(typed, body=_form(value, media))
    for name in required if isinstance(required, list) else ():
        rest = {key: member for key, member in accepted[0].items() if key != name}
        if rest and not media.get("schema").accepts(rest):  # no body at all may be valid
            yield replace(typed, verdict=INVALID, body=_form(rest, media))
            return


def _form(value: Any, media: Part) -> bytes:
    """A form of texts and lists of texts. Raises NotJudged for one with anything else."""
    pairs: list[tuple[str, str]] = []
    for name, member in value.items() if isinstance(value, dict) else ():
        items = member if isinstance(member, list) else [member]
        if member is None or any(isinstance(item, dict | list) for item in items):
            raise NotJudged("a form with objects")
        is_joined = media.get("encoding").get(name).get("explode").value is False
        pairs += [(name, _joined(member))] if is_joined else [(name, _text(i)) for i in items]
    return urlencode(pairs).encode()


def _with_body(request: Request, verdict: str, value: Any) -> Request:
    """The spaces show whether the bytes arrive as they were sent."""
    body = json.dumps(value, separators=(" ,", ":  "), ensure_ascii=False).encode()
    return replace(request, verdict=verdict, body=body)


def _examples(media: Part, schema: Part) -> Iterator[Any]:
    """The document's own examples of a body that match its schema."""
    examples = [media.value.get("example"), schema.value.get("example")]
    examples += [each.value.get("value") for _, each in media.get("examples").items()]
    for example in examples:
        if example is not None and schema.accepts(example):
            yield example


def _without_body(path: str, method: str, item: Part, operation: Part) -> Request:
    path, _, fixed = path.partition("#")[0].partition("?")
    query = parse_qsl(fixed, keep_blank_values=True)
    headers: list[tuple[str, str]] = []
    declared = {}
    for holder in (item, operation):
        for parameter in holder.get("parameters").elements():
            declared[parameter.value.get("in"), parameter.value.get("name")] = parameter
    for (place, name), parameter in declared.items():
        if parameter.value.get("required") is not True:
            continue
        if place == "header" and name.lower() in _NO_PARAMETERS:
            continue
        value = _parameter(parameter)
        if place == "path":
            path = path.replace("{" + name + "}", quote(_joined(value), safe=""))
        elif place == "query":
            is_list = isinstance(value, list) and parameter.value.get("explode") is not False
            query += (
                [(name, _text(each)) for each in value] if is_list else [(name, _joined(value))]
            )
        elif place == "header":
            headers.append((name, _joined(value)))
        else:
            raise NotJudged("a required cookie")
    if "{" in path:
        raise NotJudged("a variable that no parameter declares")
    target = f"{path}?{urlencode(query, quote_via=quote)}" if query else path
    return Request(f"{method.upper()} {path}", VALID, method.upper(), target, tuple(headers))


def _parameter(parameter: Part) -> Any:
    schema = parameter.get("schema")
    value = next(values(schema), None) if isinstance(schema.value, dict) else None
    if value is None or value == "" or isinstance(value, dict):
        raise NotJudged(f"parameter {parameter.value.get('name')} as an object or with content")
    return value


def _joined(value: Any) -> str:
    return ",".join(map(_text, value)) if isinstance(value, list) else _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
