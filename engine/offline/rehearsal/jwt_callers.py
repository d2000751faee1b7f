"""Callers with a JSON Web Token of another issuer, by its claims alone: neither its signature nor
its age is judged, which `modelway token inspect` does."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from engine.app.services.plan_needs import carried_claims
from engine.callers.jwt.compact_form import has_form, unverified
from engine.callers.jwt.rights import MAX_TIME, caller_of, check_claims, choose_issuer
from engine.plan.plan import Plan
from engine.values.caller import Caller
from engine.values.json_pointer import ClaimPlace

log = logging.getLogger("modelway")


def caller_of_claims(plan: Plan, claims: Mapping[str, Any]) -> Caller:
    """The caller of a token with these claims. Raises TokenRefused."""
    config = plan.config
    issuer = choose_issuer(config.jwt, claims)
    check_claims(issuer, claims)
    places = [ClaimPlace.parse(text) for text in carried_claims(plan)]
    valid = {**claims, "exp": MAX_TIME}
    return config.teams.member(caller_of(issuer, valid, config.currency, places))


class UnverifiedTokens:
    """What a rehearsal has in place of `Bearers`: the bearers of tokens as they are."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.is_signed = has_form

    def caller(self, secret: str) -> tuple[Caller, str]:
        """The caller, without an identity. Raises TokenRefused."""
        _, claims = unverified(secret)
        caller = caller_of_claims(self._plan, claims)
        log.warning("signature and age of the token are not judged: see `modelway token inspect`")
        return caller, ""
