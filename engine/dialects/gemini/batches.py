"""Batches of Gemini: requests in the body of one or in a file, for one model; results likewise.

https://ai.google.dev/gemini-api/docs/batch-api
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.dialects.interface.batches import BatchFormat, BatchResult
from engine.values.trees import Json, member_at

_OPERATIONS = {
    ":batchGenerateContent": ":generateContent",
    ":asyncBatchEmbedContent": ":embedContent",
}
_LIST = ("inlinedResponses", "inlinedResponses")
_EMBEDDINGS = ("inlinedEmbedContentResponses", "inlinedResponses")
_HOLDERS = (("response",), ("metadata", "output"))
_CALLERS_FAULTS = (3, 5, 7, 9, 11)
"""Codes of google.rpc.Code that stand for an HTTP status 4xx."""


def path(batch: str) -> str:
    """The path of the requests of a batch that is made at this path."""
    stem, colon, verb = batch.rpartition(":")
    return stem + _OPERATIONS.get(colon + verb, colon + verb)


def result(entry: Json) -> BatchResult:
    """A result in a response, or a line of a file with results."""
    metadata = entry.get("metadata")
    name = entry.get("key", metadata.get("key") if isinstance(metadata, dict) else None)
    name = name if isinstance(name, str) else ""
    if isinstance(entry.get("response"), dict):
        return BatchResult(name, 200, entry["response"], ("response",))
    error = entry.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return BatchResult(name, 400 if code in _CALLERS_FAULTS else 500)


def files(value: Json) -> Sequence[str]:
    """The file with results of a batch that has ended."""
    names = []
    for steps in _HOLDERS:
        name = member_at(value, (*steps, "responsesFile"))
        names += [name] if isinstance(name, str) and name not in names else []
    return names


BATCHES = BatchFormat(
    name=("metadata", "key"),
    body=("request",),
    result=result,
    is_named=False,
    requests=("batch", "inputConfig", "requests", "requests"),
    stored=("batch", "inputConfig", "fileName"),
    stored_name=("key",),
    path=path,
    lists=tuple((*holder, *steps) for holder in _HOLDERS for steps in (_LIST, _EMBEDDINGS)),
    files=files,
    id="name",
    model="modelVersion",
)
