#!/usr/bin/env bash
# PyJWT 2.15.1, Authlib 1.9.10, joserfc 1.8.0 and python-jose 3.5.0 (Python), jwks-rsa 4.1.0 with jsonwebtoken 9.0.3,
# get-jwks 11.0.3 with fast-jwt 6.3.6, and aws-jwt-verify 5.2.1 (npm): of two keys with one `kid`, one of RSA and one of
# EC, all tokens that were signed with the second are refused.
#
# Keys of a set may have the same `kid` if they are of different types and equivalent alternatives to the
# application (RFC 7517, 4.5: its example of keys that share one). The `alg` of the token's header says which of them is
# meant: RS256 needs a key of RSA, ES256 one of EC (RFC 7518, 3.1). These libraries take the first key with that `kid`,
# whatever its type, and raise an error of the algorithm, the key or the signature. With each key as the first the
# same token is good. jose 6.2.18 and node-jose 2.2.0 (npm) and jwcrypto 1.6.1 (Python) find the right key in both orders.
#
# An issuer that goes over from RSA to EC so locks out the half of its callers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund jose@6.2.18 jwks-rsa@4.1.0 jsonwebtoken@9.0.3 get-jwks@11.0.3 fast-jwt@6.3.6 \
  aws-jwt-verify@5.2.1 node-jose@2.2.0
python3 -m venv venv
packages="pyjwt[crypto]==2.15.1 authlib==1.9.10 joserfc==1.8.0 python-jose==3.5.0 jwcrypto==1.6.1"
venv/bin/pip install --quiet $packages
cat >verify.mjs <<'JAVASCRIPT'
import { JwtVerifier } from "aws-jwt-verify";
import { createVerifier } from "fast-jwt";
import buildGetJwks from "get-jwks";
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import jsonwebtoken from "jsonwebtoken";
import jwksRsa from "jwks-rsa";
import nodeJose from "node-jose";
const [, , domain, keys, token] = process.argv;
const algorithms = ["RS256", "ES256"];
const { kid, alg } = decodeProtectedHeader(token);
const jwksUri = `${domain}/keys`;
const libraries = {
  jose: () => jwtVerify(token, createRemoteJWKSet(new URL(jwksUri))),
  "node-jose": async () => nodeJose.JWS.createVerify(await nodeJose.JWK.asKeyStore(JSON.parse(keys))).verify(token),
  "jwks-rsa": async () => {
    const key = await jwksRsa({ jwksUri }).getSigningKey(kid);
    return jsonwebtoken.verify(token, key.getPublicKey(), { algorithms });
  },
  "get-jwks": async () => {
    const key = await buildGetJwks({ jwksPath: "/keys" }).getPublicKey({ kid, alg, domain });
    return createVerifier({ key, algorithms })(token);
  },
  "aws-jwt-verify": () => {
    const verifier = JwtVerifier.create({ issuer: "issuer", audience: "gateway", jwksUri: "https://issuer/keys" });
    verifier.cacheJwks(JSON.parse(keys));
    return verifier.verify(token);
  },
};
const seen = {};
for (const [name, verify] of Object.entries(libraries)) {
  try {
    await verify();
    seen[name] = "taken";
  } catch (error) {
    seen[name] = error.message;
  }
}
console.log(JSON.stringify(seen));
JAVASCRIPT
venv/bin/python -W ignore - <<'PYTHON'
import json
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import joserfc.jwk
import joserfc.jwt
import jwt
from authlib.jose import JsonWebKey, JsonWebToken
from jose import jwt as python_jose
from jwcrypto.jwk import JWK, JWKSet
from jwcrypto.jwt import JWT

ALGORITHMS = ["RS256", "ES256"]
KEYS = {
    "RS256": JWK.generate(kty="RSA", size=2048, kid="2026"),
    "ES256": JWK.generate(kty="EC", crv="P-256", kid="2026"),
}
key_set = {"keys": []}


class Issuer(BaseHTTPRequestHandler):
    log_message = lambda *_: None

    def do_GET(self) -> None:
        body = json.dumps(key_set).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("127.0.0.1", 0), Issuer)
threading.Thread(target=server.serve_forever, daemon=True).start()
domain = f"http://127.0.0.1:{server.server_port}"


def pyjwt(token: str) -> None:
    key = jwt.PyJWKClient(f"{domain}/keys").get_signing_key_from_jwt(token)
    jwt.decode(token, key, algorithms=ALGORITHMS, audience="gateway")


def authlib(token: str) -> None:
    JsonWebToken(ALGORITHMS).decode(token, JsonWebKey.import_key_set(key_set))


def joserfc_(token: str) -> None:
    joserfc.jwt.decode(token, joserfc.jwk.KeySet.import_key_set(key_set), algorithms=ALGORITHMS)


def python_jose_(token: str) -> None:
    python_jose.decode(token, key_set, algorithms=ALGORITHMS, audience="gateway")


def jwcrypto(token: str) -> None:
    JWT(jwt=token, key=JWKSet.from_json(json.dumps(key_set)))


def signed(algorithm: str) -> str:
    claims = {"iss": "issuer", "aud": "gateway", "exp": int(time.time()) + 600}
    token = JWT(header={"alg": algorithm, "kid": "2026"}, claims=claims)
    token.make_signed_token(KEYS[algorithm])
    return token.serialize()


def verdicts(first: str, algorithm: str) -> dict[str, str]:
    second = "ES256" if first == "RS256" else "RS256"
    key_set["keys"] = [json.loads(KEYS[each].export_public()) for each in (first, second)]
    token = signed(algorithm)
    output = subprocess.check_output(["node", "verify.mjs", domain, json.dumps(key_set), token], text=True)
    seen = json.loads(output)
    for verify in (pyjwt, authlib, joserfc_, python_jose_, jwcrypto):
        name = verify.__name__.rstrip("_")
        try:
            verify(token)
            seen[name] = "taken"
        except Exception as error:
            seen[name] = f"{type(error).__name__}: {error}"
    return seen


wrong = {"pyjwt", "authlib", "joserfc", "python_jose", "jwks-rsa", "get-jwks", "aws-jwt-verify"}
for first, algorithm in (("RS256", "RS256"), ("ES256", "ES256"), ("RS256", "ES256"), ("ES256", "RS256")):
    seen = verdicts(first, algorithm)
    print(f"{algorithm}, and the key of {first} is the first")
    for name, verdict in seen.items():
        print(f"  {name}: {verdict}")
    refused = {name for name, verdict in seen.items() if verdict != "taken"}
    assert refused == (set() if first == algorithm else wrong), refused
PYTHON
