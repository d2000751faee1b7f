"""Bodies of multipart/form-data, as curl and `requests` write them."""

from __future__ import annotations

import json
from typing import Any

from tests.documents.document import Document, NotJudged, Part
from tests.documents.parameters import text_of

BOUNDARY = "documents-of-companies"
_FILE = b"\x00\x01 a file \r\n\xff"


def multipart(document: Document, schema: Part, value: Any) -> bytes:
    """A body of the members of a value: texts, JSON for objects, and a file where the schema says
    so. Raises NotJudged for a value that has no members."""
    if not isinstance(value, dict) or not value:
        raise NotJudged("a multipart body without parts")
    properties = schema.get("properties")
    parts = b"".join(
        _part(name, item, properties.get(name), document.is_30)
        for name, member in value.items()
        for item in (member if isinstance(member, list) else [member])
    )
    return parts + f"--{BOUNDARY}--\r\n".encode()


def _part(name: str, value: Any, schema: Part, is_30: bool) -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"'
    if any(_is_file(each, is_30) for each in (schema, schema.get("items"))):
        head += '; filename="file.bin"\r\nContent-Type: application/octet-stream'
        return f"{head}\r\n\r\n".encode() + _FILE + b"\r\n"
    if isinstance(value, dict):
        head += "\r\nContent-Type: application/json"
        return f"{head}\r\n\r\n{json.dumps(value)}\r\n".encode()
    return f"{head}\r\n\r\n{text_of(value)}\r\n".encode()


def _is_file(schema: Part, is_30: bool) -> bool:
    keywords = schema.value if isinstance(schema.value, dict) else {}
    by_type = keywords.get("format") == "binary" or keywords.get("type") == "file"
    return by_type or (not is_30 and "contentMediaType" in keywords)
