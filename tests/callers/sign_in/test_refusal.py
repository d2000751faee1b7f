from engine.callers.sign_in.refusal import SignInRefused


def test_a_refusal_is_the_persons_own_matter_unless_the_config_says_no():
    assert not SignInRefused("Sign in again.").is_forbidden
    assert str(SignInRefused("No.", is_forbidden=True)) == "No."
