"""A token that has expired."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from engine.offline.check.audit import AuditCase


def check(case: AuditCase) -> None:
    now = time.time()
    for index, caller in enumerate(case.config.tokens.values()):
        if caller.expires is not None and caller.expires <= now:
            moment = datetime.fromtimestamp(caller.expires, UTC).isoformat(timespec="minutes")
            message = f"token '{caller.name}' expired at {moment}: requests with it are refused"
            hint = "write a later date, or remove the token"
            case.warn(("tokens", index, "expires"), "MW416", message, hint)
