"""An issuer of JSON Web Tokens for tests: its keys, and the tokens that it signs."""

from __future__ import annotations

import json
import time
from functools import cache
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from engine.config.callers import JwtIssuer
from engine.config.load import load
from engine.source.problem import Findings

ISSUER = "https://login.example.com/"
AUDIENCE = "modelway"
ENTRY = "{issuer: 'https://login.example.com/', audience: modelway, leeway: 0s%s}"
"""An entry of `callers.jwt`, and what more it has."""
NOW = int(time.time())
"""PyJWT reads the time itself; what must not happen while tests run is hours away."""


@cache
def rsa_key(bits: int = 2048, number: int = 0) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


@cache
def ec_key(number: int = 0) -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@cache
def ed_key() -> ed25519.Ed25519PrivateKey:
    return ed25519.Ed25519PrivateKey.generate()


def jwk(private: Any, kid: str, **members: object) -> dict[str, Any]:
    """The public key of a private one (RFC 7517)."""
    kinds = (
        (rsa.RSAPrivateKey, RSAAlgorithm),
        (ec.EllipticCurvePrivateKey, ECAlgorithm),
        (ed25519.Ed25519PrivateKey, OKPAlgorithm),
    )
    algorithm: Any = next(value for kind, value in kinds if isinstance(private, kind))
    return {**json.loads(algorithm.to_jwk(private.public_key())), "kid": kid, **members}


def key_set() -> list[dict[str, Any]]:
    """The keys of the issuer: `rsa`, `ec` and `ed`."""
    return [
        jwk(rsa_key(), "rsa", use="sig"),
        jwk(ec_key(), "ec", use="sig", alg="ES256"),
        jwk(ed_key(), "ed"),
    ]


def claims(**changes: Any) -> dict[str, Any]:
    """The claims of a valid token; None leaves one out."""
    usual = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "iat": NOW - 10, "exp": NOW + 86_400}
    return {name: value for name, value in {**usual, **changes}.items() if value is not None}


def token(
    payload: dict[str, Any] | None = None,
    key: Any = None,
    algorithm: str | None = "ES256",
    kid: str | None = "ec",
    **headers: Any,
) -> str:
    """A signed token, by default a valid one."""
    if kid is not None:
        headers["kid"] = kid
    return jwt.encode(
        claims() if payload is None else payload,
        ec_key() if key is None else key,
        algorithm=algorithm,
        headers=headers,
    )


def issuers(*entries: str) -> tuple[JwtIssuer, ...]:
    """These entries of `callers.jwt`."""
    text = f"version: 1\ncallers: {{jwt: [{', '.join(entries)}]}}"
    findings = Findings()
    config, _ = load(text, "gateway.yaml", Path(), {}, findings)
    assert [str(problem) for problem in findings.errors if "jwt" in problem.place] == []
    assert config is not None
    return config.jwt
