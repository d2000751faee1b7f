"""Client secrets are opened as they were sealed, or not at all."""

from __future__ import annotations

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.exchange.client_secret import MAX_SECRET, PREFIX, ClientSecret, TooLarge
from engine.exchange.client_secret_keys import ClientSecretKeys
from engine.values.caller import digest
from tests.support.each import each

KEY, NEW = "first key " * 4, "second key " * 4
SECRET = ClientSecret(digest("mw-a"), 1_700_000_600.0, "gpt-realtime", {"type": "realtime"})
KEYS = ClientSecretKeys([KEY])
SEALED = KEYS.seal(SECRET)


def without_id(secret):
    """What a secret says, without what is random."""
    return secret and secret._replace(id="")


def test_a_secret_says_what_was_sealed() -> None:
    assert without_id(KEYS.open(SEALED)) == SECRET
    assert without_id(ClientSecretKeys([KEY]).open(SEALED)) == SECRET, "another process"


def test_nothing_of_it_can_be_read_and_no_two_are_equal() -> None:
    secret = SECRET._replace(session={"type": "realtime", "instructions": "Be kind"})
    one, other = KEYS.seal(secret), KEYS.seal(secret)
    assert one != other
    assert one.startswith(PREFIX)
    raw = base64.urlsafe_b64decode(one[len(PREFIX) :] + "==")
    for part in (bytes.fromhex(SECRET.token), b"gpt-realtime", b"realtime", b"kind"):
        assert part not in raw


def test_an_old_key_opens_and_the_new_one_seals() -> None:
    ring = ClientSecretKeys([NEW, KEY])
    assert without_id(ring.open(SEALED)) == SECRET
    sealed = ring.seal(SECRET)
    assert KEYS.open(sealed) is None
    assert without_id(ClientSecretKeys([NEW]).open(sealed)) == SECRET
    assert ClientSecretKeys([NEW]).open(SEALED) is None, "the old key was removed"


@each("position", range(len(PREFIX), len(SEALED)))
def test_a_changed_character_is_no_secret(position: int) -> None:
    """Also one that only holds bits which base64 does not use."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for character in random.Random(position).sample(alphabet, 8):
        changed = SEALED[:position] + character + SEALED[position + 1 :]
        assert (without_id(KEYS.open(changed)) == SECRET) == (changed == SEALED)
        assert changed == SEALED or KEYS.open(changed) is None


@each("length", range(len(SEALED)))
def test_a_secret_that_was_cut_is_none(length: int) -> None:
    assert KEYS.open(SEALED[:length]) is None


@each(
    "text",
    [
        *("", PREFIX, "ek_AA", SEALED + "A", SEALED + "==", SEALED + "\n", " " + SEALED),
        *(
            SEALED.upper(),
            SEALED.replace("ek_", "mw-"),
            "ek_" + "A" * 200,
            "ek_" + "A" * 10_000_000,
        ),
        *("ek_\u00e9", "ek_" + "=" * 40, "ek_\ud800"),
    ],
)
def test_other_texts_are_none(text: str) -> None:
    assert KEYS.open(text) is None


@given(st.text(max_size=300))
def test_no_text_is_one_by_chance(text: str) -> None:
    assert KEYS.open(PREFIX + text) is None


def test_settings_that_do_not_fit_into_a_header_are_refused() -> None:
    noise = random.Random(1).randbytes(6000).hex()
    with pytest.raises(TooLarge) as excinfo:
        KEYS.seal(SECRET._replace(session={"type": "realtime", "instructions": noise}))
    assert int(str(excinfo.value)) > MAX_SECRET
    words = " ".join(f"Rule {n}: answer kindly and briefly." for n in range(500))
    large = SECRET._replace(session={"type": "realtime", "instructions": words})
    assert without_id(KEYS.open(KEYS.seal(large))) == large
