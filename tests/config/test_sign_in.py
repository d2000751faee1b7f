"""`console.sign_in` as a value."""

from engine.config.sign_in import SignInConfig
from tests.support.configs import read_config, read_errors
from tests.support.each import each

KEY = "0123456789abcdef0123456789abcdef"
BLOCK = "issuer: https://a.example, client_id: pages"


def read(more: str) -> SignInConfig | None:
    return read_config(f"console: {{sign_in: {{{BLOCK}, {more}}}}}").console.sign_in


def test_nobody_signs_in_by_default():
    assert read_config("").console.sign_in is None


def test_what_is_left_out_has_defaults():
    sign_in = read(f"keys: ['{KEY}']")
    assert sign_in == SignInConfig("https://a.example", "pages", (KEY,))
    assert sign_in is not None
    assert (sign_in.client_secret, sign_in.session) == ("", 8 * 3600.0)
    assert sign_in.scopes == ("openid", "profile", "email")


def test_empty_keys_and_scopes_that_come_twice_are_left_out():
    sign_in = read(f"keys: ['', '{KEY}'], scopes: [openid, email, openid], session: 30m")
    assert sign_in is not None
    assert (sign_in.keys, sign_in.scopes) == ((KEY,), ("openid", "email"))
    assert sign_in.session == 1_800.0


def test_secrets_are_not_shown():
    sign_in = read(f"keys: ['{KEY}'], client_secret: s3cret-value")
    assert KEY not in repr(sign_in)
    assert "s3cret" not in repr(sign_in)


@each("session", ["30s", "8d"])
def test_the_length_of_a_session_is_bounded(session):
    text = f"console: {{sign_in: {{{BLOCK}, keys: ['{KEY}'], session: {session}}}}}"
    assert [code for _, _, code in read_errors(text)] == ["MW104"]
