from engine.callers.jwt.identity import (
    ends_of,
    is_signed,
    issuer_identities,
    issuer_identity,
    revocable,
    revoked_identities,
    unrevocable,
)
from engine.values.caller import digest
from tests.support.signed_tokens import ENTRY, ISSUER, issuers

LISTED = (
    ENTRY % ", revoked: [a, b], revoked_subjects: [ada]",
    "{issuer: 'https://b.example', audience: x}",
)


def test_an_identity_tells_of_which_kind_a_token_is():
    assert is_signed(revocable(ISSUER, "1", "ada"))
    assert is_signed(unrevocable(ISSUER, digest("secret"), ""))
    assert not is_signed(digest("secret"))


def test_an_identity_tells_the_issuer_whatever_its_token_says():
    for token, subject in (("1\n2", "ada"), ("1", "a\nda"), ("", "\\nada"), ("\n", "")):
        for identity in (revocable(ISSUER, token, subject), unrevocable(ISSUER, "0a", subject)):
            assert ends_of(identity)[0] == issuer_identity(ISSUER)


def test_a_token_ends_with_its_issuer_its_id_and_its_subject():
    revoked = revoked_identities(issuers(*LISTED))
    assert len(revoked) == 3
    for token, subject, ends in (("a", "eve", 1), ("b", "ada", 2), ("c", "ada", 1), ("c", "a", 0)):
        identity = revocable(ISSUER, token, subject)
        assert len(revoked.intersection(ends_of(identity))) == ends
        other = revocable("https://b.example", token, subject)
        assert not revoked.intersection(ends_of(other))


def test_no_text_of_a_claim_stands_for_another_one():
    texts = ("", "a", "\n", "\n\n", "\\n", "\\", "a\n", "\na")
    identities = {revocable(ISSUER, token, subject) for token in texts for subject in texts}
    assert len({ends_of(identity) for identity in identities}) == len(texts) ** 2


def test_the_issuers_of_a_config():
    expected = {issuer_identity(ISSUER), issuer_identity("https://b.example")}
    assert issuer_identities(issuers(*LISTED)) == expected
