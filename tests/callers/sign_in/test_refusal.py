from engine.callers.sign_in.refusal import SignInRefused, error_code
from tests.support.each import each


def test_a_refusal_is_the_persons_own_matter_unless_the_config_says_no():
    assert not SignInRefused("Sign in again.").is_forbidden
    assert str(SignInRefused("No.", is_forbidden=True)) == "No."


@each(
    ("value", "code"),
    [
        ("invalid_grant", "invalid_grant"),
        ("<b>", ""),
        ("a" * 61, ""),
        (None, ""),
        (7, ""),
        ("", ""),
    ],
)
def test_only_a_code_of_the_standard_is_shown(value, code):
    assert error_code(value) == code
