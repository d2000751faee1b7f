"""Any other API: its answers pass as they are, our own errors have the common shape."""

from __future__ import annotations

from typing import Any

from engine.dialects import Dialect
from engine.dialects.openai import (
    error_event,
    error_object,
    list_models,
    show_model,
)


def _any_document(document: Any) -> bool:
    return isinstance(document, dict | list)


DIALECT = Dialect(
    name="plain",
    claims=lambda environ, query: False,
    error=error_object,
    is_error=_any_document,
    error_event=error_event,
    stream_error=lambda document: None,
    models=list_models,
    model=show_model,
    has_content=lambda document: True,
    transparent=True,
    request_headers=(
        *("accept-language", "idempotency-key", "range", "if-range", "if-match", "if-none-match"),
        *("if-modified-since", "if-unmodified-since"),
    ),
)
