"""`data:` URLs (RFC 2397): content inside a request."""

from __future__ import annotations

import base64
from urllib.parse import unquote_to_bytes

from engine.translations.neutral.content import Inline
from engine.translations.neutral.members import WrongType


def read_data_url(url: str, place: str) -> Inline:
    """The media type, in lower case and without parameters, and the content in base64.

    Raises WrongType.
    """
    head, comma, data = url[5:].partition(",")
    if not comma:
        raise WrongType(place, "a data URL: data:<media type>;base64,<data>")
    media_type, *parameters = (part.strip() for part in head.split(";"))
    if "base64" in (parameter.lower() for parameter in parameters):
        checked_base64(data, place)
    else:
        data = base64.b64encode(unquote_to_bytes(data)).decode()
    return Inline(media_type.lower() or "text/plain", data)


def checked_base64(data: str, place: str) -> str:
    """The text, which is base64. Raises WrongType."""
    try:
        base64.b64decode(data, validate=True)
    except ValueError as error:  # binascii.Error, or characters outside of ASCII
        raise WrongType(place, "a data URL whose data is base64") from error
    return data


def data_url(content: Inline) -> str:
    """The URL of a content."""
    return f"data:{content.media_type};base64,{content.data}"
