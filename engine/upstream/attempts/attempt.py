"""One attempt at one target: send the request, wait for the first content, classify the result."""

from __future__ import annotations

import time

import orjson

from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.credentials.interface.credential import LiveCredential
from engine.dialects import Dialect, get
from engine.dialects.interface.error_forms import wait_in
from engine.dialects.interface.streams import Framing
from engine.exchange.exchange import Exchange
from engine.transforms.response_edits import ResponseEditor
from engine.transforms.template import TemplateValues
from engine.translations import AnyExchange
from engine.upstream.client.failures import (
    InvalidAnswer,
    NoCredential,
    ProtocolFailure,
    UpstreamFailure,
)
from engine.upstream.client.response import EVENT_STREAM, JSON, IncomingResponse, media_type
from engine.upstream.responses.assembled_response import assembly_of
from engine.upstream.responses.attempt_result import AttemptResult, note_unused
from engine.upstream.responses.filtered_response import edited_response
from engine.upstream.responses.first_content import (
    ErrorFirst,
    FirstContent,
    Misframed,
    read_first_content,
)
from engine.upstream.responses.framed_response import framed_for
from engine.upstream.responses.stream_judge import ReportedError
from engine.upstream.responses.translated_response import translated_response
from engine.upstream.targets import retry
from engine.upstream.targets.retry import note_wait, set_wait
from engine.upstream.targets.target import Target
from engine.upstream.targets.target_state import OpenAttempt
from engine.values.errors import EventTooLarge
from engine.values.upstream_request import UpstreamRequest

_Failure = ErrorFirst | ReportedError | EventTooLarge | UpstreamFailure

_WITH_WAIT = frozenset({429, 503})
"""The statuses of errors whose body may name the time to wait."""


def attempt(
    target: Target,
    credential: LiveCredential | None,
    request: UpstreamRequest,
    exchange: Exchange,
    dialect: Dialect,
    timeout: float,
    translated: AnyExchange | None = None,
) -> AttemptResult:
    """Send a request to a target and wait for the first content, `timeout` seconds in all.

    The credential is added here. The response to a `translated` request is translated back."""
    result = AttemptResult(
        target, credential, path=request.path, number=exchange.record.attempt_count
    )
    if target.state.observers:
        result.open = OpenAttempt(target.state.observers, exchange.record, credential=credential)
    content = FirstContent(b"")
    try:
        if credential is not None:
            timeout = _apply(credential, request, timeout)
        if target.upstream.responses_websocket and translated is None:
            received = _send_message(target, request, exchange, timeout)
        else:
            received = target.client.send(
                request.method, request.target, request.headers, request.body, timeout
            )
        result.response = received
        if result.open is not None:
            result.open.headers = received.headers
        if credential is not None and dialect.transparent and received.status == 401:
            credential.renew()  # for the next request: this response is relayed
        try:
            _open(result, received, request, exchange, dialect, translated, content)
        except Misframed as misframed:
            received.unread(misframed.with_traceback(None).data)
            content.first = b""
            _open(result, received, request, exchange, dialect, translated, content, look=True)
    except (ErrorFirst, ReportedError, EventTooLarge, UpstreamFailure) as failure:
        # The filter that failed refers to its failure, and a traceback to the filter.
        _fail(result, failure.with_traceback(None), exchange, dialect, content)
    except BaseException as interruption:
        _cancel(result, interruption, exchange, dialect, content)
        raise
    else:
        if result.failure:
            if received.status in _WITH_WAIT:
                note_wait(received, result.response)
            _report_failure(result)
    return result


def _send_message(
    target: Target, request: UpstreamRequest, exchange: Exchange, timeout: float
) -> IncomingResponse:
    """The response to a request, which is sent over a WebSocket if it came over one."""
    internal = exchange.connection.internal
    if internal is None or internal.sockets is None:
        return target.client.send(
            request.method, request.target, request.headers, request.body, timeout
        )
    response: IncomingResponse = internal.sockets.send(
        target.client, target.upstream.timeouts, request, timeout
    )
    return response


def _fail(
    result: AttemptResult,
    failure: _Failure,
    exchange: Exchange,
    dialect: Dialect,
    content: FirstContent,
) -> None:
    """Record and release an attempt that broke off."""
    _classify(result, failure, dialect, content)
    is_complete = note_unused(result, exchange, dialect, content.first)
    result.is_unusable = is_complete and isinstance(failure, InvalidAnswer)
    _report_failure(result)
    result.close()


def _cancel(
    result: AttemptResult,
    interruption: BaseException,
    exchange: Exchange,
    dialect: Dialect,
    content: FirstContent,
) -> None:
    """Release an attempt that ends before its result: the caller has disconnected, or a defect."""
    note_unused(result, exchange, dialect, content.first)
    result.close()
    # Quota is not refunded to a caller who disconnects: the upstream may process the request.
    exchange.record.reached_upstream |= not isinstance(interruption, Exception)


def _report_failure(result: AttemptResult) -> None:
    """Tell the observers of the target if the attempt failed."""
    if result.open is not None and result.failure:
        result.open.response = result.response
        result.open.failed(result.failure)


def _open(
    result: AttemptResult,
    response: IncomingResponse,
    request: UpstreamRequest,
    exchange: Exchange,
    dialect: Dialect,
    translated: AnyExchange | None,
    content: FirstContent,
    *,
    look: bool = False,
) -> None:
    """Wrap a response for relaying, judge its status, check its upgrade and read its first
    `content`. Raises Misframed for one that has to be opened again with a `look` at its bytes."""
    target = result.target
    # An answer of JSON that is edited, or becomes a stream, is looked at before that; any other one
    # when it is relayed.
    if translated is not None:
        look, wanted = look or translated.request.stream, None
    else:
        value = exchange.content.value
        wanted = dialect.wanted_framing(exchange.path, exchange.query, value)
        if wanted is Framing.EVENTS:
            look = True
        content.several = dialect.request_fields.output.wants_several(value)
    if look or target.edits.responses or response.header("content-type") != JSON:
        response = result.response = framed_for(
            target, response, exchange, dialect, translated, content, look=look
        )
        if wanted is Framing.WHOLE:
            translated = assembly_of(response, exchange, dialect)
            content.framing = content.framing if translated is None else Framing.UNKNOWN
    if translated is not None or target.converts_answers:
        response = _converted(result, request.method, exchange, dialect, translated)
    result.failure = "" if dialect.transparent else retry.status_class(response.status)
    if exchange.upgrade is not None and response.status < 300:
        exchange.upgrade.redact = target.upstream.redaction.redact
        exchange.upgrade.check(response)
    elif response.status < 400:
        beat = target.upstream.heartbeat if dialect.heartbeat else None
        path = exchange.path if exchange.method == "POST" else ""
        result.content = read_first_content(
            response, dialect, beat, content, path, translated is not None
        )


def _converted(
    result: AttemptResult,
    method: str,
    exchange: Exchange,
    dialect: Dialect,
    translated: AnyExchange | None,
) -> IncomingResponse:
    """The response as it is relayed: with the edits of the target's transforms, and translated,
    which becomes that of the result."""
    target, response = result.target, result.response
    assert response is not None
    if target.converts_answers:
        body_dialect = _body_dialect(dialect, translated)
        if target.upstream.cache_in_input and body_dialect.meter is not None:
            result.cache_counted_twice = body_dialect.meter.excludes_cache
        if target.edits.responses:
            response = edited_response(response, _editor(target, exchange), method, body_dialect)
            result.response = response
    if translated is not None:
        result.dropped = translated.dropped
        response = result.response = translated_response(
            response,
            translated.for_answer(),
            dialect,
            exchange.request_id,
            target.upstream.redaction,
            cache_counted_twice=result.cache_counted_twice,
        )
    return response


def _body_dialect(dialect: Dialect, translated: AnyExchange | None) -> Dialect:
    """The dialect of the body that the target sends."""
    return dialect if translated is None else get(translated.translation.target.dialect)


def _apply(credential: LiveCredential, request: UpstreamRequest, timeout: float) -> float:
    """Add a credential to a request. Returns the rest of the `timeout`. Raises NoCredential."""
    start = time.monotonic()
    try:
        credential.apply(request, timeout)
    except CredentialUnavailable as missing:
        failure = NoCredential(missing.words, missing.detail, lasting=missing.lasting)
        raise failure from missing
    return timeout - (time.monotonic() - start)


def _editor(target: Target, exchange: Exchange) -> ResponseEditor:
    """The edits of a target's transforms for a response."""
    values = TemplateValues(exchange, target.upstream.name, target.model or exchange.model.name)
    return ResponseEditor(target.edits.responses, values)


def _classify(
    result: AttemptResult, failure: _Failure, dialect: Dialect, content: FirstContent
) -> None:
    """Set the class and the error of an attempt that broke off."""
    if isinstance(failure, ErrorFirst | ReportedError):
        redacted = result.target.upstream.redaction.redact(orjson.dumps(failure.document))
        result.document = orjson.loads(redacted)
        error = dialect.stream_error(result.document)
        if error is not None and isinstance(failure, ErrorFirst) and failure.status:
            error = error._replace(status=failure.status)
        result.stream_error = error
        result.failure = retry.error_event_class(result.stream_error and result.stream_error.status)
        if result.response is not None:
            set_wait(result.response, wait_in(result.document))
    elif isinstance(failure, EventTooLarge):
        result.failure, result.error = "reset", ProtocolFailure(str(failure))
    else:
        response = result.response
        is_array = content.framing is Framing.ARRAY and not result.target.edits.responses
        stream = is_array or (
            response is not None
            and not dialect.transparent
            and media_type(response) == EVENT_STREAM
        )
        result.failure = retry.failure_class(failure.kind, stream=stream) or "fatal"
        result.error = failure.without_traceback()
