"""Requests of an operation, each with the verdict that a gateway owes it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any
from urllib.parse import quote, urlencode

from tests.documents.document import Document, NotJudged, Part
from tests.documents.multipart import BOUNDARY, multipart
from tests.documents.parameters import header_text, path_text, query_texts, text_of
from tests.documents.values import near_misses, values

VALID, EXAMPLE, INVALID = "valid", "example", "invalid"
_MAX_VALID, _MAX_EXAMPLES, _MAX_INVALID, _MAX_WRONG = 3, 3, 8, 3
_MULTIPART = "multipart/form-data"
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"
_LOCATIONS = ("path", "query", "header", "cookie")
NOTE = re.compile(r"#| +- | +$")
"""What begins a note behind a path, which makes a key unique."""
_NO_PARAMETERS = frozenset(
    {
        *("accept", "accept-encoding", "authorization"),
        *("content-encoding", "content-length", "content-type"),
    }
)


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
    full = _without_body(path, method, item, operation, full=True)
    wrong = [] if has_alternatives else list(_wrong_parameters(plain, item, operation))
    body = operation.get("requestBody")
    content = dict(body.get("content").items())
    kinds = (_JSON, _FORM, _MULTIPART)
    name = next((n for kind in kinds for n in content if _essence(n) == kind), "")
    schema = content[name].get("schema") if name else None
    if schema is None or not isinstance(schema.value, dict):
        if body.value is not None and body.value.get("required") is True:
            plain, full, *wrong = (_with_bytes(each, content) for each in (plain, full, *wrong))
        yield plain
        if full != plain:
            yield full
        yield from wrong[:_MAX_WRONG]
        return
    accepted = list(islice(values(schema), _MAX_VALID))
    if not accepted:
        raise NotJudged("no valid body was found")
    if _essence(name) == _FORM:
        yield from _forms(plain, content[name], accepted)
        return
    if _essence(name) == _MULTIPART:
        headers = (*full.headers, ("Content-Type", f"{_MULTIPART}; boundary={BOUNDARY}"))
        for value in accepted:
            yield replace(full, headers=headers, body=multipart(document, schema, value))
        return
    typed = replace(plain, headers=(*plain.headers, ("Content-Type", _JSON)))
    for value in accepted:
        yield _with_body(typed, VALID, value)
    if full != plain:
        yield _with_body(
            replace(typed, target=full.target, headers=(*full.headers, ("Content-Type", _JSON))),
            VALID,
            accepted[0],
        )
    for each in wrong[:_MAX_WRONG]:
        yield replace(_with_body(typed, INVALID, accepted[0]), target=each.target)
    for value in islice(_examples(content[name], schema), _MAX_EXAMPLES):
        yield _with_body(typed, EXAMPLE, value)
    for value in () if has_alternatives else _refused(schema, accepted[-1], path):
        yield _with_body(typed, INVALID, value)


def _names(path: str) -> list[str]:
    return re.findall(r"\{([^{}]+)\}", path)


def _refused(schema: Part, accepted: Any, path: str) -> Iterator[Any]:
    """Values like an accepted one that the schema refuses."""
    in_path = {name for name in _names(path) if isinstance(accepted, dict) and name in accepted}
    misses = [
        miss
        for miss in near_misses(accepted)
        if not isinstance(miss, dict) or in_path <= miss.keys()  # the body may leave these out
    ]
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
        pairs += [(name, _joined(member))] if is_joined else [(name, text_of(i)) for i in items]
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


def _without_body(
    path: str, method: str, item: Part, operation: Part, *, full: bool = False
) -> Request:
    """The request line and headers, of the required parameters, or of all. Raises NotJudged for a
    required parameter without a value."""
    path, _, fixed = NOTE.split(path)[0].partition("?")
    name = f"{method.upper()} {path}"
    query, headers, cookies = [fixed] if fixed else [], list[tuple[str, str]](), list[str]()
    for parameter in _parameters(item, operation):
        location, needed = parameter.value["in"], parameter.value.get("required") is True
        if not (needed or full or location == "path"):
            continue
        try:
            value = _parameter(parameter)
            if location == "path":
                path = path.replace(
                    "{" + parameter.value["name"] + "}", path_text(parameter, value)
                )
            elif location == "query":
                query += list(query_texts(parameter, value))
            elif location == "header":
                headers.append((parameter.value["name"], header_text(parameter, value)))
            else:
                cookies += list(query_texts(parameter, value))
        except NotJudged:
            if needed or location == "path":
                raise
    if "{" in path:
        raise NotJudged("a variable that no parameter declares")
    if cookies:
        headers.append(("Cookie", "; ".join(cookies)))
    target = f"{path}?{'&'.join(query)}" if query else path
    return Request(name, VALID, method.upper(), target, tuple(headers))


def _parameters(item: Part, operation: Part) -> Iterator[Part]:
    declared = {}
    for holder in (item, operation):
        for parameter in holder.get("parameters").elements():
            declared[parameter.value.get("in"), parameter.value.get("name")] = parameter
    tokens = set(_tokens(operation))
    for (location, name), parameter in declared.items():
        if (location, str(name).lower()) in tokens:
            continue
        is_own = location != "header" or str(name).lower() not in _NO_PARAMETERS
        if location in _LOCATIONS and isinstance(name, str) and is_own:
            yield parameter


def _tokens(operation: Part) -> Iterator[tuple[str, str]]:
    """Locations and names of the parameters in which callers send tokens: no upstream gets them."""
    root = operation.document.root
    own = operation.get("security")
    schemes = dict(root.get("components").get("securitySchemes").items())
    schemes |= dict(root.get("securityDefinitions").items())
    for requirement in (own if own.value is not None else root.get("security")).elements():
        for name in dict(requirement.items()):
            scheme = schemes[name].value if name in schemes else None
            if isinstance(scheme, dict) and scheme.get("type") == "apiKey":
                yield str(scheme.get("in")), str(scheme.get("name")).lower()


def _parameter(parameter: Part) -> Any:
    """A value of a parameter. Raises NotJudged without one."""
    content = dict(parameter.get("content").items())
    schema = next((media.get("schema") for media in content.values()), parameter.get("schema"))
    value = next(values(schema), None) if isinstance(schema.value, dict) else None
    if value in (None, "", [], {}):
        raise NotJudged(f"no value of the parameter {parameter.value.get('name')}")
    return value


def _wrong_parameters(request: Request, item: Part, operation: Part) -> Iterator[Request]:
    """The request with a word in place of a number or truth value of its query or path."""
    for parameter in _parameters(item, operation):
        schema = parameter.get("schema").value
        kind = schema.get("type") if isinstance(schema, dict) else None
        if kind not in ("integer", "number", "boolean") or "enum" in schema:
            continue
        location, name = parameter.value["in"], quote(parameter.value["name"], safe="")
        if location == "query" and parameter.value.get("style") in (None, "form"):
            rest, _, query = request.target.partition("?")
            pairs = [each for each in query.split("&") if each.partition("=")[0] != name]
            target = f"{rest}?{'&'.join([*filter(None, pairs), f'{name}=wrong'])}"
            yield replace(request, verdict=INVALID, target=target)


def _joined(value: Any) -> str:
    return ",".join(map(text_of, value)) if isinstance(value, list) else text_of(value)
