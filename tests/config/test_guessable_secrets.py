"""Which secrets of tokens can be guessed from their digest."""

import re
import secrets
import subprocess

import pytest

from engine.config.guessable_secrets import guess
from engine.values.caller import digest, new_secret
from tests.support.each import each
from tests.support.paths import ROOT

GUESSABLE = ["changeme", "ChangeMe", "CHANGEME", "sk-1234", "sk-test", "test", "Secret123", "x"]
GUESSABLE += ["password1", "1234", "12345678", "00000000", "mw-demo", "<your-api-key>", "hello"]


@pytest.mark.parametrize("secret", GUESSABLE)
def test_a_common_word_is_guessed_without_the_name_of_its_token(secret):
    assert guess(digest(secret), "shop") == "it is a common word or an example"


def test_an_empty_secret_is_guessed():
    assert guess(digest(""), "shop") == "it is empty"


@pytest.mark.parametrize(
    "secret", ["Team-7", "team-7", "TEAM-7", "sk-Team-7", "team-7123", "mw-team-7"]
)
def test_the_name_of_a_token_is_guessed_in_its_usual_forms(secret):
    reason = guess(digest(secret), "Team-7")
    assert reason == "it is the token's name, or nearly so"
    assert guess(digest(secret), "other") == ""


def test_a_reason_never_contains_the_secret():
    assert not [
        secret for secret in GUESSABLE if len(secret) > 1 and secret in guess(digest(secret), "")
    ]


def test_secrets_of_this_program_are_not_guessed():
    assert guess(digest(new_secret()), "alice") == guess(secrets.token_hex(32), "alice") == ""


@each(
    "file",
    subprocess.run(
        ["git", "ls-files", "docs", "deploy", "engine", "gateway.yaml", "README.md", "openapi"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    ).stdout.split()
    or ["gateway.yaml"],
)  # fmt: skip
def test_nothing_that_is_shipped_has_the_digest_of_a_word_that_it_says(file):
    """Whoever copies an example would open their gateway to every reader of it. The manual of
    MW385 has one as the wrong example."""
    if file.endswith((".png", "MW385.md")):
        return
    text = (ROOT / file).read_text("utf-8")
    digests = set(re.findall(r"\b[0-9a-f]{64}\b", text))
    if not digests:
        return
    words = set(re.findall(r"[\w.@/+-]+", text))
    assert digests.isdisjoint(map(digest, words | {word.lower() for word in words}))
    assert [d for d in digests if guess(d, "")] == []
