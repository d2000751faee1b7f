"""The plain dialect, for APIs that are not of models: answers pass unchanged, and the gateway's own
errors have the shape of the default dialect."""

from __future__ import annotations

from engine.dialects.interface.dialect import Dialect
from engine.dialects.openai import list_models, show_model
from engine.dialects.openai.errors import error_event, error_object


def _is_document(document: object) -> bool:
    return isinstance(document, dict | list)


DIALECT = Dialect(
    name="plain",
    error=error_object,
    is_error=_is_document,
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
