"""What the mock keeps: objects that its answers create are found, listed, changed and deleted.

A *collection* is a path that has operations for one of its items, `/files/{file_id}`; POST to the
collection creates one. `x-modelway-mock` of an operation says what the paths do not:

    stages: [{status: in_progress}, {status: completed}]   # of a retrieval: changes, one a read,
                                            # with `{{origin}}` of the mock and `{{object}}`, the id
    set: {status: cancelled}                               # of any other: a change of the object
    store: default                                         # unless the request has `store: false`
    store: optional                                        # only if it has `store: true`
    posted: items                                          # the member of a request for several
    refers: {conversation: /conversations}                 # members that name objects elsewhere
    batch: true                                            # it creates batches (`batches.py`)

An answer in events is kept with the object that it creates, and a read in events gets them again.

Where no document of a dialect has such facts, an object that was never kept is answered with the
example: the documents were not written for the mock, and their paths say too little.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from engine.mock.examples import fill
from engine.mock.object_store import MockObject, ObjectStore
from engine.mock.operation_roles import Role
from engine.spec.parameters.query_string import Query
from engine.values.trees import Json, merge

_SEQUENCE = re.compile(rb'"sequence_number": ?(\d+)')
_ENDED = 1_000_000
"""The stage of an object that goes on no more."""
_CURSORS = ("after", "after_id", "pageToken", "page", "page_token")
_LIMITS = ("limit", "pageSize", "page_size")


class ObjectRequest:
    """One request of an operation with a role. `path` is the raw path below the mount, `host` that
    of the mock."""

    def __init__(
        self, store: ObjectStore, role: Role, path: str, query: str, body: object, host: str = ""
    ) -> None:
        self._store, self._role, self._query, self._host = store, role, query, host
        segments = path.split("/")
        self._segments = [unquote(segment) for segment in segments]
        self._request: Json = body if isinstance(body, dict) else {}

    def check(self) -> MockObject | None:
        """The object that the path names last, None if nothing is known of it. Raises GatewayError
        404 if it, or one around it, does not exist."""
        entry = None
        for index in self._role.parents:
            entry = self._store.find(*self._place(index))
        for member, collection in self._role.refers.items():
            value = self._request.get(member)
            name = value.get("id") if isinstance(value, dict) else value
            if isinstance(name, str):
                self._store.find(collection, name)
        return entry

    def answer(self, entry: MockObject | None, example: Any, content: bytes = b"") -> Any:
        """The answer in place of the document's example. `entry` is the object of `check`,
        `content` are the bytes of an uploaded file, which are kept with a new object."""
        action = self._role.action
        if action == "delete" and entry is not None:
            return self._delete(example)
        if not isinstance(example, dict):
            return example
        if action == "create":
            return self._create(example, content)
        if action == "list":
            return self._list(example)
        if entry is None or not action:
            return self._create_elsewhere(example)
        return self._retrieve(entry) if action == "retrieve" else self._change(entry, example)

    def keep_events(self, answer: Any, events: Sequence[bytes]) -> None:
        """Keep the events of an answer with the object that it has created."""
        if self._role.action == "create" and isinstance(answer, dict):
            objects = self._store.collections.get("/".join(self._segments), {})
            if (entry := objects.get(str(answer.get("id")))) is not None:
                entry.events = events

    def events_again(self, entry: MockObject) -> list[bytes]:
        """The events that were kept, behind the one that the query names."""
        after = Query.parse(self._query).get("starting_after") or ""
        start = int(after) if after.isdecimal() else -1
        numbers = [_SEQUENCE.search(event) for event in entry.events]
        pairs = zip(entry.events, numbers, strict=True)
        return [event for event, number in pairs if number and int(number[1]) > start]

    def _delete(self, example: Any) -> Any:
        collection, id_ = self._place(self._role.parents[-1])
        self._store.delete(collection, id_)
        if not isinstance(example, dict) or "id" not in example:
            return example
        return {**example, "id": id_, "deleted": True}

    def _place(self, index: int) -> tuple[str, str]:
        """The collection and the id at this segment of the path."""
        return "/".join(self._segments[:index]), self._segments[index].partition(":")[0]

    def _create(self, example: Json, content: bytes) -> Json:
        if isinstance(self._request.get(self._role.posted), list):
            return self._create_all(example)
        value = {**example, **self._fitting(example)}
        requested_id = self._request.get(self._role.variable)
        if isinstance(requested_id, str) and "id" in value:
            value["id"] = requested_id
        if content and "bytes" in value:
            value["bytes"] = len(content)
        stored = self._request.get("store")
        if stored is False or (self._role.store == "optional" and stored is not True):
            return value
        collection = "/".join(self._segments)
        id_ = value.get(self._role.variable) or value.get("id")
        if id_ is not None:
            self._store.keep(collection, str(id_), value, content)
        else:
            self._create_by_name(collection, value, content)
        return value

    def _create_by_name(self, collection: str, value: Json, content: bytes) -> None:
        """Keep an object that has a name with its collection, or the one that is made by an
        operation with such a name: `models/abc/operations/def`."""
        id_, *operation = str(value.get("name", "")).removeprefix(f"{collection[1:]}/").split("/")
        if operation:
            value, content = {"name": f"{collection[1:]}/{id_}", **self._request}, b""
        self._store.keep(collection, id_, value, content)

    def _create_all(self, example: Json) -> Json:
        """Keep each of the objects of a request that has several."""
        rows = []
        for item in self._request[self._role.posted]:
            value = {**item, "id": f"item_{secrets.token_hex(12)}"}
            rows.append(value)
            self._store.keep("/".join(self._segments), value["id"], value)
        edges = {"first_id": rows[0]["id"], "last_id": rows[-1]["id"]} if rows else {}
        return {**example, self._role.rows: rows, **edges}

    def _create_elsewhere(self, example: Json) -> Json:
        """Keep an object whose `name` says its collection: `batches/abc`."""
        name = example.get("name")
        if self._role.action == "" and isinstance(name, str) and name.count("/") == 1:
            collection, id_ = name.split("/")
            self._store.keep(f"/{collection}", id_, example)
        return example

    def _fitting(self, example: Json) -> Json:
        """The members of the request that the answer has, too, with a type that it may have."""
        fitting = {}
        for name, value in self._request.items():
            kinds = self._role.members.get(name)
            if kinds is None or isinstance(value, dict) != ("object" in kinds) or value is None:
                continue
            if isinstance(value, str) and kinds and "string" not in kinds:
                continue
            fitting[name] = value
        return fitting

    def _list(self, example: Json) -> Json:
        objects = self._store.listed("/".join(self._segments))
        if objects is None:
            return example
        query = Query.parse(self._query)
        ids = list(objects)
        after = next((v for name in _CURSORS if (v := query.get(name))), None)
        start = ids.index(after) + 1 if after in objects else 0
        limit = next((v for name in _LIMITS if (v := query.get(name))), "")
        count = int(limit) if limit.isdecimal() else len(ids)
        page = ids[start : start + count]
        has_more = start + count < len(ids)
        members = self._role.members
        answer = {**example, self._role.rows: [objects[id_].value for id_ in page]}
        first, last = (page[0], page[-1]) if page else (None, None)
        edges = {"has_more": has_more, "first_id": first, "last_id": last}
        answer |= {name: value for name, value in edges.items() if name in members}
        for name in ("nextPageToken", "next_page", "next_page_token"):
            answer.pop(name, None)
            if name in members and has_more:
                answer[name] = page[-1]
        return answer

    def _retrieve(self, entry: MockObject) -> Json:
        value = dict(entry.value)
        if entry.stage < len(self._role.stages):
            values = {"origin": f"http://{self._host}", "object": self._segments[-1]}
            entry.value = merge(entry.value, fill(self._role.stages[entry.stage], values))
            entry.stage += 1
            if entry.stage == len(self._role.stages):
                entry.value = merge(entry.value, entry.last)
        return value

    def _change(self, entry: MockObject, example: Json) -> Json:
        changes = {**self._fitting(example), **self._role.change}
        if changes:
            entry.value = merge(entry.value, changes)
            entry.stage = _ENDED if self._role.change else entry.stage
        if not example.keys() & entry.value.keys():
            return example
        return {**example, **{k: v for k, v in entry.value.items() if k in self._role.members}}
