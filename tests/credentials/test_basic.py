"""Basic authentication (RFC 7617)."""

from engine.credentials.interface.fixed import HeaderCredential
from tests.support.credentials import problems_of, read


def test_the_pair_is_sent_in_base64() -> None:
    # The example of RFC 7617 section 2.
    expected = HeaderCredential("basic", "authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    assert read({"basic": {"user": "Aladdin", "password": "open sesame"}}) == expected


def test_the_pair_is_utf_8() -> None:
    # The example of RFC 7617 section 2.1.
    credential = read({"basic": {"user": "test", "password": "123£"}})
    assert credential.secrets == ("Basic dGVzdDoxMjPCow==",)


def test_a_user_has_no_colon_and_a_password_may_have() -> None:
    read({"basic": {"user": "a", "password": "b:c"}})
    [(at, message, *_)] = problems_of({"basic": {"user": "a:b", "password": "c"}})
    assert at == ("basic", "user")
    assert message.startswith("'a:b' has a colon")


def test_neither_has_control_characters() -> None:
    assert [at for at, *_ in problems_of({"basic": {"user": "a", "password": "b\n"}})] == [
        ("basic",)
    ]
