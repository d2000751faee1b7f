"""Verdicts of the two readers, and which of their differences count.

The law: two verdicts differ if one reader accepts a value that the other refuses, unless a keyword
of `NOT_COMPARED` caused the refusal, or one in an alternative of a union. `NOT_READ` lists the
parts that are not compared at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

NOT_COMPARED: Final[Mapping[str, str]] = {
    "discriminator": "openapi-core validates only the schema that the discriminator names; in the "
    "standard it is a hint that changes no verdict",
    "readOnly": "openapi-core requires a read-only property of a request in 3.1, and in 3.0 where "
    "it stands behind a $ref",
    "writeOnly": "openapi-core refuses a write-only property in a response; Modelway takes it",
    "format": "the standard leaves open how deep a format is checked; openapi-core does not bound "
    "an int32 that is written as a float",
    "pattern": "openapi-core uses Python's regular expressions; the standard names ECMA 262",
    "multipleOf": "openapi-core divides binary floats and so refuses 0.3 as a multiple of 0.1",
}
"""JSON Schema keywords whose verdicts are not compared, with the reason."""

NOT_READ: Final[Mapping[str, str]] = {
    "forms and multipart": "the standard does not say how the text of a field becomes a number or "
    "a boolean; each reader has rules of its own",
    "text and binary bodies": "openapi-core does not cast text to the schema's type",
    "JSON text": "openapi-core uses Python's json, which takes NaN and lone surrogates",
    "bodies without requestBody": "openapi-core ignores them; Modelway refuses them",
    "names with brackets": "no standard defines `a[]` or `a[0]`; openapi-core does not know them",
    "empty query values": "openapi-core refuses `?a=` for every type",
    "query text that is not UTF-8": "openapi-core is given decoded values",
    "security": "Modelway's tokens are not the document's; openapi-core would refuse every request",
    "WebSockets": "openapi-core has none",
}
"""Parts of requests and documents that are not compared, with the reason."""

_MAX_LENGTH = 200


class Verdict(Struct, frozen=True):
    """The verdict of one reader on a value: `refusal` is the reason, "" if it accepts.
    `keywords` are the JSON Schema keywords that caused the refusal.
    """

    refusal: str = ""
    keywords: frozenset[str] = frozenset()


class Disagreement(Struct, frozen=True):
    """Two verdicts that differ. `subject` is for example `the body` or `query parameter 'n'`."""

    subject: str
    modelway: Verdict
    openapi_core: Verdict

    def __str__(self) -> str:
        return (
            f"{self.subject}: Modelway {_reading(self.modelway)}, "
            f"openapi-core {_reading(self.openapi_core)}"
        )


class NotComparable(Exception):
    """openapi-core fails on a document or value; the message is openapi-core's."""


def disagreement(subject: str, modelway: Verdict, openapi_core: Verdict) -> Disagreement | None:
    """The disagreement of two verdicts; None if they agree or are not compared."""
    if bool(modelway.refusal) is bool(openapi_core.refusal):
        return None
    if not NOT_COMPARED.keys().isdisjoint(modelway.keywords | openapi_core.keywords):
        return None
    return Disagreement(subject, modelway, openapi_core)


def _reading(verdict: Verdict) -> str:
    if not verdict.refusal:
        return "accepts it"
    words = " ".join(verdict.refusal.split())
    shortened = words if len(words) <= _MAX_LENGTH else f"{words[:_MAX_LENGTH]}..."
    return f"refuses it ({shortened})"
