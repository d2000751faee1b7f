"""Tokens that no caller may be of, though most are signed with the key of the issuer: `ODD`, by
what is odd about them. The signature is written by hand, as PyJWT refuses to sign most of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from tests.support.signed_tokens import ISSUER, NOW, claims, ec_key, jwk, rsa_key, token

_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""That of P-256."""
_HEADER = {"typ": "JWT", "alg": "ES256", "kid": "ec"}
_HEADER_CHANGES = {
    # RFC 7515 4.1.11, RFC 7797: extensions
    "crit": ["b64", "exp", "iss", "http://example.com/x", "", "\u212a"],
    "b64": [False, 0, 1, None, "true", "false", []],
    # RFC 7516 9: what has it is encrypted
    "enc": ["A256GCM", "", None],
    # RFC 7515 4.1.1
    "alg": [
        *("es256", "ES256 ", " ES256", "ES256\x00", "ES256K", "ES512", "\uff25S256", "HS256"),
        *("Es256", "ES256\u0301", "PBES2-HS256+A128KW", "ECDH-ES"),
        *("RSA-OAEP", "dir", "RSA1_5", "none", "ed25519", True, 256, None, [], {}, ["ES256"]),
    ],
    # RFC 7515 4.1.4: where a reader of files, a database or a shell would look
    "kid": [
        *("../../../../dev/null", "/proc/self/environ", "file:///etc/passwd", "ec\x00.pem"),
        *("https://evil.example/k", "//evil.example", "ec' UNION SELECT 'key", 'ec"; DROP TABLE x'),
        *("$(id)", "| cat /etc/passwd", "{{7*7}}", "EC", "\u0435c", "ec ", "\u202eec", "e" * 4_000),
        *("ec\x00", "%65%63", "*", "\uff45c", "[object Object]", "ec\n", "\u0000ec"),
        *(0, 1, True, None, [], ["ec"], {}, {"kid": "ec"}, 1.5),
    ],
    # RFC 8725 3.11: tokens of the same issuer that are for something else
    "typ": [
        *("logout+jwt", "application/logout+jwt", "LOGOUT+JWT", "dpop+jwt", "secevent+jwt"),
        *("token-introspection+jwt", "oauth-authz-req+jwt", "entity-statement+jwt", "kb+jwt"),
        *("vc+jwt", "vc+sd-jwt", "dc+sd-jwt", "application/dc+sd-jwt"),
        *("logout+jwt; x=1", "logout+jwt ", "\tlogout+jwt", "logout+jwt\x00", "logout+jwt ;"),
        *(["logout+jwt"], {}, 0, None, True),
    ],
}
_RAW_HEADERS = {
    "duplicate-alg-none-last": b'{"alg":"ES256","kid":"ec","alg":"none"}',
    "duplicate-kid": b'{"alg":"ES256","kid":"ec","kid":"rsa"}',
    "escaped-alg-last": b'{"alg":"ES256","kid":"ec","\\u0061lg":"HS256"}',
    "byte-order-mark": b'\xef\xbb\xbf{"alg":"ES256","kid":"ec"}',
    "utf-16": json.dumps(_HEADER).encode("utf-16"),
    "utf-32": json.dumps(_HEADER).encode("utf-32-le"),
    "lone-surrogate": b'{"alg":"ES256","kid":"\\ud800"}',
    "nan": b'{"alg":"ES256","kid":"ec","x":NaN}',
    "comment": b'{"alg":"ES256","kid":"ec"/**/}',
    "single-quotes": b"{'alg':'ES256','kid':'ec'}",
    "trailing-comma": b'{"alg":"ES256","kid":"ec",}',
    "two-values": b'{"alg":"ES256","kid":"ec"}{}',
    "deep": b'{"alg":"ES256","kid":"ec","x":' + b"[" * 1_200 + b"]" * 1_200 + b"}",
}
_AUDIENCES = [
    *('["x",["modelway"]]', '[null,"modelway"]', '"modelway other"', '"modelway,other"', '".*"'),
    *('"modelway\\u0000"', '"\uff4dodelway"', '"model\u200dway"', '"*"', '{"0":"modelway"}'),
]
_ISSUERS = [
    *(f'"{ISSUER}/"', f'"{ISSUER.upper()}"', f'"{ISSUER}../"', f'"{ISSUER}\\n"'),
    *('"https://login.example.com@evil.example/"', '"https://login.example.com:443/"'),
    *('"https://login.example.com./"', '"https://login.example%2ecom/"'),
    '"https://login.ex\u0430mple.com/"',
]
_NAMES = [
    *('"a\\u2028b"', '"a\\u0085b"', '"a\\u000bb"', '"\\u2067ada"', '"a\\u00adda"', '"\\ud83d"'),
    # Printable, and nothing to be seen
    *(
        '"ad\\u034fa"',
        '"\\u3164"',
        '"\\u2800"',
        '"ada\\ufe0f"',
        '"ada\\udb40\\udd00"',
        '"\\u115fada"',
    ),
]
_CLAIMS = {
    "exp": ["1e400", "-1e400", "9" * 400, "1e308", '"99999999999"', "[9e10]", "{}", "true", "-0.5"],
    "nbf": [
        "1e400",
        "-1e400",
        "9" * 400,
        "1e308",
        "{}",
        "[]",
        "null",
        '"soon"',
        f'"{"9" * 5_000}"',
        "true",
        '"1_0"',
        '" 1 "',
        '"\uff11"',
        f"{NOW}000",
    ],
    "iat": [
        "1e400",
        "-1e400",
        "9" * 30,
        "1e308",
        "{}",
        "[]",
        "null",
        '"soon"',
        "true",
        "false",
        '"\u0661"',
    ],
    "aud": [
        '[{"a":1}]',
        '["modelway",{"a":1}]',
        '[["modelway"]]',
        '{"modelway":1}',
        "true",
        "[1]",
        *_AUDIENCES,
    ],
    "iss": [
        f'["{ISSUER}"]',
        "{}",
        "true",
        f'"{ISSUER}\\u0000"',
        f'" {ISSUER}"',
        f'"{ISSUER}?"',
        *_ISSUERS,
    ],
    "sub": [
        '"\\u202eada"',
        '"a\\u200bda"',
        '"ada\\u0000"',
        '["ada"]',
        "7",
        "true",
        '"\\ufeffada"',
        *_NAMES,
    ],
    "jti": ["5", "[]", "{}", "null", "true"],
    # RFC 8417, OpenID Connect Back-Channel Logout 1.0 2.4: no token of a bearer
    "events": ['{"http://schemas.openid.net/event/backchannel-logout":{}}', "{}"],
}


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _signed(header: bytes, payload: bytes, key: EllipticCurvePrivateKey | None = None) -> str:
    """A token with a true signature of its bytes (RFC 7518 3.4)."""
    head = f"{_encoded(header)}.{_encoded(payload)}"
    numbers = decode_dss_signature((key or ec_key()).sign(head.encode(), ECDSA(SHA256())))
    return f"{head}.{_encoded(b''.join(number.to_bytes(32, 'big') for number in numbers))}"


def _of_header(**changes: object) -> str:
    return _signed(json.dumps({**_HEADER, **changes}).encode(), json.dumps(claims()).encode())


def _of_claims(text: bytes) -> str:
    return _signed(json.dumps(_HEADER).encode(), text)


def _forms() -> Iterator[tuple[str, str]]:
    """Other signatures, payloads and forms of a valid token."""
    secret = token()
    head, payload, signature = secret.split(".")
    start = f"{head}.{payload}."
    yield "r-and-s-are-the-order", start + _encoded(_ORDER.to_bytes(32, "big") * 2)
    yield "r-and-s-are-1", start + _encoded((1).to_bytes(32, "big") * 2)
    yield "der-signature", start + _encoded(ec_key().sign(start[:-1].encode(), ECDSA(SHA256())))
    yield "short-signature", start + signature[:40]
    yield "long-signature", f"{start}{signature}AAAA"
    yield "leading-zeros-in-signature", start + _encoded(b"\0" + _bytes(signature) + b"\0")
    yield "signature-of-no-byte", start
    yield "detached-payload", f"{head}..{signature}"
    yield "twice", secret + secret
    for name, text in (("blank", " "), ("line", "\n"), ("nul", "\0"), ("padding", "=")):
        yield f"{name}-at-the-end", secret + text
        yield f"{name}-before-the-claims", f"{head}.{text}{payload}.{signature}"
    yield "digit-of-another-script", secret[:-1] + "\u0661"
    yield "full-width-points", secret.replace(".", "\uff0e")
    yield "bits-after-the-last-byte", secret[:-1] + chr(ord(secret[-1]) + 1)
    yield "two-payloads", _of_claims(json.dumps(claims()).encode() * 2)
    yield "payload-in-a-list", _of_claims(json.dumps([claims()]).encode())
    yield "payload-and-nul", _of_claims(json.dumps(claims()).encode() + b"\0")
    yield "payload-with-a-comment", _of_claims(json.dumps(claims()).encode() + b"//")
    yield "overlong-utf-8", _of_claims(json.dumps(claims()).encode().replace(b"ada", b"\xc0\xae"))
    yield "line-in-a-text", _of_claims(json.dumps(claims()).encode().replace(b"ada", b"a\nda"))
    yield "nested-jws", _of_claims(secret.encode())
    yield "nested-in-json", _of_claims(json.dumps(secret).encode())
    yield "claims-of-utf-16", _of_claims(json.dumps(claims()).encode("utf-16"))
    yield (
        "signed-by-the-jwk-it-brings",
        _signed(
            json.dumps({**_HEADER, "jwk": jwk(ec_key(7), "ec")}).encode(),
            json.dumps(claims()).encode(),
            ec_key(7),
        ),
    )
    yield "rsa-signature-of-an-ec-name", token(key=rsa_key(), algorithm="RS256", kid="ec")
    yield (
        "expired-by-a-duplicate",
        _of_claims(json.dumps(claims()).encode()[:-1] + b', "exp": %d}' % (NOW - 9)),
    )


def _odd() -> Iterator[tuple[str, str]]:
    for name, values in _HEADER_CHANGES.items():
        for number, value in enumerate(values):
            changes = {name: [value] if name == "crit" else value}
            yield f"{name}-{number}-{str(value)[:20]!r}", _of_header(**changes)
    for name, header in _RAW_HEADERS.items():
        yield name, _signed(header, json.dumps(claims()).encode())
    for name, texts in _CLAIMS.items():
        rest = json.dumps(claims(**{name: None}))[:-1]
        for text in texts:
            yield f"{name}-{text[:30]}", _of_claims(f'{rest}, "{name}": {text}}}'.encode())
    yield from _forms()


ODD = dict(_odd())
