"""Secrets that an attacker tries first: the name of a token, common words, examples of manuals.

Whoever knows the digest of one can find it; whoever does not will guess it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import lru_cache

_WORDS = (
    *("abc", "abc123", "access", "admin", "administrator", "alice", "anonymous", "anything", "api"),
    *("api-key", "api_key", "apikey", "app", "auth", "bar", "baz", "bearer", "bob", "change-me"),
    *("change_me", "change-this", "changeit", "changeme", "changethis", "ci", "client", "common"),
    *("dashboard", "debug", "default", "demo", "dev", "developer", "development", "docker"),
    *("dummy", "empty", "example", "fake", "foo", "foobar", "gateway", "guest", "hello"),
    *("helloworld", "hello-world", "hunter2", "iloveyou", "internal", "key", "kong", "letmein"),
    *("litellm", "local", "localhost", "login", "master", "master-key", "master_key", "modelway"),
    *(
        "monkey",
        "my-key",
        "my-secret",
        "my-token",
        "mykey",
        "mysecret",
        "mytoken",
        "no-key",
        "none",
    ),
    *("not-needed", "not-set", "null", "ollama", "openai", "p@ssw0rd", "pass", "passw0rd"),
    *("password", "placeholder", "postgres", "private", "prod", "production", "proxy", "public"),
    *("qwerty", "redis", "root", "s3cr3t", "s3cret", "sample", "secret", "secret-key"),
    *("secret-token", "secret_key", "secretkey", "secrettoken", "service", "shared-secret"),
    *("staging", "super-secret", "supersecret", "system", "team", "temp", "test", "test-key"),
    *("test-token", "test_key", "tester", "testing", "testkey", "tests", "testtoken", "token"),
    *("unused", "user", "username", "vllm", "welcome", "work", "world", "xxx", "xxxx", "xxxxxxxx"),
    *("<api-key>", "<key>", "<secret>", "<token>", "<your-api-key>", "<your-key>", "<your-token>"),
    *("your-api-key", "your-key", "your-secret", "your-token", "your_api_key", "your_token"),
    *("yourkey", "yourtoken"),
)
"""In lower case; `_variants` adds prefixes, numbers and capitals."""

_PREFIXES = ("", "mw-", "sk-")
_ENDINGS = ("", "1", "123", "1234", "!", "-key", "-token")
_CHARACTERS = "".join(map(chr, range(33, 127)))


def guess(digest: str, name: str) -> str:
    """Why the secret of a digest can be guessed, "" if it is not known to be. `name` is that of
    its token. The reason does not contain the secret."""
    name = name.strip()
    if name and any(_sha256(secret) == digest for secret in _variants(name)):
        return "it is the token's name, or nearly so"
    return _common().get(digest, "")


@lru_cache(maxsize=1)
def _common() -> dict[str, str]:
    """The digests of secrets that do not depend on a name, with the reason."""
    simple = [*_CHARACTERS, *(character * 8 for character in _CHARACTERS)]
    simple += ["1234567890"[:length] for length in range(2, 11)]
    words = [secret for word in _WORDS for secret in _variants(word)]
    bare = [prefix + number for prefix in _PREFIXES for number in simple]
    reasons = {_sha256(secret): "it is a common word or an example" for secret in (*words, *bare)}
    return {**reasons, _sha256(""): "it is empty"}


def _variants(word: str) -> Iterator[str]:
    """A word as people write it for a secret."""
    camel = "".join(part.capitalize() for part in re.split("[-_ ]", word))
    for form in {word, word.lower(), word.upper(), word.capitalize(), camel}:
        for prefix in _PREFIXES:
            for ending in _ENDINGS:
                yield f"{prefix}{form}{ending}"


def _sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
