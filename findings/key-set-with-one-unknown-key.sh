#!/usr/bin/env bash
# Authlib 1.9.6, joserfc 1.8.0 and python-jose 3.5.0: one key of another kind in a JWK Set, and the tokens of all its
# other keys are refused.
#
# A reader of a set should ignore keys whose `kty` it does not understand, or whose values are out of its range (RFC
# 7517, 5). A token names its key by `kid`. To the RSA key that signed the token, a set adds one more:
# - a key for ML-DSA, a post-quantum signature (`kty: AKP`): authlib.jose raises KeyError, wherever the key stands;
# - an elliptic curve that is not known (`crv: BP-256`): joserfc raises KeyError;
# - a plain P-256 key for encryption (`use: enc`), before the RSA key: python-jose raises JWKError.
# PyJWT 2.15.1 and jwcrypto 1.6.1 read the token with each of them, as does jose 6.2.17 of npm.
#
# An issuer that adds a key for other uses, or to move to other signatures, locks the callers of such a server out.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
packages="authlib==1.9.6 joserfc==1.8.0 python-jose[cryptography]==3.5.0 PyJWT[crypto]==2.15.1 jwcrypto==1.6.1"
"$folder/venv/bin/pip" install --quiet $packages
cd "$folder"
npm install --silent --no-audit --no-fund jose@6.2.17
cat >verify.mjs <<'JAVASCRIPT'
import { createLocalJWKSet, jwtVerify } from "jose";
const [, , token, sets] = process.argv;
const seen = {};
for (const [name, keys] of Object.entries(JSON.parse(sets))) {
  seen[name] = await jwtVerify(token, createLocalJWKSet({ keys })).then(() => "valid", (error) => error.name);
}
console.log(JSON.stringify(seen));
JAVASCRIPT
venv/bin/python -W ignore - <<'PYTHON'
import base64
import json
import subprocess

import jwt
from authlib.jose import JsonWebKey, JsonWebToken
from joserfc import jwt as joserfc_jwt
from joserfc.jwk import KeySet
from jose import jwt as python_jose
from jwcrypto.jwk import JWK, JWKSet
from jwcrypto.jwt import JWT

signer = JWK.generate(kty="RSA", size=2048, kid="rsa", use="sig", alg="RS256")
encryption = JWK.generate(kty="EC", crv="P-256", kid="enc", use="enc", alg="ECDH-ES").export_public(as_dict=True)
rsa = signer.export_public(as_dict=True)
public = base64.urlsafe_b64encode(bytes(1312)).decode().rstrip("=")
SETS = {
    "RSA alone": [rsa],
    "AKP": [rsa, {"kty": "AKP", "alg": "ML-DSA-44", "kid": "pq", "use": "sig", "pub": public}],
    "BP-256": [rsa, {"kty": "EC", "crv": "BP-256", "kid": "bp", "use": "sig", "x": "AQ", "y": "AQ"}],
    "P-256": [encryption, rsa],
}
token = JWT(header={"alg": "RS256", "kid": "rsa"}, claims={"sub": "caller"})
token.make_signed_token(signer)
text = token.serialize()


def authlib(keys: list[dict]) -> None:
    JsonWebToken(["RS256"]).decode(text, JsonWebKey.import_key_set({"keys": keys}))


def joserfc(keys: list[dict]) -> None:
    joserfc_jwt.decode(text, KeySet.import_key_set({"keys": keys}), algorithms=["RS256"])


def jose(keys: list[dict]) -> None:
    python_jose.decode(text, {"keys": keys}, algorithms=["RS256"])


def pyjwt(keys: list[dict]) -> None:
    jwt.decode(text, jwt.PyJWKSet.from_dict({"keys": keys})["rsa"], algorithms=["RS256"])


def jwcrypto(keys: list[dict]) -> None:
    JWT(jwt=text, key=JWKSet.from_json(json.dumps({"keys": keys})), algs=["RS256"])


seen = {}
for library in (authlib, joserfc, jose, pyjwt, jwcrypto):
    for name, keys in SETS.items():
        try:
            library(keys)
            seen[library.__name__, name] = "valid"
        except Exception as error:
            seen[library.__name__, name] = type(error).__name__
    print(library.__name__, {name: seen[library.__name__, name] for name in SETS})
npm = json.loads(subprocess.check_output(["node", "verify.mjs", text, json.dumps(SETS)], text=True))
print("jose of npm", npm)
refused = {key: verdict for key, verdict in seen.items() if verdict != "valid"}
assert refused == {
    ("authlib", "AKP"): "KeyError",
    ("joserfc", "BP-256"): "KeyError",
    ("jose", "P-256"): "JWKError",
}, refused
assert set(npm.values()) == {"valid"}
PYTHON
