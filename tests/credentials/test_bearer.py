"""Keys that are sent as `Authorization: Bearer`."""

from engine.credentials.interface.fixed import HeaderCredential
from tests.support.credentials import problems_of, read


def test_a_bearer_credential_is_the_header_authorization() -> None:
    assert read({"bearer": "k1"}) == HeaderCredential("bearer", "authorization", "Bearer k1")


def test_the_scheme_is_not_part_of_the_key() -> None:
    [(at, message, hint, _)] = problems_of({"bearer": "bearer k1"})
    assert (at, hint) == (("bearer",), "write the key alone")
    assert "writes 'Bearer'" in message


def test_a_key_is_one_line_of_ascii() -> None:
    for key in ("a\nb", "ä"):
        assert [at for at, *_ in problems_of({"bearer": key})] == [()]
