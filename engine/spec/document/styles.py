"""The styles of parameters and form fields, of OpenAPI 3 and of Swagger 2.0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SWAGGER = ("ssv", "tsv", "pipes")
"""Styles of documents that were written for Swagger 2.0; `csv` is one of form fields only."""
SWAGGER_STYLES = {
    "csv": "form",
    "ssv": "spaceDelimited",
    "tsv": "spaceDelimited",
    "pipes": "pipeDelimited",
}
"""The nearest styles of OpenAPI 3, for people."""
_QUERY_STYLES = ("form", "spaceDelimited", "pipeDelimited", "deepObject", *_SWAGGER)
# The first style is the default.
STYLES: Mapping[str, tuple[str, ...]] = {
    "path": ("simple", "label", "matrix", *_SWAGGER),
    "query": _QUERY_STYLES,
    "form": (*_QUERY_STYLES, "csv"),
    "header": ("simple", *_SWAGGER),
    "cookie": ("form", "cookie"),
}
EMPTY_VALUES: Final = "x-allowEmptyValue"
"""The key of an encoding by which a field may be empty: OpenAPI 3 has none for it, Swagger 2.0
has."""
