"""A token whose last moment is over: whoever shows it is refused."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from engine.offline.audit import Case


def check(case: Case) -> None:
    now = time.time()
    for index, caller in enumerate(case.config.tokens.values()):
        if caller.expires is not None and caller.expires <= now:
            moment = datetime.fromtimestamp(caller.expires, UTC).isoformat(timespec="minutes")
            message = f"token '{caller.name}' expired at {moment}: it is refused"
            hint = "give it a later date, or take the token out"
            case.warn(("tokens", index, "expires"), "MW416", message, hint)
