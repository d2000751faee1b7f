"""How an API writes batches: many requests in one, whose results are read later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.values.json_edit import JsonPath
from engine.values.trees import Json


class BatchResult(NamedTuple):
    """The result of one request of a batch: the `name` that its caller gave it, "" for none, the
    HTTP `status` that it would have had, and its `answer` with the path of it in the result, None
    if it has none."""

    name: str
    status: int
    answer: object = None
    at: JsonPath = ()


class BatchFormat(NamedTuple):
    """The batches of a dialect. Every function is pure.

    Requests: `requests` is the path of their list in a JSON body; without it they are the lines of
    the `file` of a form whose field `purpose` is one of `purposes`. A request has at `name` what
    its caller calls it (unless `is_named` is false, then it may lack it), and at `body` what its
    operation gets; `method` and `url` name that operation. Without a `url` it is the one whose path
    `path` makes of that of the batch.

    With `stored` a JSON body may name a file at this path in place of the list, which was uploaded
    before; its lines have a name at `stored_name`.

    Results: `lists` are the paths of their lists in a JSON body; other responses have them as lines
    of JSON. `result` reads one. `files` returns the ids of the files with results of an object that
    a response shows, a batch or a file; `id` is the member with the object's own id, `model` that
    of an answer with the name of its model.
    """

    name: tuple[str, ...]
    body: tuple[str, ...]
    result: Callable[[Json], BatchResult]
    is_named: bool = True
    requests: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    stored_name: tuple[str, ...] = ()
    file: str = ""
    purpose: str = ""
    purposes: Sequence[str] = ()
    method: str = ""
    url: str = ""
    path: Callable[[str], str] = str
    lists: Sequence[tuple[str, ...]] = ()
    files: Callable[[Json], Sequence[str]] = lambda value: ()
    id: str = "id"
    model: str = "model"
