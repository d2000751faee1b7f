"""The caller of a verified token: the entry of `callers.jwt` that decides about it, the claims that
this entry maps, and its fixed rights. The first entry decides whose issuer, audience and `require`
a token's claims meet.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from engine.callers.jwt.refusal import TokenRefused
from engine.config.callers import JwtIssuer
from engine.values.caller import Caller
from engine.values.json_pointer import ClaimPlace
from engine.values.quota import TOKEN_FIELDS, Quota, token_quota
from engine.values.quota_sharers import bounded
from engine.values.wildcard import matches

MAX_NAME = 200
"""Characters of a caller's name, its prefix aside, and of a team's."""
MAX_PATTERNS = 200
_PRIORITIES = ("low", "normal", "high")
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters, marks and symbols that are printable and show nothing (Default_Ignorable_Code_Point of
Unicode, and the blank pattern of Braille)."""
MAX_TIME = 253_402_300_799.0
"""The end of the year 9999, the last that can be shown."""


def meets(issuer: JwtIssuer, claims: Mapping[str, Any]) -> bool:
    """Whether a token has all that the entry requires."""
    for place, patterns in issuer.require:
        texts = _texts(place.read(claims))
        if not any(matches(text, pattern) for text in texts for pattern in patterns):
            return False
    return True


def caller_of(
    issuer: JwtIssuer,
    claims: Mapping[str, Any],
    currency: str,
    carried: Sequence[ClaimPlace] = (),
) -> Caller:
    """The caller of a verified token, with the claims at the places `carried`, those of them that
    are texts, numbers or booleans, bounded. It ends with the token. Raises TokenRefused for a claim
    of the wrong form."""
    values = {field: place.read(claims) for field, place in issuer.claims.items()}
    rights = issuer.rights
    changes: dict[str, Any] = {
        "name": rights.name + _name(issuer, values.pop("name")),
        "expires": _expiry(claims["exp"]) + issuer.leeway,
    }
    for field in ("models", "operations"):
        if field in issuer.claims:
            changes[field] = _patterns(issuer, field, values[field])
    if values.get("team") is not None:
        changes["team"] = _text(issuer, "team", values["team"])
    if values.get("priority") is not None:
        if values["priority"] not in _PRIORITIES:
            raise _invalid(issuer, "priority", "low, normal or high")
        changes["priority"] = values["priority"]
    if limits := _limits(issuer, values, currency):
        kinds = {limit.kind for limit in limits}
        others = [limit for limit in rights.limits if limit.kind not in kinds]
        changes["limits"] = (*others, *limits)
    if carried:
        read = {place.text: place.read(claims) for place in carried}
        changes["claims"] = {
            place: bounded(_plain(v)) for place, v in read.items() if _is_scalar(v)
        }
    return replace(rights, **changes)


def _expiry(value: object) -> float:
    """NumericDate (RFC 7519 2) in Unix seconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MAX_TIME:
        raise TokenRefused("The claim 'exp' of the token is not a time.", is_known=True)
    return float(value)


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float) and value != ""


def _name(issuer: JwtIssuer, value: object) -> str:
    if value is None:
        raise TokenRefused(
            f"The token has no claim '{issuer.claims['name'].text}', which names its bearer.",
            is_known=True,
        )
    return _text(issuer, "name", value)


def _text(issuer: JwtIssuer, field: str, value: object) -> str:
    """A claim as a name: printable, so that it can stand in logs and tables, without what turns
    text around or cannot be seen, in which names would look like others."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not _is_name(text):
        raise _invalid(issuer, field, f"a printable text of at most {MAX_NAME} characters")
    return text


def _is_name(text: str) -> bool:
    return (
        0 < len(text) <= MAX_NAME
        and text.isprintable()
        and text == text.strip()
        and (text.isascii() or _INVISIBLE.search(text) is None)
    )


def _patterns(issuer: JwtIssuer, field: str, value: object) -> tuple[str, ...]:
    """Names of models or operations; without the claim those of the entry, else none."""
    if value is None:
        fixed: tuple[str, ...] | None = getattr(issuer.rights, field)
        return () if fixed is None else fixed
    names = value.split() if isinstance(value, str) else value
    if not isinstance(names, list) or len(names) > MAX_PATTERNS:
        raise _invalid(issuer, field, f"a list of at most {MAX_PATTERNS} names")
    if not all(isinstance(name, str) for name in names):
        raise _invalid(issuer, field, "a list of texts")
    return tuple(names)


def _limits(issuer: JwtIssuer, values: Mapping[str, Any], currency: str) -> list[Quota]:
    limits = []
    for field, value in values.items():
        if value is None or field not in TOKEN_FIELDS:
            continue
        try:
            limits.append(token_quota(field, value, currency, issuer.warn_at))
        except (TypeError, ValueError) as error:
            raise _invalid(issuer, field, "a limit as in `tokens:`") from error
    return limits


def _texts(value: object) -> list[str]:
    """The texts of a claim: itself, or the entries of a list."""
    entries = value if isinstance(value, list) else [value]
    return [_plain(entry) for entry in entries if isinstance(entry, str | int | bool)]


def _plain(value: str | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _invalid(issuer: JwtIssuer, field: str, expected: str) -> TokenRefused:
    place = issuer.claims[field].text
    return TokenRefused(f"The claim '{place}' of the token is not {expected}.", is_known=True)


def choose_issuer(issuers: Sequence[JwtIssuer], claims: Mapping[str, Any]) -> JwtIssuer:
    """The entry for these claims; one that they do not meet (see `meets`) if they meet none. Raises
    TokenRefused for claims of no issuer, and of none for this audience."""
    first, reason = None, "The issuer of the token is not accepted here."
    for entry in issuers:
        if entry.issuer != claims.get("iss"):
            continue
        if not is_for(claims, entry.audience):
            reason = "The token was issued for another audience."
            continue
        if meets(entry, claims):
            return entry
        first = first or entry
    if first is None:
        raise TokenRefused(reason)
    return first


def check_claims(issuer: JwtIssuer, claims: Mapping[str, Any]) -> None:
    """Raises TokenRefused for verified claims that do not meet the entry, and of a revoked
    token."""
    if not meets(issuer, claims):
        raise TokenRefused("The token lacks a claim that is required here.", is_known=True)
    for name, revoked in (("jti", issuer.revoked), ("sub", issuer.revoked_subjects)):
        value = claims.get(name)
        if isinstance(value, str) and value in revoked:
            raise TokenRefused("The token was revoked.", is_known=True)


def is_for(claims: Mapping[str, Any], audience: Sequence[str]) -> bool:
    """Whether a token is for one of these (RFC 7519 4.1.3)."""
    value = claims.get("aud")
    names = value if isinstance(value, list) else [value]
    return any(name in audience for name in names if isinstance(name, str))
