"""What a document says of an operation's objects: `x-modelway-objects`.

    names:    {file: path.file_id}                  ids in requests, by kind
    creates:  {file: [body#/id, event#/file/id]}    ids in responses, new or only shown
    lists:    {kind: file, forward: after, ...}     the operation is a list of one kind
    marks:    [{kind: file, form: map, at: body#/metadata, shown: body#/metadata}]
    turns:    create                                what it does with stored responses
    batch:    [requests, state]                     what it has of batches
    when:     body#/store                           it makes objects only if this is true
    streams:  body#/file                            the file that is sent on as it arrives
    copy:     content                               its part in copying a file to another vendor

`docs/reference/objects.md` describes every key.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from engine.objects.id_places import ANY, IdPlace, JsonName
from engine.objects.loose_places import find_loosely
from engine.values.trees import member_at, value_at

EXTENSION = "x-modelway-objects"
"""The key of an operation in a document."""

TURNS = ("create", "continue", "retrieve", "delete", "cancel", "items")
COPY = ("describe", "content", "upload", "bytes")
"""What an operation does with files: it describes one, has its content, begins an upload (which is
the whole of it, if that is a form), or takes in the bytes."""

BATCH = ("requests", "pieces", "bytes", "state", "results")
"""What an operation has of batches: their requests, pieces of a file with such (which cannot be
judged), bytes of a file that a batch may name later, an object that shows where results are, or
results."""

FORMS = ("map", "text", "filename")
MEMBER = "modelway_owner"
"""The member of a map that has the mark of the owner."""


class ListFacts(Struct, frozen=True):
    """A list of objects of a `kind`. `items`, `next`, `more`, `first` and `last` are paths in the
    response's body, `id` is one in an item. `limit`, `forward` and `backward` are query parameters,
    "" for none. `cursor` is `id` or `token`."""

    kind: str
    items: tuple[str, ...] = ("data",)
    id: tuple[str, ...] = ("id",)
    limit: str = ""
    default: int = 20
    max: int = 100
    forward: str = ""
    backward: str = ""
    cursor: str = "id"
    next: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


class MarkFacts(Struct, frozen=True):
    """Where objects of a kind carry the mark of their owner: `form` is a word of FORMS, `at` the
    place in requests that make one, `shown` that in responses; None where there is none."""

    kind: str
    form: str
    at: IdPlace | None = None
    shown: IdPlace | None = None


class Condition(Struct, frozen=True):
    """The place in the JSON of requests that make objects of some `kinds`, or of all."""

    at: tuple[str, ...]
    kinds: tuple[str, ...] = ()

    def holds(self, value: object, json_name: JsonName | None = None) -> bool:
        """Whether JSON has true or an object there."""
        if ANY not in self.at:
            members = [member_at(value, self.at)]
        else:
            members = [value_at(value, path) for path in find_loosely(value, self.at, json_name)]
        return any(member is True or isinstance(member, dict) for member in members)


class ObjectFacts(Struct, frozen=True):
    """The facts of an operation. `turns` is a word of TURNS, "" if it has nothing to do with stored
    responses; `batch` are words of BATCH. `when` is the condition of making objects, None where all
    requests do. `streams` is the field of a form whose file is sent on as it arrives, "" for a body
    that is no form; None if bodies are received first. `copy` is a word of COPY, "" for an
    operation that has no part in copying files."""

    names: tuple[IdPlace, ...] = ()
    creates: tuple[IdPlace, ...] = ()
    lists: ListFacts | None = None
    marks: tuple[MarkFacts, ...] = ()
    turns: str = ""
    batch: tuple[str, ...] = ()
    when: Condition | None = None
    streams: str | None = None
    copy: str = ""

    @property
    def otherwise(self) -> ObjectFacts:
        """The facts of a request for which `when` does not hold."""
        if self.when is None:
            return self
        kinds = self.when.kinds
        creates = tuple(each for each in self.creates if kinds and each.kind not in kinds)
        return replace(self, creates=creates, marks=())

    @property
    def needs_body(self) -> bool:
        """Whether the parsed body of requests is needed."""
        in_body = any(place.location == "body" for place in self.names)
        makes = any(mark.at is not None for mark in self.marks)
        return in_body or makes or not {"requests", "pieces"}.isdisjoint(self.batch)
