"""Tokens in query strings that gunicorn writes to its access log."""

from __future__ import annotations

import shlex

from engine.offline.check.audit import AuditCase

_VARIABLE = "GUNICORN_CMD_ARGS"
_LOGS = ("--access-logfile", "--log-config", "--log-syslog")
_WITH_QUERY = ("%(q)s", "%(r)s", "%(U)s?%(q)s")


def check(case: AuditCase) -> None:
    if not _logs_queries(case.environ.get(_VARIABLE, "")):
        return
    warned: set[str] = set()
    for route in case.plan.routes:
        spec = case.config.specs[route.operation.spec]
        names = [carrier.name for carrier in route.carriers if carrier.kind == "query"]
        if names and spec.name not in warned:
            warned.add(spec.name)
            message = f"tokens may be sent as '?{names[0]}=', and {_VARIABLE} logs query strings"
            hint = "remove %(q)s and %(r)s from --access-logformat, or the query from `token`"
            at = (*spec.at, "token") if spec.token else spec.at
            case.warn(at, "MW407", message, hint, key=True)


def _logs_queries(arguments: str) -> bool:
    """Whether gunicorn's arguments log query strings, as its default format does."""
    try:
        words = shlex.split(arguments)
    except ValueError:
        words = arguments.split()
    options = dict(zip(words, [*words[1:], ""], strict=False))
    options |= {key: text for key, _, text in (word.partition("=") for word in words) if text}
    if not any(options.get(name) for name in _LOGS):
        return False
    form = options.get("--access-logformat", "")
    return not form or any(field in form for field in _WITH_QUERY)
