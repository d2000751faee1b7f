"""Media types of JSON, forms and text: which parser reads a body."""

from __future__ import annotations

from functools import lru_cache

EXAMPLES = {
    "json": ("application/json", "text/json", "application/x+json"),
    "form": ("application/x-www-form-urlencoded",),
    "multipart": ("multipart/form-data",),
    "text": ("text/plain",),
}
"""The kinds of bodies that can be parsed, with example media types: a media range includes a kind
if it matches one of its examples."""

_SAME = (
    ("application/xml", "text/xml"),
    ("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"),
    *(
        ("application/gzip", "application/x-gzip"),
        ("application/zip", "application/x-zip-compressed"),
    ),
    *(("image/jpeg", "image/jpg"), ("audio/mpeg", "audio/mp3"), ("audio/flac", "audio/x-flac")),
    *(("audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"), ("audio/mp4", "audio/x-m4a")),
    ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines"),
)
"""Names of one media type (RFC 7303 9.2, RFC 9512 2.1, and what browsers and libraries guess from
the name of a file)."""
OTHER_NAMES = {name: tuple(n for n in names if n != name) for names in _SAME for name in names}
"""The other names of a media type, by each of its names."""

_LINES = frozenset(
    {"application/jsonl", "application/x-ndjson", "application/ndjson", "application/x-jsonlines"}
    | {"application/jsonlines"}
)


@lru_cache(maxsize=256)
def essence(content_type: str) -> str:
    """The media type of a Content-Type, without parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Whether a media type, with or without parameters, is JSON (RFC 6839: `+json` too)."""
    name = essence(media_type)
    return name == "application/json" or name.endswith("+json")


def body_kind(media_type: str) -> str:
    """The kind of a media type's bodies: a key of `EXAMPLES`, or "" for any other."""
    if media_type in ("application/json", "text/json") or media_type.endswith("+json"):
        return "json"
    if media_type == "application/x-www-form-urlencoded":
        return "form"
    if media_type == "multipart/form-data":
        return "multipart"
    is_text = media_type.startswith("text/") and not media_type.endswith(("/xml", "+xml"))
    return "text" if is_text else ""


def is_binary(media_type: str) -> bool:
    """Whether a media type, in lower case without parameters, is one of files that are no text:
    images, archives, documents."""
    is_text = body_kind(media_type) or media_type.endswith(("xml", "yaml", "graphql"))
    return "/" in media_type and not is_text and not sequence_kind(media_type)


def sequence_kind(media_type: str) -> str:
    """The kind of a sequential media type, in lower case without parameters: "lines", "records",
    "events" or "parts"; "" for any other."""
    if media_type in _LINES:
        return "lines"
    if media_type == "application/json-seq" or media_type.endswith("+json-seq"):
        return "records"
    if media_type == "text/event-stream":
        return "events"
    is_multipart = media_type.startswith("multipart/") and media_type != "multipart/form-data"
    return "parts" if is_multipart else ""
