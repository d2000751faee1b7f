"""Batches of the mock: it makes their results at once, by its own operations, and shows them when
the batch has gone through its stages.

`x-modelway-mock: {batch: true}` of an operation says that it creates batches.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from engine.dialects.interface.files import BatchFormat
from engine.edge.inside_call import InsideCalls
from engine.exchange.caller_connection import InternalCaller
from engine.exchange.internal_request import Request, environ_of
from engine.mock.object_store import MockObject, ObjectStore
from engine.values.caller import Caller
from engine.values.trees import Json, member_at

_FILES = "/files"
_CALLER = InternalCaller(Caller("gateway"))


class Batches:
    """Makes the results of the batches of one dialect."""

    def __init__(
        self, dialect: str, form: BatchFormat, store: ObjectStore, inside: InsideCalls
    ) -> None:
        self._write = _WRITERS[dialect]
        self._form, self._store, self._inside = form, store, inside

    def answer(self, path: str, mount: str, request: Json, batch: Json) -> None:
        """Keep the results of a `batch` that was created with a `request` at a path below the
        mount."""
        entry = self._entry(path, batch)
        if entry is None:
            return
        name = request.get("batch", {}).get("displayName") if self._form.stored else None
        if isinstance(name, str) and isinstance(metadata := entry.value.get("metadata"), dict):
            metadata["displayName"] = name  # by which a gateway knows the owner in lists
        content = self._named_file(request)
        requests = self._requests(request) if content is None else _lines(content)
        results = [self._result(each, path, mount) for each in requests]
        lines = b"".join(orjson.dumps(line) + b"\n" for line in results)
        if self._form.url:
            name = f"file-out-{batch['id']}"
            file = {"id": name, "object": "file", "purpose": "batch_output", "bytes": len(lines)}
            file |= {"filename": "results.jsonl", "created_at": 0, "status": "processed"}
            self._store.keep(_FILES, name, file, lines)
        elif content is not None:
            name = f"batch-{secrets.token_hex(8)}"
            self._store.keep(_FILES, name, {"name": f"files/{name}"}, lines)
            output = {"responsesFile": f"files/{name}"}
            entry.last = {"metadata": {"output": output}, "response": output}
        elif self._form.lists:
            steps = self._form.lists[-2]
            value: Any = results
            for step in reversed(steps):
                value = {step: value}
            entry.last = value
        else:
            entry.content = lines

    def _entry(self, path: str, batch: Json) -> MockObject | None:
        collection, id_ = path, str(batch.get(self._form.id, ""))
        if "/" in id_:
            name, id_ = id_.split("/", 1)
            collection = f"/{name}"
        return self._store.collections.get(collection, {}).get(id_)

    def _requests(self, request: Json) -> Iterator[Json]:
        """The requests of a batch, in its body or in a file."""
        node = member_at(request, self._form.requests)
        if self._form.url:
            node = _lines(self._content(str(request.get("input_file_id"))))
        yield from (each for each in node or () if isinstance(each, dict))

    def _named_file(self, request: Json) -> bytes | None:
        """The content of the file that a JSON body names in place of its requests."""
        name = member_at(request, self._form.stored) if self._form.stored else None
        if not isinstance(name, str):
            return None
        return self._content(name.removeprefix("files/"))

    def _content(self, name: str) -> bytes:
        entry = self._store.collections.get(_FILES, {}).get(name)
        return b"" if entry is None else entry.content

    def _result(self, entry: Json, path: str, mount: str) -> Json:
        form = self._form
        target = entry.get(form.url) if form.url else mount + form.path(path)
        status, answer = self._ask(str(target), entry.get(form.body[0]))
        return self._write(entry, status, answer)

    def _ask(self, target: str, body: Any) -> tuple[int, Any]:
        """The status and the answer of an operation of the mock."""
        data = orjson.dumps(body)
        headers = [("content-type", "application/json"), ("anthropic-version", "2023-06-01")]
        environ = environ_of(Request("POST", target, headers, data))
        pieces: list[bytes] = []

        def keep(piece: bytes) -> bool:
            pieces.append(piece)
            return True

        response = self._inside(environ, data, _CALLER, keep)
        text = b"".join([*pieces, response.read()])
        return response.status, orjson.loads(text)


def _lines(content: bytes) -> list[Json]:
    return [orjson.loads(line) for line in content.splitlines() if line.strip()]


def _openai(entry: Json, status: int, answer: Any) -> Json:
    response = {"status_code": status, "request_id": secrets.token_hex(8), "body": answer}
    line = {"id": f"batch_req_{secrets.token_hex(8)}", "custom_id": entry.get("custom_id")}
    return {**line, "response": response, "error": None}


def _anthropic(entry: Json, status: int, answer: Any) -> Json:
    is_message = {"type": "succeeded", "message": answer}
    result = is_message if status == 200 else {"type": "errored", "error": answer}
    return {"custom_id": entry.get("custom_id"), "result": result}


def _gemini(entry: Json, status: int, answer: Any) -> Json:
    outcome = {"response": answer} if status == 200 else {"error": {"code": 3}}
    name = "key" if "key" in entry else "metadata"
    return {**outcome, name: entry.get(name, {})}


_WRITERS: Mapping[str, Callable[[Json, int, Any], Json]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
}
"""How each dialect writes a result."""
