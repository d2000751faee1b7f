import base64
import hmac
import json
from hashlib import sha256

import gevent
import jwt as pyjwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm

from engine.callers.jwt.bearers import Bearers
from engine.callers.jwt.cached_load import MAX_AGE, MIN_INTERVAL, STALE_AGE
from engine.callers.jwt.identity import ends_of, issuer_identity, revocable
from engine.callers.jwt.key_set import KeySet
from engine.callers.jwt.refusal import KeysUnavailable, TokenRefused
from engine.config.teams import Teams
from engine.values.caller import Team
from tests.support.each import each
from tests.support.odd_tokens import ODD
from tests.support.signed_tokens import (
    ENTRY,
    ISSUER,
    NOW,
    claims,
    ec_key,
    ed_key,
    issuers,
    jwk,
    key_set,
    rsa_key,
    token,
)


def bearers(*more: str, keys=key_set, clock=lambda: NOW) -> Bearers:
    entries = issuers(*(ENTRY % part for part in more or ("",)))
    keys = KeySet("issuer", keys)
    return Bearers(entries, [keys] * len(entries), "USD", clock)


def refusal(secret: str, *more: str) -> str:
    with pytest.raises(TokenRefused) as raised:
        bearers(*more).caller(secret)
    return str(raised.value)


@pytest.mark.parametrize(
    ("key", "algorithm", "kid"),
    [
        (ec_key, "ES256", "ec"),
        (rsa_key, "RS256", "rsa"),
        (rsa_key, "PS512", "rsa"),
        (ed_key, "EdDSA", "ed"),
    ],
)
def test_a_signed_token_has_a_caller(key, algorithm, kid):
    caller, identity = bearers().caller(token(key=key(), algorithm=algorithm, kid=kid))
    assert caller.name == "login.example.com:ada"
    assert caller.expires == NOW + 86_400
    assert identity.startswith("jwt:")


def test_a_token_with_an_id_has_that_as_identity():
    _, identity = bearers().caller(token(claims(jti="7")))
    assert identity == revocable(ISSUER, "7", "ada")


def test_tokens_without_an_id_have_identities_of_their_own():
    found = bearers()
    first, second = (found.caller(token(claims(sub=name)))[1] for name in ("ada", "eve"))
    assert first != second
    assert ends_of(first)[0] == ends_of(second)[0] == issuer_identity(ISSUER)


def test_a_bearer_is_a_member_of_the_team_that_its_token_names():
    lab = Team("lab", models=("small",))
    entries, keys = issuers(ENTRY % ", claims: {name: sub, team: team}"), KeySet("i", key_set)
    found = Bearers(entries, [keys], "USD", lambda: NOW, teams=Teams({"lab": lab}))
    caller, _ = found.caller(token(claims(team="lab")))
    assert (caller.team, caller.teams) == ("lab", (lab,))


def test_a_revoked_token_is_refused():
    assert refusal(token(claims(jti="7")), ", revoked: ['7']") == "The token was revoked."


def test_an_entry_decides_by_what_it_requires():
    entries = (", require: {groups: admin*}, models: [large]", ", models: [small]")
    found = bearers(*entries)
    assert found.caller(token(claims(groups=["x", "admins"])))[0].models == ("large",)
    assert found.caller(token(claims(groups=["x"])))[0].models == ("small",)


def test_one_signature_is_verified_whatever_the_number_of_entries(monkeypatch):
    entries = [f", require: {{groups: g{number}}}, models: [m{number}]" for number in range(9)]
    found, verify, calls = bearers(*entries), ECAlgorithm.verify, []

    def counted(*arguments):
        calls.append(1)
        return verify(*arguments)

    monkeypatch.setattr(ECAlgorithm, "verify", counted)
    assert found.caller(token(claims(groups=["g8"])))[0].models == ("m8",)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("secret", "is_known"),
    [
        (token(claims(exp=NOW - 99)), True),
        (token(claims(nbf=NOW + 9_000)), True),
        (token(claims(exp=None)), True),
        (token(claims(events={})), True),
        (token(claims(exp=NOW - 99), key=ec_key(1)), False),
        (token(key=ec_key(1)), False),
        (token(claims(aud="other")), False),
    ],
)
def test_only_whoever_has_a_signed_token_is_known(secret, is_known):
    with pytest.raises(TokenRefused) as raised:
        bearers().caller(secret)
    assert raised.value.is_known is is_known


def test_a_token_that_meets_no_entry_is_refused():
    assert "required" in refusal(token(), ", require: {groups: admins}")


def test_a_verified_token_is_not_verified_again(monkeypatch):
    found, secret = bearers(), token()
    first = found.caller(secret)
    monkeypatch.setattr(ECAlgorithm, "verify", None)
    assert found.caller(secret) is not first
    assert found.caller(secret) == first


def test_the_tokens_that_were_used_last_are_cached(monkeypatch):
    verify, calls = ECAlgorithm.verify, []
    monkeypatch.setattr(ECAlgorithm, "verify", lambda *each: calls.append(1) or verify(*each))
    found = Bearers(issuers(ENTRY % ""), [KeySet("i", key_set)], "USD", lambda: NOW, size=2)
    first, second, third = (token(claims(sub=name)) for name in "abc")
    for secret in (first, second, first, third, first):
        found.caller(secret)
    assert len(calls) == 3
    found.caller(second)
    assert len(calls) == 4


def test_a_cached_token_ends_with_its_expiry():
    now = [NOW]
    found, secret = bearers(clock=lambda: now[0]), token()
    found.caller(secret)
    now[0] += 86_400
    with pytest.raises(TokenRefused, match="expired"):
        found.caller(secret)


def test_a_cached_token_ends_with_its_key():
    keys, now = [key_set()], [0.0]
    entries = issuers(ENTRY % "")
    found = Bearers(entries, [KeySet("i", lambda: keys[0], lambda: now[0])], "USD", lambda: NOW)
    secret = token()
    found.caller(secret)
    keys[0] = [key for key in key_set() if key["kid"] != "ec"]
    now[0] += 3_601
    found.caller(secret)  # the keys are renewed beside it
    gevent.sleep(0)
    with pytest.raises(TokenRefused):
        found.caller(secret)


def test_a_cached_token_is_not_accepted_by_keys_that_are_too_old():
    def load():
        if now[0]:
            raise KeysUnavailable("away")
        return key_set()

    now = [0.0]
    entries = issuers(ENTRY % "")
    found = Bearers(entries, [KeySet("i", load, lambda: now[0])], "USD", lambda: NOW)
    secret = token(claims(exp=NOW + 10**7))
    found.caller(secret)
    now[0] = MAX_AGE + STALE_AGE
    found.caller(secret)
    now[0] += MIN_INTERVAL
    with pytest.raises(KeysUnavailable, match="away"):
        found.caller(secret)


def encoded(value: object) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def by_hand(header: object, payload: object, signature: bytes = b"0" * 64) -> str:
    return f"{encoded(header)}.{encoded(payload)}.{encoded(signature)}"


def hmac_token(secret: bytes, algorithm: str = "HS256", kid: str = "ec") -> str:
    head = f"{encoded({'alg': algorithm, 'kid': kid})}.{encoded(claims())}"
    return f"{head}.{encoded(hmac.new(secret, head.encode(), sha256).digest())}"


def pem(key) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def with_another_signature(secret: str) -> str:
    return ".".join([*secret.split(".")[:2], token(claims(sub="eve")).split(".")[2]])


NONE = [
    by_hand({"alg": name, "kid": "ec"}, claims(), signature)
    for name in ("none", "None", "NONE", "nOnE", "", None, 0, ["ES256"], {"a": 1})
    for signature in (b"", b"0", b"0" * 64)
]
CONFUSED = [
    hmac_token(secret, algorithm, kid)
    for algorithm in ("HS256", "HS384", "HS512", "hs256", "RS256", "ES256")
    for kid, key in (("ec", ec_key()), ("rsa", rsa_key()))
    for secret in (b"", pem(key), pem(key).strip(), json.dumps(key_set()).encode(), kid.encode())
]
KEYS = [
    token(key=ec_key(1)),
    token(key=ec_key(1), kid="other"),
    token(key=ec_key(1), kid=None),
    token(key=rsa_key(2048, 1), algorithm="RS256", kid="rsa"),
    token(key=rsa_key(), algorithm="RS256", kid="ec"),
    token(kid="rsa"),
    token(kid="ed"),
    token(kid="../../etc/passwd"),
    token(kid="' or 1=1 --"),
    token(kid=""),
    *(
        token(key=ec_key(1), **{name: value})
        for name, value in (
            ("jwk", key_set()[1]),
            ("jku", "https://evil.example/keys"),
            ("x5u", "https://evil.example/chain"),
            ("x5c", ["MIIB"]),
        )
    ),
    token(crit=["exp"]),
    token(crit=["b64"], b64=False),
    token(crit=[]),
]
CLAIMS = [
    token(claims(**changes))
    for changes in (
        *(
            {"iss": value}
            for value in (None, "", "https://login.example.com", "HTTPS://login.example.com/")
        ),
        *({"aud": value} for value in (None, "", "Modelway", "modelway ", [], ["other"])),
        *({"exp": value} for value in (None, NOW, NOW - 1, 0, -1, "soon", True)),
        *({"exp": value} for value in (str(NOW + 99), [NOW + 99], 10**400, 1e18, 10**12)),
        *({"nbf": value} for value in (NOW + 7_200, NOW + 36_000)),
        {"iat": NOW + 7_200},
        *({"sub": value} for value in (None, "", " ", "a\nb", "a\x1b[2J", "\x00", "x" * 201)),
        *({"sub": value} for value in ("\ud800", "a\u202eb", "a\u200bb", "\u00a0", [], {}, 1.5)),
        {"jti": "\ud800"},
    )
]
RAW_CLAIMS = [
    by_hand({"alg": "ES256", "kid": "ec"}, payload)
    for payload in (
        [],
        "text",
        1,
        None,
        b"{",
        b"",
        b"\xff",
        {},
        {"iss": ["https://login.example.com/"]},
    )
]
FORMS = [
    with_another_signature(token()),
    token().rsplit(".", 1)[0] + "." + "A" * 86,
    by_hand({"alg": "ES256", "kid": "ec", "typ": "JWT"}, claims(), b"\x00" * 64),
    by_hand(b'{"alg":"ES256","alg":"none","kid":"ec"}', claims()),
    by_hand("ES256", claims()),
    by_hand(["ES256"], claims()),
    by_hand({"alg": "ES256", "kid": 1}, claims()),
    by_hand({"alg": "ES256", "kid": ["ec"]}, claims()),
    by_hand({"alg": "ES256", "kid": {"a": "ec"}}, claims()),
]
FLIPPED = [
    secret[:at] + ("A" if secret[at] != "A" else "B") + secret[at + 1 :]
    for secret in [token(claims(jti="x"))]
    for at in range(4, len(secret) - 1, 3)
    if secret[at] != "."
]


@pytest.mark.parametrize(
    ("attacks", "least"),
    [
        (NONE, 27),
        (CONFUSED, 60),
        (KEYS, 17),
        (CLAIMS, 37),
        (RAW_CLAIMS, 9),
        (FORMS, 9),
        (FLIPPED, 60),
    ],
    ids=["none", "confused", "keys", "claims", "raw-claims", "forms", "flipped"],
)
def test_no_forged_token_is_accepted(attacks, least):
    assert len(attacks) >= least
    found = bearers()
    assert found.caller(token())[0].name == "login.example.com:ada"
    for attack in attacks:
        with pytest.raises(TokenRefused) as raised:
            found.caller(attack)
        assert attack not in str(raised.value)


@each("name", [*ODD])
def test_no_odd_token_is_accepted_though_its_issuer_signed_it(name):
    with pytest.raises(TokenRefused) as raised:
        bearers().caller(ODD[name])
    assert ODD[name] not in str(raised.value)


@pytest.mark.parametrize("kind", ["JWT", "jwt", "at+jwt", "application/at+jwt", "AT+JWT"])
def test_the_types_of_access_and_id_tokens_are_accepted(kind):
    assert bearers().caller(token(typ=kind))[0].name == "login.example.com:ada"


def test_an_algorithm_that_the_entry_does_not_list_is_refused():
    assert "algorithm" in refusal(token(), ", algorithms: [RS256]")


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_a_token_of_a_small_key_is_refused():
    small = rsa_key(1024)
    found = bearers(keys=lambda: [jwk(small, "small")])
    with pytest.raises(TokenRefused, match="key"):
        found.caller(pyjwt.encode(claims(), small, "RS256", headers={"kid": "small"}))


def test_a_stranger_costs_no_key():
    asked = []
    found = bearers(keys=lambda: asked.append(1) or [])
    with pytest.raises(TokenRefused, match="issuer"):
        found.caller(token(claims(iss="https://evil.example/")))
    assert asked == []


def test_without_keys_nothing_is_said_of_a_token():
    def none():
        raise KeysUnavailable("away")

    with pytest.raises(KeysUnavailable, match="away"):
        bearers(keys=none).caller(token())


@pytest.mark.parametrize(
    "secret", ["mw-" + "0" * 64, "eyJ", "eyJ.a.b", "eyJa.b", "a.b.c", "eyJa.b.c.d"]
)
def test_other_secrets_are_not_of_this_form(secret):
    assert Bearers.is_signed(secret) is (secret == "eyJ.a.b" and False)


def test_a_token_is_bounded():
    assert Bearers.is_signed(token())
    secret = "eyJ" + "a" * 8_200 + ".b.c"
    assert Bearers.is_signed(secret)
    assert "8192 characters" in refusal(secret)


def test_two_requests_may_find_at_once_that_a_cached_token_has_ended():
    now, time, secret = [0.0], [NOW], token()
    keys = KeySet("i", lambda: gevent.sleep(0.01) or key_set(), lambda: now[0])
    found = Bearers(issuers(ENTRY % ""), [keys], "USD", lambda: time[0])
    found.caller(secret)
    now[0] += MAX_AGE + STALE_AGE + 1
    time[0] += 86_401
    requests = [gevent.spawn(found.caller, secret) for _ in range(2)]
    gevent.joinall(requests)
    assert [type(each.exception) for each in requests] == [TokenRefused, TokenRefused]
