"""Formats of strings that jsonschema_rs lacks, in one of the two drafts or in both, or reads more
narrowly than servers do."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import date

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATE_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)([.,]\d+)?)?"
    r"([Zz]|[ +-]([01]\d|2[0-3])(:?[0-5]\d)?)?",
    re.ASCII,
)
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _is_date(text: str) -> bool:
    try:
        return _DATE.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False


def _is_date_time(text: str) -> bool:
    """Whether it is a date with a time of RFC 3339, or as clocks of programming languages write it
    and as servers read it (ISO 8601): without an offset, or with one without a colon. The sign of
    an offset may be a space, which is what a form or query has of a plus that is not encoded."""
    match = _DATE_TIME.fullmatch(text)
    return match is not None and _is_date(match[1])


def _is_uuid(text: str) -> bool:
    return _UUID.fullmatch(text) is not None


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


FORMATS = {
    "byte": _is_base64,
    "date": _is_date,
    "date-time": _is_date_time,
    "uuid": _is_uuid,
}
"""Whether a text has the format, by its name."""
