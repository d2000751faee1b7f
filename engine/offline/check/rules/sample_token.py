"""A sample token of an issuer (`callers.jwt.*.sample`) that its entry would not accept, whatever
its signature and its age."""

from __future__ import annotations

from engine.callers.jwt.compact_form import unverified
from engine.callers.jwt.refusal import TokenRefused
from engine.callers.jwt.rights import caller_of, is_for, meets
from engine.config.callers import JwtIssuer
from engine.offline.check.audit import AuditCase

_HINT = "`modelway token inspect FILE` shows its claims; mend the entry, or take another sample"


def check(case: AuditCase) -> None:
    for issuer in case.config.jwt:
        if issuer.sample is not None and (reason := _refusal(issuer, case.config.currency)):
            case.warn((*issuer.at, "sample"), "MW479", reason, _HINT)


def _refusal(issuer: JwtIssuer, currency: str) -> str:
    """Why the sample would be refused, "" if it would not."""
    assert issuer.sample is not None
    try:
        _, claims = unverified(issuer.sample.read_text("utf-8").strip())
        if claims.get("iss") != issuer.issuer:
            return f"the sample's issuer (iss) is {claims.get('iss')!r}, not {issuer.issuer!r}"
        if not is_for(claims, issuer.audience):
            return f"the sample's audience (aud) is {claims.get('aud')!r}"
        if not isinstance(claims.get("exp"), int | float):
            return "the sample has no expiry (exp)"
        if not meets(issuer, claims):
            return "the sample lacks what `require` demands"
        caller_of(issuer, claims, currency)
    except (OSError, UnicodeError) as error:
        return f"the sample cannot be read: {error}"
    except TokenRefused as refusal:
        return str(refusal)
    return ""
