"""Tokens in the query string, under a gunicorn that writes query strings down."""

from __future__ import annotations

import shlex

from engine.offline.audit import Case

_VARIABLE = "GUNICORN_CMD_ARGS"
_LOGS = ("--access-logfile", "--log-config", "--log-syslog")
_WITH_QUERY = ("%(q)s", "%(r)s", "%(U)s?%(q)s")


def check(case: Case) -> None:
    if not _logs_queries(case.environ.get(_VARIABLE, "")):
        return
    warned: set[str] = set()
    for route in case.plan.routes:
        spec = case.config.specs[route.operation.spec]
        names = [carrier.name for carrier in route.carriers if carrier.kind == "query"]
        if names and spec.name not in warned:
            warned.add(spec.name)
            message = f"tokens may come as '?{names[0]}=', and {_VARIABLE} logs query strings"
            hint = "leave %(q)s and %(r)s out of --access-logformat, or out of `token` the query"
            at = (*spec.at, "token") if spec.token else spec.at
            case.warn(at, "MW407", message, hint, key=True)


def _logs_queries(arguments: str) -> bool:
    """Whether gunicorn's arguments write an access log with query strings; its own format does."""
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
