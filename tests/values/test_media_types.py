"""Media types: which are JSON, and which parser reads a body."""

from __future__ import annotations

from engine.values.media_types import EXAMPLES, body_kind, is_binary, is_json, sequence_kind
from tests.support.each import each


@each(
    ("media_type", "json"),
    [
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("application/problem+json", True),
        ("application/json-seq", False),
        ("text/plain", False),
        ("", False),
    ],
)
def test_json_has_a_name_or_a_suffix(media_type: str, json: bool) -> None:
    assert is_json(media_type) is json


@each(
    ("media_type", "kind"),
    [
        ("application/problem+json", "json"),
        ("text/csv", "text"),
        ("text/xml", ""),
        ("text/x+xml", ""),
        ("application/octet-stream", ""),
        ("multipart/mixed", ""),
        *((example, kind) for kind, examples in EXAMPLES.items() for example in examples),
    ],
)
def test_the_media_type_selects_the_kind_of_body(media_type: str, kind: str) -> None:
    assert body_kind(media_type) == kind


@each(
    ("media_type", "kind"),
    [
        ("application/jsonl", "lines"),
        ("application/x-ndjson", "lines"),
        ("application/json-seq", "records"),
        ("application/geo+json-seq", "records"),
        ("text/event-stream", "events"),
        ("multipart/mixed", "parts"),
        ("multipart/form-data", ""),
        ("application/json", ""),
        ("text/plain", ""),
    ],
)
def test_a_sequential_media_type_has_a_kind(media_type, kind):
    assert sequence_kind(media_type) == kind


@each(
    ("media_type", "binary"),
    [
        *[(name, True) for name in ("image/png", "application/pdf", "application/x-tar")],
        *[(name, False) for name in ("", "pdf", "text/csv", "application/vnd.x+json")],
        *[(name, False) for name in ("application/xml", "image/svg+xml", "application/yaml")],
        *[(name, False) for name in ("multipart/mixed", "application/x-ndjson")],
    ],
)
def test_a_file_is_binary_unless_it_is_text_of_a_kind(media_type: str, binary: bool) -> None:
    assert is_binary(media_type) is binary
