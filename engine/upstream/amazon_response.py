"""Responses of Amazon's services: event streams converted to server-sent events, and the name of an
error in a header."""

from __future__ import annotations

import re

from engine.relay.amazon_event_stream import MEDIA_TYPE
from engine.relay.amazon_events import AmazonEvents
from engine.upstream.client.response import IncomingResponse
from engine.upstream.converted_response import ConvertedResponse

_ERROR_TYPE = re.compile(r"(?:[^#:]*#)?([A-Za-z]{1,100})(?::|$)")
"""As botocore reads it: `com.amazon#ThrottlingException:http://internal.amazon.com/`."""


def with_server_sent_events(response: IncomingResponse) -> IncomingResponse:
    """The response, with an Amazon event stream converted to server-sent events."""
    kind = response.header("content-type")
    is_stream = kind and kind.startswith(MEDIA_TYPE)
    return ConvertedResponse(response, AmazonEvents()) if is_stream else response


def error_code(response: IncomingResponse) -> str:
    """The name of an error in the headers, "" for none; the body often lacks it."""
    name = _ERROR_TYPE.match(response.header("x-amzn-errortype") or "")
    return name[1] if name else ""
