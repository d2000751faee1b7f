import json

import jwt as pyjwt
import pytest

from engine.callers.jwt.refusal import TokenRefused
from engine.callers.jwt.registered_claims import check_registered
from tests.support.each import each
from tests.support.signed_tokens import ENTRY, NOW, claims, issuers

(ISSUER,) = issuers(ENTRY % "")
HOUR = 3_600
SECRET = "0" * 64
TIMES = (
    *(0, 1, -1, NOW - HOUR, NOW + HOUR, NOW - HOUR + 0.5, NOW + HOUR + 0.5, 1e308, 10**30),
    *(str(NOW - HOUR), str(NOW + HOUR), "", "soon", "1e9", [], [NOW + HOUR], {}),
)
LOOSE_TIMES = (
    *(True, False, "1_0", f" {NOW - HOUR}", f"{NOW - HOUR}\n", "+5"),
    *("\u0661\u0662", "\uff11\uff12", "\u0967"),  # digits of other scripts
)
"""Times that Python reads and JSON does not have."""
TEXTS = ("", "x", ISSUER.issuer, "modelway", "Modelway", 0, 7, True, [], {}, ["modelway"])
VALUES = [
    *((name, value) for name in ("exp", "nbf", "iat") for value in TIMES),
    *((name, value) for name in ("iss", "sub", "jti") for value in TEXTS),
    *(("aud", value) for value in TEXTS),
    *(("aud", value) for value in (["x", "modelway"], ["x"], ["modelway", 1], [["modelway"]])),
    *((name, None) for name in claims()),
]


def refusal(now: float = NOW, leeway: str = "0s", **changes: object) -> str:
    (issuer,) = issuers(ENTRY.replace("leeway: 0s", f"leeway: {leeway}") % "")
    with pytest.raises(TokenRefused) as raised:
        check_registered(issuer, claims(**changes), now)
    assert raised.value.is_known
    return str(raised.value)


def is_valid(read: dict[str, object]) -> bool:
    try:
        check_registered(ISSUER, read, NOW)
    except TokenRefused:
        return False
    return True


def is_valid_for_pyjwt(read: dict[str, object]) -> bool:
    # Encoded as a JWS, as PyJWT does not encode claims that it would refuse.
    secret = pyjwt.PyJWS().encode(json.dumps(read).encode(), SECRET, "HS256")
    required = {"require": ["exp", "iss", "aud"]}
    audience, issuer = "modelway", ISSUER.issuer
    try:
        pyjwt.decode(secret, SECRET, ["HS256"], required, audience=audience, issuer=issuer)
    except pyjwt.PyJWTError:
        return False
    return True


@each("name,value", VALUES)
def test_claims_are_valid_if_pyjwt_says_so(name, value):
    read = claims(**{name: value})
    assert is_valid(read) is is_valid_for_pyjwt(read)


@each("name,value", [(name, value) for name in ("nbf", "iat") for value in LOOSE_TIMES])
def test_a_time_that_only_python_reads_is_none(name, value):
    read = claims(**{name: value})
    assert is_valid_for_pyjwt(read)
    assert not is_valid(read)


def test_null_is_a_claim():
    for name in ("nbf", "iat", "sub", "jti"):
        read = {**claims(), name: None}
        assert not is_valid(read)
        assert not is_valid_for_pyjwt(read)


def test_a_token_ends_with_its_last_second():
    assert "expired" in refusal(exp=NOW)
    assert "not valid yet" in refusal(nbf=NOW + 1)
    check_registered(ISSUER, claims(exp=NOW + 1, nbf=NOW), NOW)


def test_clocks_may_differ_by_the_leeway():
    assert "expired" in refusal(now=NOW + 30, leeway="30s", exp=NOW)
    assert "not valid yet" in refusal(now=NOW - 31, leeway="30s", nbf=NOW)
    (issuer,) = issuers(ENTRY.replace("leeway: 0s", "leeway: 30s") % "")
    check_registered(issuer, claims(exp=NOW), NOW + 29)
    check_registered(issuer, claims(nbf=NOW), NOW - 30)


def test_a_refusal_says_what_is_wrong():
    assert refusal(exp=None) == "The token lacks one of the claims exp, iss and aud."
    assert refusal(aud=["x"]) == "The token was issued for another audience."
    assert refusal(sub=7) == "The token is not a valid JSON Web Token."
