from engine.callers.jwt.refusal import TokenRefused


def test_a_refusal_is_that_of_a_stranger_unless_it_says_otherwise():
    assert not TokenRefused("no").is_known
    assert TokenRefused("no", is_known=True).is_known
    assert str(TokenRefused("no")) == "no"
