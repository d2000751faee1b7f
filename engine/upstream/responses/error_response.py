"""Errors for the caller: those of an upstream, read up to a bound, decoded and redacted, and those
of the gateway for an upstream that failed.

An upstream's error may also be the first event of a stream. The caller then gets the response that
the same error has without a stream (`AttemptResult.stream_error`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from typing import Any

import orjson

from engine.dialects import Dialect
from engine.dialects.interface.error_texts import (
    EVENT_STARTS,
    error_document,
    error_text,
    plain_text,
)
from engine.exchange.exchange import Exchange, Response
from engine.exchange.member_protocols import Headers
from engine.upstream.admission.gate import Wait
from engine.upstream.client.failures import NoCredential, UpstreamFailure
from engine.upstream.client.response import MAX_ERROR, IncomingResponse, read_body
from engine.upstream.responses.attempt_result import AttemptResult
from engine.values.content_coding import decode_body
from engine.values.errors import GatewayError

MAX_TRANSPARENT_ERROR = 1_000_000
"""The largest error of a transparent dialect, in bytes, that is searched for our credentials."""

_BODY_HEADERS = ("content-", "etag", "last-modified", "digest", "repr-digest", "cache-control")
_REDACTED_BODY_HEADERS = (
    *("content-type", "content-language"),
    *("content-location", "content-disposition"),
)
_AMAZON_ERROR = re.compile(r"(?:[^#:]*#)?([A-Za-z]{1,100})(?::|$)")
"""As botocore reads it: `com.amazon#ThrottlingException:http://internal.amazon.com/`."""


def refuse(
    result: AttemptResult,
    headers: Headers,
    exchange: Exchange,
    dialect: Dialect,
    retried: bool,
) -> Response:
    """The response for the failure of the last attempt. Raises GatewayError if the gateway reports
    it itself. `retried`: the gateway has retried, so the caller's SDK need not.
    """
    retry = False if retried else None
    if result.error is not None:
        raise error_of_failure(result.error, retry)
    if result.failure == "credential":
        raise credentials_refused(f" ({result.status})")
    if result.failure == "error" and result.stream_error is None:
        raise GatewayError(502, "upstream_error", failure_message(result.document), retry=retry)
    if retried:
        headers = without_retry(headers)
    return vendor_error(result, headers, exchange, dialect)


def without_retry(headers: Headers) -> Headers:
    """The headers of an error after which the caller's SDK does not retry."""
    other_headers = [pair for pair in headers if pair[0] != "x-should-retry"]
    return [*other_headers, ("x-should-retry", "false")]


def vendor_error(
    result: AttemptResult, headers: Headers, exchange: Exchange, dialect: Dialect
) -> Response:
    """An error of the upstream: unchanged if it has the form of the dialect, else rewritten."""
    response, status = result.response, result.status
    assert response is not None
    if result.stream_error is not None:
        document = result.stream_error.document
        body, headers = orjson.dumps(document), _for_json_body(headers)
    else:
        body, document, headers = _read_error(result, response, headers)
    if dialect.is_error(document):
        return _complete(status, headers, body)
    message = f"The upstream answered {status}{_quoted(error_text(document) or plain_text(body))}."
    return _in_dialect(status, message, headers, exchange, dialect, error_code(response))


def transparent_error(
    result: AttemptResult, body: bytes, headers: Headers, exchange: Exchange, dialect: Dialect
) -> Response:
    """A complete response of 300 or more of a transparent dialect: unchanged, unless it contains
    one of our credentials, or has an encoding that cannot be searched for them."""
    text = decode_body(_encoding(headers), body)
    if text is None:
        message = f"The upstream answered {result.status}; its body cannot be decoded."
        return _in_dialect(result.status, message, headers, exchange, dialect)
    clean = result.target.upstream.redaction.redact(text)
    if clean is text:
        return _complete(result.status, headers, body)
    valid_headers = [pair for pair in headers if pair[0] in _REDACTED_BODY_HEADERS]
    headers = [pair for pair in headers if not pair[0].startswith(_BODY_HEADERS)] + valid_headers
    return _complete(result.status, headers, clean)


def _in_dialect(
    status: int,
    message: str,
    headers: Headers,
    exchange: Exchange,
    dialect: Dialect,
    code: str = "",
) -> Response:
    """An error of the upstream in the dialect's form; `code` is the upstream's error code."""
    error = GatewayError(status, code or "upstream_error", message)
    body = orjson.dumps(dialect.error(error, exchange.request_id))
    return _complete(status, _for_json_body(headers), body)


def error_code(response: IncomingResponse) -> str:
    """The name of an error in the headers of Amazon's services, "" for none; the body often lacks
    it."""
    name = _AMAZON_ERROR.match(response.header("x-amzn-errortype") or "")
    return name[1] if name else ""


def _complete(status: int, headers: Headers, body: bytes) -> Response:
    return Response(status, [*headers, ("content-length", str(len(body)))], body)


def error_of_failure(failure: UpstreamFailure, retry: bool | None = None) -> GatewayError:
    """502 or 504 for an upstream without a complete response. `retry`: whether the caller's SDK
    should retry; None leaves it to the status."""
    if isinstance(failure, NoCredential):
        return _no_credential(failure)
    late = failure.kind.endswith("timeout")
    code = "upstream_timeout" if late else "upstream_unreachable"
    if failure.response_started and not late:
        code = "upstream_error"
    return GatewayError(504 if late else 502, code, f"{sentence(failure.words)}.", retry=retry)


def _no_credential(failure: NoCredential) -> GatewayError:
    """503 if a token may be available soon, 502 if only an operator can change that."""
    message = f"{sentence(failure.words)}."
    if not failure.lasting:
        wait = [("retry-after", "1")]
        return GatewayError(503, "upstream_credentials", message, headers=wait)
    message += " The operator must correct it; your token is not at fault."
    return GatewayError(502, "upstream_credentials", message, retry=False)


def credentials_refused(status: str = "") -> GatewayError:
    """502 for a target that refuses the gateway's credentials, which the caller cannot correct."""
    return GatewayError(
        502,
        "upstream_credentials",
        f"The upstream refused this gateway's own credential{status}. "
        "The operator must correct it; your token is not at fault.",
        retry=False,
    )


def redirect_refused(status: int) -> GatewayError:
    """502 for a redirect: following it would send the caller's request to another server."""
    message = f"The upstream answered with a redirect ({status}), which is not followed."
    return GatewayError(502, "upstream_error", message, retry=False)


def unavailable(wait: float) -> GatewayError:
    """503 while no target may be attempted; `wait` seconds until one may."""
    seconds = str(max(1, math.ceil(wait)))
    return GatewayError(
        503,
        "upstream_unavailable",
        f"No upstream is available right now. Try again in {seconds} s.",
        headers=[("retry-after", seconds)],
    )


_REFUSAL_REASONS = {
    Wait.TIMEOUT: "no slot became free in time",
    Wait.SHED: "one of higher priority took the place of this one in the queue",
    Wait.FULL: "no more may wait",
}
"""Why a request got no place, in order of precedence."""


def all_busy(wait: float, results: Collection[Wait]) -> GatewayError:
    """429 while all targets have reached their bounds; `wait` seconds until a place is likely to be
    free, `results` of the waits for one."""
    seconds = str(max(1, math.ceil(wait)))
    reason = next(words for result, words in _REFUSAL_REASONS.items() if result in results)
    return GatewayError(
        429,
        "upstream_busy",
        f"As many requests as allowed are being answered, and {reason}. Try again in {seconds} s.",
        headers=[("retry-after", seconds)],
    )


def sentence(words: str) -> str:
    """Words with their first letter in upper case."""
    return words[:1].upper() + words[1:]


def _quoted(text: str) -> str:
    """The text of an error after a colon; "" if there is none."""
    return f": {text.rstrip('.')}" if text else ""


def _read_error(
    result: AttemptResult, response: IncomingResponse, headers: Headers
) -> tuple[bytes, Any, Headers]:
    """The body of an error and its JSON; one that is an event becomes its JSON. A body over the
    limit counts as empty."""
    body, complete = read_body(response, MAX_ERROR)
    text = decode_body(_encoding(headers), body) if complete else None
    body = result.target.upstream.redaction.redact(text or b"")
    headers = [pair for pair in headers if pair[0] != "content-encoding"]
    document = error_document(body)
    if document is not None and body.startswith(EVENT_STARTS):
        body, headers = orjson.dumps(document), _for_json_body(headers)
    return body, document, headers


def _encoding(headers: Headers) -> str:
    return ", ".join(value for name, value in headers if name == "content-encoding")


def _for_json_body(headers: Headers) -> Headers:
    """The headers for a JSON body that replaces the upstream's."""
    other_headers = [pair for pair in headers if not pair[0].startswith(_BODY_HEADERS)]
    return [*other_headers, ("content-type", "application/json")]


def failure_message(document: Any) -> str:
    """The message for an error event of an unknown kind."""
    inner = document.get("response", document) if isinstance(document, dict) else document
    return f"The upstream failed{_quoted(error_text(inner))}."
