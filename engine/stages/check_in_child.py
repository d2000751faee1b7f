"""Checking a body in a child process, where a pattern may take long.

A pattern that looks around or refers back takes a time that grows with the square of a text: half
a minute for 120 KB. That is one call of a library in C, in which nothing else of the process runs,
and which nothing ends. So texts for which it may be long are judged by a child, which is killed if
it takes too long: that costs one request.
"""

from __future__ import annotations

import logging
from functools import partial

from gevent.lock import BoundedSemaphore

from engine.process.child_process import ChildFailed, ChildTimeout
from engine.process.computation import compute_in_child
from engine.process.preemption import PREEMPTION
from engine.spec.schemas.refusal_messages import Refusal, explain
from engine.spec.schemas.schema_validator import TOO_EXPENSIVE, SchemaValidator
from engine.values.errors import GatewayError, too_many_large_requests

log = logging.getLogger("modelway")

SECONDS = 5.0
"""How long the check of one body may take."""
WAIT_SECONDS = 30.0
"""How long a body may wait for the checks of others."""
SHORT = 1_400
"""Bytes of a body of which no text takes long: 4 KB take 90 ms, with the search for the place."""
_LONG = 2_000_000
"""The sum of the squares of the lengths of texts that are judged here: about 5 ms."""
_MESSAGE = (
    f"Validating the request would take more than {SECONDS:g} s, because its document has patterns "
    "that take long for long texts. Send shorter texts."
)
_place = BoundedSemaphore(1)
"""One check at a time: large answers need children as well."""


def may_take_long(validator: SchemaValidator, value: object) -> bool:
    """Whether judging a JSON value may take a time that grows with the square of a text in it."""
    if not validator.has_slow_pattern:
        return False
    total = 0
    queue = [value]
    while queue:
        each = queue.pop()
        if isinstance(each, str):
            total += len(each) ** 2
        elif isinstance(each, list):
            queue += each
        elif isinstance(each, dict):
            queue += each.values()
            total += sum(len(name) ** 2 for name in each)
        if total > _LONG:
            return True
    return False


def check_apart(validator: SchemaValidator, value: object, operation: str) -> None:
    """Check a value in a child process. Raises GatewayError 400 if it is invalid or takes too long,
    and 503 if the checks of others do, or there can be no child."""
    PREEMPTION.end()  # it computes nothing itself
    if not _place.acquire(timeout=WAIT_SECONDS):
        raise too_many_large_requests()
    try:
        refusal = _in_child(validator, value, operation)
    finally:
        _place.release()
    if refusal is not None:
        raise refusal.error()


def _in_child(validator: SchemaValidator, value: object, operation: str) -> Refusal | None:
    if not validator.is_compiled:
        validator.compile()
    try:
        return compute_in_child(partial(_judge, validator, value), SECONDS)
    except ChildTimeout:
        log.warning("operation %s: the check of a body took more than %g s", operation, SECONDS)
        return Refusal("", TOO_EXPENSIVE, _MESSAGE)
    except ChildFailed as failure:
        log.error("operation %s: the process that checked a body %s", operation, failure)
        raise too_many_large_requests() from failure


def _judge(validator: SchemaValidator, value: object) -> Refusal | None:
    """The refusal of a value that is invalid."""
    try:
        return None if validator.is_valid(value) else explain(validator, value)
    except GatewayError as error:
        return Refusal(error.param, error.code, error.message)
