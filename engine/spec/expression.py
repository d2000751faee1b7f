"""Runtime expressions of OpenAPI: the location of a value in a request, to read and to replace it.

`$request.body#/model`, `$request.path.model`, `$request.query.model`, `$request.header.x-model`
(OpenAPI 3.1, "Runtime Expressions"). Replacing a value leaves every other byte unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email.errors import HeaderParseError
from email.header import decode_header
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

import orjson

from engine.exchange.environ_headers import environ_key
from engine.exchange.exchange import MISSING, Exchange
from engine.spec.bodies.multipart import boundary_of
from engine.spec.parameters.query_string import Query
from engine.values.errors import GatewayError
from engine.values.http_names import HEADER_NAME
from engine.values.json_edit import Edit
from engine.values.json_pointer import path_of, pointer
from engine.values.json_spans import Ambiguous, only_mention, quoted_name, spans

_FORMS = frozenset({"multipart/form-data", "application/x-www-form-urlencoded"})
_EXPRESSION = re.compile(
    rf"\$request\.(?:(?P<body>body)#(?P<pointer>(?:/[^/]*)+)|(?P<location>path|query)\.(?P<name>.+)"
    rf"|header\.(?P<header>{HEADER_NAME}))"
)


@dataclass(frozen=True, slots=True)
class Expression:
    """The place of a value: `location` is body, path, query or header; `steps` its JSON Pointer, or
    its name alone; `member` is set for a top-level member of the body."""

    text: str
    location: str
    steps: tuple[str, ...]
    member: str | None = None
    _readings: tuple[tuple[str, Callable[[str], str]], ...] = field(
        init=False, repr=False, compare=False
    )
    _quoted: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # A name of one word has no separator that a server might not regard.
        readings = [
            (step, str.casefold if step.isalpha() and step.islower() else lenient_member)
            for step in self.steps
        ]
        object.__setattr__(self, "_readings", tuple(readings))
        quoted = b"" if self.member is None else quoted_name(self.member)
        object.__setattr__(self, "_quoted", quoted)

    @property
    def param(self) -> str:
        """The place as in refusals."""
        return ".".join(self.steps)

    def read(self, exchange: Exchange) -> Any:
        """The value, or MISSING. Raises GatewayError 400 for a repeated query parameter."""
        node = exchange.content.value
        if self.member is not None and isinstance(node, dict):
            return node.get(self.member, MISSING)
        name = self.steps[0]
        if self.location == "path":
            return unquote(exchange.variable(name))
        if self.location == "header":
            value = exchange.header(environ_key(name))
            return MISSING if value is None else value
        if self.location == "query":
            query = Query.parse(exchange.query)
            if query.names().count(name) > 1:
                raise self._repeated_value()
            value = query.get(name)
            return MISSING if value is None else value
        if exchange.content.media_type in _FORMS:
            return MISSING  # forms have only top-level fields, see `member`
        for step in self.steps:
            if isinstance(node, list) and step.isdigit() and int(step) < len(node):
                node = node[int(step)]
            elif isinstance(node, dict) and step in node:
                node = node[step]
            else:
                return MISSING
        return node

    def check(self, exchange: Exchange) -> tuple[Any, tuple[int, int] | None]:
        """The value, or MISSING, and its span in the body, None if it has none. Raises GatewayError
        400 if it is given twice.

        Call it even if nothing is replaced: of a repeated key, the upstream may read another value
        than the one that was checked here.
        """
        media_type, body, parts = exchange.content
        member = self.member
        if member is not None and isinstance(body, dict) and media_type not in _FORMS:
            self._refuse_look_alikes(member, body, self._readings[0][1])
            return (body[member], self._span(exchange)) if member in body else (MISSING, None)
        value = self.read(exchange)
        if self.location != "body":
            if self.location == "query" and exchange.query:
                names = Query.parse(exchange.query).names()
                self._refuse_look_alikes(self.steps[0], names, lenient_name)
            return value, None
        if isinstance(body, dict):
            if media_type in _FORMS:
                self._refuse_look_alikes(self.steps[0], _form_names(exchange), lenient_name)
            else:
                self._refuse_look_alikes_of_members(body)
        if value is MISSING:
            if len(self.steps) > 1 and media_type not in _FORMS:
                self._spans(exchange)  # another parser may find the value in a repeated parent
            return value, None
        if media_type == "multipart/form-data":
            fields = [part for part in parts if part.name == self.steps[0]]
            if len(fields) > 1:
                raise self._repeated_value()
            return value, (fields[0].start, fields[0].end) if fields else None
        if media_type == "application/x-www-form-urlencoded":
            if _form_names(exchange).count(self.steps[0]) > 1:
                raise self._repeated_value()
            return value, None
        return value, self._span(exchange)

    def _span(self, exchange: Exchange) -> tuple[int, int] | None:
        """The span of the value in a JSON body."""
        body = exchange.body
        text = body.buffer
        if (at := only_mention(text, self._quoted)) is not None:
            body.only_name = self._quoted
            return at
        try:
            matches = spans(text, self.steps)
        except Ambiguous as error:
            raise self._repeated_value() from error
        return matches[0] if matches else None

    def _refuse_look_alikes_of_members(self, node: object) -> None:
        """Refuse other spellings of a step, in each object along the pointer."""
        for step, reading in self._readings:
            if isinstance(node, dict):
                self._refuse_look_alikes(step, node, reading)
                node = node.get(step)
            elif isinstance(node, list) and step.isdigit() and int(step) < len(node):
                node = node[int(step)]
            else:
                return

    def _refuse_look_alikes(
        self, step: str, names: Collection[str], normalize: Callable[[str], str]
    ) -> None:
        """Refuse a second name that some upstream reads as `step`: many ignore case and take the
        last. `normalize` gives the name as such an upstream reads it."""
        normalized_names = list(map(normalize, names))
        if normalized_names.count(normalize(step)) > (step in names):
            raise self._repeated_value()

    def repeats(
        self, exchange: Exchange, name: str, prefix: str = ""
    ) -> list[tuple[int, int, str]]:
        """The places where a JSON body repeats `name`: start, end, and the text before the name:
        `prefix` or "".

        Raises GatewayError 400 if the value at such a place is another one.
        """
        places = []
        for start, end in self._spans(exchange):
            value = orjson.loads(exchange.body.buffer[start:end])
            if not isinstance(value, str) or value not in (name, prefix + name):
                raise GatewayError(
                    400,
                    "invalid_value",
                    f"'{self.param}' must name the same model as the request: '{name[:200]}'.",
                    param=self.param,
                )
            places.append((start, end, value.removesuffix(name)))
        return places

    def _spans(self, exchange: Exchange) -> list[tuple[int, int]]:
        """The spans of the values in a JSON body. Raises GatewayError 400 if a name on the way to
        one of them is repeated, also where the last of its values leads nowhere."""
        value = exchange.content.value
        if not (isinstance(value, list) or (isinstance(value, dict) and self.steps[0] in value)):
            return []
        try:
            return spans(exchange.body.buffer, self.steps)
        except Ambiguous as error:
            raise self._repeated_value() from error

    def accepts(self, exchange: Exchange) -> bool:
        """Whether a value can be written here: a body must be an object."""
        return self.location != "body" or isinstance(exchange.content.value, dict)

    def replace(
        self,
        exchange: Exchange,
        at: tuple[int, int] | None,
        new: str,
        edits: Sequence[Edit] = (),
    ) -> None:
        """Replace the value by `new`, or add it. `at` is the span that `check` returned; `edits`
        are others of a body of JSON or of multipart, made together with this one."""
        name = self.steps[0]
        if self.location == "path":
            start, end = exchange.variables[name]
            exchange.path = exchange.path[:start] + quote(new, safe="") + exchange.path[end:]
        elif self.location == "query":
            exchange.query = Query.parse(exchange.query).replace(name, new)
        elif self.location == "header":
            exchange.environ = {**exchange.environ, environ_key(name): new}
        elif exchange.content.media_type == "application/x-www-form-urlencoded":
            changed = Query.parse(_form_text(exchange)).replace(name, new).encode("latin-1")
            exchange.body = exchange.body.with_edits((0, exchange.body.size, changed))
        else:
            _write_in_body(exchange, name, at, new, edits)

    def _repeated_value(self) -> GatewayError:
        return GatewayError(
            400,
            "invalid_value",
            f"'{self.param}' is given twice; send it once.",
            param=self.param,
        )


_SEPARATORS = str.maketrans("", "", "_-")


def lenient_member(name: str) -> str:
    """A member's name as the most lenient parsers of JSON read it: without regard to case, and to
    underscores (Protocol Buffers) and dashes."""
    return name.casefold().translate(_SEPARATORS)


def lenient_name(name: str) -> str:
    """A name as the most lenient parsers of forms and queries read it: escapes and encoded words
    (RFC 2047) decoded, brackets (`model[0]`) and text after a NUL removed, then as in JSON."""
    if "=?" in name:
        with suppress(HeaderParseError):  # then it is no encoded word
            words = decode_header(name)
            name = "".join(w if isinstance(w, str) else w.decode("latin-1") for w, _ in words)
    plain = unquote(name).replace("\\", "").partition("[")[0].partition("\0")[0]
    return lenient_member(plain.strip())


def _form_names(exchange: Exchange) -> list[str]:
    """The names of a form's fields, as sent."""
    if exchange.content.media_type == "multipart/form-data":
        return [part.name for part in exchange.content.parts]
    return Query.parse(_form_text(exchange)).names()


def _form_text(exchange: Exchange) -> str:
    """An urlencoded body as text for `Query`."""
    return bytes(exchange.body.buffer).decode("latin-1")


def _write_in_body(
    exchange: Exchange,
    name: str,
    at: tuple[int, int] | None,
    new: str,
    edits: Sequence[Edit],
) -> None:
    """Replace the value at `at`, or add the field in front if it is missing."""
    buffer = exchange.body.buffer
    if exchange.content.media_type == "multipart/form-data":
        data = new.encode()
        if at is None:
            boundary = b"--" + boundary_of(str(exchange.environ["CONTENT_TYPE"]))
            head = f'\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'.encode()
            at, data = (0, 0), boundary + head + data + b"\r\n"
    else:
        data = orjson.dumps(new)
        if at is None:
            start = buffer.find(b"{") + 1
            comma = b"," if exchange.content.value else b""
            at, data = (start, start), orjson.dumps(name) + b":" + data + comma
    exchange.body = exchange.body.with_edits((*at, data), *edits)


def of_body(steps: Iterable[str]) -> Expression:
    """The expression of a path in the body."""
    return parse(f"$request.body#{pointer(steps)}")


@lru_cache(1000)  # thousands of routes name the model in the same place
def parse(text: str) -> Expression:
    """Parse an expression. Raises ValueError with a message that lists the valid forms."""
    match = _EXPRESSION.fullmatch(text)
    if match is None:
        raise ValueError(
            f"'{text}' is not one of $request.body#/pointer, $request.path.name, "
            "$request.query.name, $request.header.name"
        )
    if match["body"]:
        steps = path_of(match["pointer"])
        member = steps[0] if len(steps) == 1 else None
        return Expression(text, "body", steps, member)
    if match["header"]:
        return Expression(text, "header", (match["header"].lower(),))
    return Expression(text, match["location"], (match["name"],))
