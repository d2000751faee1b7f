"""How exchanges end."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """How an exchange ended, as the ledger, the access log and the metrics name it."""

    OPEN = ""
    """The exchange has not ended."""
    COMPLETE = "complete"
    CALLER_LEFT = "caller_left"
    """The caller closed the connection before the response was complete."""
    UPSTREAM_CUT = "upstream_cut"
    """The upstream's response ended too early, after its first content."""
    SHUTDOWN = "shutdown"
    """The worker stopped before the response was complete."""
    REVOKED = "revoked"
    """The caller's token was revoked or expired before the response was complete."""
    REFUSED = "refused"
    """Status 4xx."""
    FAILED = "failed"
    """Status 5xx."""

    @classmethod
    def of_status(cls, status: int) -> Outcome:
        """The outcome of a response that was sent completely."""
        if status < 400:
            return cls.COMPLETE
        return cls.REFUSED if status < 500 else cls.FAILED
