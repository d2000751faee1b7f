"""The requests of a batch: found in a file or a JSON body, judged one by one, and written again as
their vendor gets them. Large files are read line by line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import orjson

from engine.dialects.interface.files import BatchFormat
from engine.exchange.opened_ids import Batch
from engine.exchange.spooled_body import FileView
from engine.objects.id_places import JsonName, find
from engine.values.errors import GatewayError
from engine.values.json_edit import apply_edits, edits
from engine.values.json_spans import Ambiguous, Buffer, JsonPath, refuse_repeated_names
from engine.values.trees import value_at

MAX_LINE = 32_000_000
"""Bytes of a line of a batch."""
MAX_PROBLEMS = 10
"""Problems of a batch that are found before it is refused, and those that a report names."""

_CHUNK = 65_536
_MAX_BLANKS = 65_536
"""Bytes of blanks that are passed in one step."""
_FORGET = 1_000_000
"""Bytes of a file after which those before leave the memory of the process."""
_KEY = re.compile(rb'"\s*:')
_SPACE = re.compile(rb"\s+")


class BatchRequest(NamedTuple):
    """A request of a batch: the path of its operation, "" for the one that belongs to the batch,
    and its body."""

    url: str
    body: bytes


class VendorRequest(NamedTuple):
    """The same request as the vendor gets it. `fault` says how it breaks the document, None if it
    does not."""

    url: str
    body: bytes
    fault: GatewayError | None = None


Judge = Callable[[BatchRequest, Batch], VendorRequest]
"""Judges a request. Raises GatewayError for one that its caller may not make, and for one of which
the upstream of the batch has no such model or object."""


class BatchWriter:
    """Judges the requests of one batch and writes them for the vendor. With `reports` requests that
    break the document pass. `pause` is called between two requests. `is_edited` says, once all are
    written, whether the vendor gets other bytes."""

    is_edited = False

    def __init__(
        self,
        form: BatchFormat,
        batch: Batch,
        judge: Judge,
        pause: Callable[[], None],
        json_name: JsonName | None = None,
        *,
        reports: bool = False,
    ) -> None:
        self.batch = batch
        self._form, self._judge = form, judge
        self._pause, self._json_name, self._reports = pause, json_name, reports
        self._names: set[int] = set()
        self._problems: list[tuple[str, str, GatewayError]] = []

    def lines(self, buffer: Buffer, start: int, end: int) -> Iterator[bytes]:
        """The bytes of a body in which the file from `start` to `end` has the requests of the
        vendor. Raises GatewayError 400."""
        yield from _chunks(buffer, 0, start)
        number, at, read = 0, start, start
        while at < end:
            if at - read > _FORGET and isinstance(buffer, FileView):
                buffer.forget(read, at)
                read = at
            if blanks := _blanks(buffer, at, min(end, at + _MAX_BLANKS)):
                self._pause()
                number += blanks.count(b"\n")
                yield blanks
                at += len(blanks)
                continue
            stop = buffer.find(b"\n", at, end)
            stop = end if stop < 0 else stop
            number += 1
            yield self._line(bytes(buffer[at : min(stop, at + MAX_LINE + 1)]), number)
            yield bytes(buffer[stop : min(stop + 1, end)])
            at = stop + 1
        self.finish()
        yield from _chunks(buffer, end, len(buffer))

    def body(self, text: bytes, value: Any) -> bytes:
        """A JSON body with the requests of the vendor. Raises GatewayError 400."""
        changes: dict[JsonPath, bytes | None] = {}
        try:
            refuse_repeats(text, value)
        except Ambiguous as error:
            raise GatewayError(400, "invalid_value", f"The request body {error}.") from error
        for path in find(value, (*self._form.requests, "*"), self._json_name):
            place = f"{'.'.join(map(str, path[:-1]))}[{path[-1]}]"
            entry = value_at(value, path)
            for inner, new in self._changes(entry, place).items():
                changes[(*path, *inner)] = new
        self.finish()
        return apply_edits(text, edits(text, changes)) if changes else text

    def _line(self, line: bytes, number: int) -> bytes:
        """A line with the request of the vendor."""
        place = f"line {number}"
        if len(line) > MAX_LINE:
            message = f"It is longer than {MAX_LINE} bytes."
            self._refuse(place, "", GatewayError(400, "invalid_value", message))
            return line
        try:
            entry = orjson.loads(line)
            refuse_repeats(line, entry)
        except orjson.JSONDecodeError:
            self._refuse(place, "", GatewayError(400, "invalid_json", "It is not valid JSON."))
            return line
        except Ambiguous as error:
            self._refuse(place, "", GatewayError(400, "invalid_value", f"It {error}."))
            return line
        changes = self._changes(entry, place)
        if not changes:
            return line
        self.is_edited = True
        return apply_edits(line, edits(line, changes))

    def _changes(self, entry: Any, place: str) -> dict[JsonPath, bytes | None]:
        """What the vendor gets in another form than it stands in a request of the batch."""
        self._pause()
        self.batch.size += 1
        name = self._name_of(entry)
        try:
            if not isinstance(entry, dict):
                raise _invalid("It is not a JSON object.", "")
            self._check_name(name)
            return self._vendor_changes(entry, place, name)
        except GatewayError as error:
            if error.status >= 500:
                raise
            self._refuse(place, name, error)
            return {}

    def _vendor_changes(
        self, entry: dict[str, Any], place: str, name: str
    ) -> dict[JsonPath, bytes | None]:
        form = self._form
        paths = find(entry, form.body, self._json_name)
        body = value_at(entry, paths[0]) if len(paths) == 1 else None
        where = ".".join(form.body)
        if not isinstance(body, dict):
            raise _invalid(f"'{where}' must be an object.", where)
        url = ""
        if form.url:
            url = self._url(entry)
        text = orjson.dumps(body)
        try:
            request = self._judge(BatchRequest(url, text), self.batch)
        except GatewayError as error:
            if error.param and error.param != form.url:
                error.param = f"{where}.{error.param}"
            raise
        if request.fault is not None:
            fault = request.fault
            fault.param = f"{where}.{fault.param}" if fault.param else where
            self._note(place, name, fault)
        changes: dict[JsonPath, bytes | None] = {}
        if request.body != text:
            changes[paths[0]] = request.body
        if url and request.url != url:
            changes[(form.url,)] = orjson.dumps(request.url)
        return changes

    def _url(self, entry: dict[str, Any]) -> str:
        form = self._form
        method, url = entry.get(form.method), entry.get(form.url)
        if method != "POST":
            raise _invalid(f"'{form.method}' must be POST.", form.method)
        if not isinstance(url, str) or not url.startswith("/"):
            raise _invalid(f"'{form.url}' must be a path, such as /v1/chat/completions.", form.url)
        return url

    def _check_name(self, name: str) -> None:
        """Raises GatewayError 400 for a request without a name, or with that of another one."""
        where = ".".join(self._form.name)
        if not name:
            if self._form.is_named:
                raise _invalid(f"'{where}' must be a text that is not empty.", where)
            return
        digest = hash(name)
        if digest in self._names:
            raise _invalid(f"An earlier request has this '{where}', too.", where)
        self._names.add(digest)

    def _name_of(self, entry: Any) -> str:
        paths = find(entry, self._form.name, self._json_name)
        value = value_at(entry, paths[0]) if paths else ""
        return value if isinstance(value, str) else ""

    def _note(self, place: str, name: str, fault: GatewayError) -> None:
        """Note a request that breaks the document: it passes, or the batch is refused."""
        if not self._reports:
            self._refuse(place, name, fault)
            return
        self.batch.report_count += 1
        if len(self.batch.reports) < MAX_PROBLEMS:
            self.batch.reports.append(self._sentence(place, name, fault))

    def _refuse(self, place: str, name: str, error: GatewayError) -> None:
        self._problems.append((place, name, error))
        if len(self._problems) == MAX_PROBLEMS:
            self.finish()

    def finish(self) -> None:
        """Raises GatewayError 400 if the batch has requests that cannot be made, or none at all."""
        if not self.batch.size and not self._problems:
            raise GatewayError(400, "invalid_value", "This batch has no requests.")
        if not self._problems:
            return
        place, _, first = self._problems[0]
        sentences = " ".join(self._sentence(*problem) for problem in self._problems)
        if len(self._problems) == MAX_PROBLEMS:
            sentences += " There may be more."
        param = ".".join(filter(None, (place, first.param)))
        raise GatewayError(400, first.code, f"The batch was not accepted. {sentences}", param=param)

    def _sentence(self, place: str, name: str, error: GatewayError) -> str:
        """A problem for people: place, name, pointer and reason."""
        parts = [f"{self._form.name[-1]} '{name[:64]}'"] if name else []
        parts += [error.param] if error.param else []
        details = f" ({', '.join(parts)})" if parts else ""
        return f"{place[:1].upper()}{place[1:]}{details}: {error.message}"


def refuse_repeats(text: bytes, value: Any) -> None:
    """Raises Ambiguous for JSON in which an object repeats a name. Counting the names tells most
    texts without."""
    names, stack = 0, [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            names += len(node)
            stack += [each for each in node.values() if isinstance(each, dict | list)]
        elif isinstance(node, list):
            stack += [each for each in node if isinstance(each, dict | list)]
    if sum(1 for _ in _KEY.finditer(text)) != names:
        refuse_repeated_names(text)


def _invalid(message: str, param: str) -> GatewayError:
    return GatewayError(400, "invalid_value", message, param=param)


def _chunks(buffer: Buffer, start: int, end: int) -> Iterator[bytes]:
    for at in range(start, end, _CHUNK):
        yield bytes(buffer[at : min(at + _CHUNK, end)])


def _blanks(buffer: Buffer, start: int, end: int) -> bytes:
    """The blanks at the beginning of a part of a body: of its first lines, if they have no more."""
    match = _SPACE.match(buffer, start, end)
    return b"" if match is None else match[0]
