"""A test that names a token or an operation that does not exist: it can only fail."""

from __future__ import annotations

from collections.abc import Iterable

from engine.offline.check.audit import AuditCase
from engine.source.problem import Path
from engine.source.suggestion import did_you_mean


def check(case: AuditCase) -> None:
    tests = case.config.source.value.get("tests") or ()
    tokens = [caller.name for caller in case.config.tokens.values()]
    operations = [route.operation.id for route in case.plan.routes]
    for index, test in enumerate(tests):
        at: Path = ("tests", index)
        request, expect = (test or {}).get("request") or {}, (test or {}).get("expect") or {}
        _check(case, (*at, "request", "token"), request.get("token"), tokens, "token")
        _check(case, (*at, "expect", "operation"), expect.get("operation"), operations, "operation")
        upstream = expect.get("upstream")
        _check(case, (*at, "expect", "upstream"), upstream, case.config.upstreams, "upstream")


def _check(case: AuditCase, at: Path, name: object, names: Iterable[str], kind: str) -> None:
    if isinstance(name, str) and name not in names:
        case.warn(at, "MW331", f"unknown {kind} '{name}'", did_you_mean(name, names))
