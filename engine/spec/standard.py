"""Where a document breaks the OpenAPI standard, as openapi-core's document validator sees it.

Such a breach is a warning: half of the vendors' own documents have some, and what the engine needs
it checks itself. Only `modelway check` asks for it: importing it takes a quarter of a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from openapi_spec_validator import OpenAPIV30SpecValidator, OpenAPIV31SpecValidator

from engine.problem import Findings, Level
from engine.spec.library import Library

_MOST = 50


def breaches(library: Library, findings: Findings) -> None:
    """Note every breach, fifty of a document at most."""
    document = library.document
    is_30 = str(document.value["openapi"]).startswith("3.0")
    kind = OpenAPIV30SpecValidator if is_30 else OpenAPIV31SpecValidator
    validator = kind(document.value, base_uri=library.root.as_uri())
    for error in _errors(validator):
        path = tuple(getattr(error, "absolute_path", ()))
        words = " ".join(str(error.args[0]).split())
        message = f"breaks the OpenAPI standard: {words[:200]}"
        findings.note(document.source, path, Level.WARNING, "MW220", message)


def _errors(validator: Any) -> Iterator[Exception]:
    """What the validator finds; where it gives up itself, that is the last of its findings."""
    try:
        yield from islice(validator.iter_errors(), _MOST)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        yield ValueError(f"the standard's validator cannot read it ({type(error).__name__})")
