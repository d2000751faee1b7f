"""What a browser keeps of a sign-in is opened until it expires, and by nobody else."""

import re

from engine.callers.sign_in.flow import MAX_SECONDS, Flow, Flows, new_flow

KEY, OTHER = "first key " * 4, "second key " * 4


def test_each_sign_in_has_its_own_unguessable_values():
    flows = [new_flow("/", 0.0) for _ in range(50)]
    values = {value for flow in flows for value in flow[:3]}
    assert len(values) == 150
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43,128}", value) for value in values)  # RFC 7636 4.1


def test_the_challenge_is_that_of_the_standard():
    """RFC 7636, appendix B."""
    flow = Flow("", "", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "/", 0.0)
    assert flow.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_a_sign_in_is_opened_until_it_expires():
    flows, flow = Flows([KEY], "issuer", "client"), new_flow("/docs", 100.0)
    sealed = flows.seal(flow)
    assert flows.open(sealed, 100.0 + MAX_SECONDS - 1) == flow
    assert flows.open(sealed, 100.0 + MAX_SECONDS) is None


def test_another_key_issuer_or_client_opens_nothing():
    sealed = Flows([KEY], "issuer", "client").seal(new_flow("/", 0.0))
    for others in (([OTHER], "issuer", "client"), ([KEY], "x", "client"), ([KEY], "issuer", "x")):
        assert Flows(*others).open(sealed, 0.0) is None
    assert Flows([OTHER, KEY], "issuer", "client").open(sealed, 0.0) is not None
    assert Flows([KEY], "issuer", "client").open("", 0.0) is None
