"""Judging a value in a child process, where a pattern may take long.

A call of a library in C lets nothing else of the process run, and nothing ends it. So values with
texts for which a pattern may take long are judged by a child, which is killed if it takes too long:
that costs one request.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import jsonschema_rs
from gevent.lock import BoundedSemaphore

from engine.process.child_process import ChildFailed, ChildTimeout
from engine.process.computation import compute_in_child
from engine.process.preemption import PREEMPTION
from engine.spec.schemas.schema_cost import TOO_EXPENSIVE
from engine.spec.schemas.slow_patterns import ALL_WAYS, NO_PATTERNS, SlowPatterns
from engine.values.errors import GatewayError, too_many_large_requests

log = logging.getLogger("modelway")

SECONDS = 5.0
"""How long one value may take."""
WAIT_SECONDS = 30.0
"""How long a value may wait for others."""
_MESSAGE = (
    f"Validating the request would take more than {SECONDS:g} s, because its document or a rule of "
    "this gateway has patterns that take long for such texts. Send shorter texts."
)
EXCERPT = 200
"""Characters of a schema in the log."""
_place = BoundedSemaphore(1)
"""One value at a time: large answers need children as well."""
Verdict = TypeVar("Verdict")


def judge_in_child(judge: Callable[[], Verdict], schema: str) -> Verdict:
    """What a function returns in a child process; `schema` is what the log says of it. Raises
    GatewayError 400 if that takes too long or `judge` raises one, and 503 if others do, or there
    can be no child."""
    PREEMPTION.end()  # it computes nothing itself
    if not _place.acquire(timeout=WAIT_SECONDS):
        raise too_many_large_requests()
    try:
        verdict = compute_in_child(lambda: _verdict(judge), SECONDS)
    except ChildTimeout as error:
        log.warning("a value took more than %g s to judge by the schema %s", SECONDS, schema)
        raise GatewayError(400, TOO_EXPENSIVE, _MESSAGE) from error
    except ChildFailed as failure:
        log.error("the process that judged a value by the schema %s %s", schema, failure)
        raise too_many_large_requests() from failure
    finally:
        _place.release()
    if isinstance(verdict, _Refusal):
        raise GatewayError(verdict.status, verdict.code, verdict.message, param=verdict.param)
    return verdict


class _Refusal:
    """A GatewayError of the child."""

    def __init__(self, error: GatewayError) -> None:
        self.status, self.code = error.status, error.code
        self.message, self.param = error.message, error.param


def _verdict(judge: Callable[[], Verdict]) -> Verdict | _Refusal:
    try:
        return judge()
    except GatewayError as error:
        return _Refusal(error)


class GuardedValidator:
    """The validator of a schema that has slow patterns; `text` is its JSON."""

    __slots__ = ("_compiled", "_slow", "_text")

    def __init__(self, compiled: jsonschema_rs.Validator, slow: SlowPatterns, text: str) -> None:
        self._compiled, self._slow, self._text = compiled, slow, text

    def is_valid(self, value: object) -> bool:
        """Whether the schema accepts a JSON value. Raises GatewayError if that takes too long."""
        if self.may_take_long(value):
            return self.judge_in_child(lambda: self._compiled.is_valid(value))
        return self._compiled.is_valid(value)

    def iter_errors(self, value: object) -> Iterator[jsonschema_rs.ValidationError]:
        """The errors of a JSON value for which no pattern takes long."""
        return self._compiled.iter_errors(value)

    def may_take_long(self, value: object) -> bool:
        """Whether a pattern may take longer for a text of a value than others should wait."""
        return self._slow.may_take_long(value)

    def judge_in_child(self, judge: Callable[[], Verdict]) -> Verdict:
        """What a function that judges by this schema returns in a child process, where it may take
        long. Raises GatewayError."""

        def judge_exactly() -> Verdict:
            self._compiled = draft_validator(json.loads(self._text), ALL_WAYS)
            self._slow = NO_PATTERNS
            return judge()

        return judge_in_child(judge_exactly, self._text[:EXCERPT])


def draft_validator(
    schema: Any, patterns: jsonschema_rs.FancyRegexOptions | None = None
) -> jsonschema_rs.Validator:
    """The validator of a schema that refers to no other. Raises ValueError for a broken one."""
    return jsonschema_rs.Draft202012Validator(
        schema, validate_formats=True, offline=True, pattern_options=patterns
    )
