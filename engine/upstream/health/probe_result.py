"""The result of a probe, as one number that the workers of a machine share.

The law: 0 for a healthy server, the status of an unhealthy answer, else the negative index of a
reason in `_WORDS`. Two versions of the program may share a machine, so reasons keep their index,
and new ones are appended.
"""

from __future__ import annotations

from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.upstream.client import failures
from engine.upstream.client.failures import UpstreamFailure
from engine.upstream.client.response import IncomingResponse

MAX_BODY = 4_000_000
"""The largest health page in bytes; its content is ignored. A list of models may have 100 KB."""

HEALTHY = 0
_NO_ANSWER, _ENDLESS, _TOO_LONG, _NO_CREDENTIAL, _OTHER = range(-1, -6, -1)
_REASONS = (
    "",
    "no answer within the timeout of the probe",
    "the body of the answer did not end within the timeout of the probe",
    "the body of the answer is longer than 4 MB",
    "there is no credential for the probe",
    "no complete answer",
)
_FAILURES: tuple[type[UpstreamFailure], ...] = (
    failures.ConnectFailed,
    failures.ConnectTimeout,
    failures.FirstByteTimeout,
    failures.IdleTimeout,
    failures.Reset,
    failures.Truncated,
    failures.ProtocolFailure,
    failures.HeadersTooLarge,
)
_WORDS = (*_REASONS, *(failure.words for failure in _FAILURES))
_RESULTS = {failure: -position for position, failure in enumerate(_FAILURES, len(_REASONS))} | {
    failures.TotalTimeout: _NO_ANSWER
}


def reason(result: float) -> str:
    """Why a result is not healthy, for operators; "" for a healthy one."""
    code = int(result)
    if code > 0:
        return f"status {code}"
    return _WORDS[-code if -code < len(_WORDS) else -_OTHER]


def of_failure(failure: CredentialUnavailable | UpstreamFailure) -> int:
    """The result of a probe that got no answer."""
    if isinstance(failure, CredentialUnavailable):
        return _NO_CREDENTIAL
    return _RESULTS.get(type(failure), _OTHER)


def of_body(response: IncomingResponse) -> int:
    """The result of reading the body of a healthy status: HEALTHY if it is complete."""
    size = 0
    try:
        while data := response.read():
            size += len(data)
            if size > MAX_BODY:
                return _TOO_LONG
    except UpstreamFailure as failure:
        if isinstance(failure.without_traceback(), failures.TotalTimeout):
            return _ENDLESS
        return of_failure(failure)
    return HEALTHY
