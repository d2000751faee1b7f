"""What a browser keeps of a sign-in is opened until it expires, and by nobody else."""

import re

from engine.callers.sign_in.pending_sign_in import (
    MAX_SECONDS,
    PendingSignIn,
    PendingSignIns,
    new_pending_sign_in,
)

KEY, OTHER = "first key " * 4, "second key " * 4


def test_each_sign_in_has_its_own_unguessable_values():
    pending_sign_ins = [new_pending_sign_in("/", 0.0) for _ in range(50)]
    values = {value for pending in pending_sign_ins for value in pending[:3]}
    assert len(values) == 150
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43,128}", value) for value in values)  # RFC 7636 4.1


def test_the_challenge_is_that_of_the_standard():
    """RFC 7636, appendix B."""
    pending = PendingSignIn("", "", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "/", 0.0)
    assert pending.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_a_sign_in_is_opened_until_it_expires():
    pending_sign_ins, pending = (
        PendingSignIns([KEY], "issuer", "client"),
        new_pending_sign_in("/docs", 100.0),
    )
    sealed = pending_sign_ins.seal(pending)
    assert pending_sign_ins.open(sealed, 100.0 + MAX_SECONDS - 1) == pending
    assert pending_sign_ins.open(sealed, 100.0 + MAX_SECONDS) is None


def test_another_key_issuer_or_client_opens_nothing():
    sealed = PendingSignIns([KEY], "issuer", "client").seal(new_pending_sign_in("/", 0.0))
    for others in (([OTHER], "issuer", "client"), ([KEY], "x", "client"), ([KEY], "issuer", "x")):
        assert PendingSignIns(*others).open(sealed, 0.0) is None
    assert PendingSignIns([OTHER, KEY], "issuer", "client").open(sealed, 0.0) is not None
    assert PendingSignIns([KEY], "issuer", "client").open("", 0.0) is None
