"""No secret of a query is written down."""

import pytest

from engine.telemetry.redact import redacted, without_tokens


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("", ""),
        ("alt=sse", "alt=sse"),
        ("alt=sse&key=AIza123", "alt=sse&key=[redacted]"),
        ("api_key=1&x=2", "api_key=[redacted]&x=2"),
        ("access_token=1", "access_token=[redacted]"),
        ("a=mw-secret", "a=[redacted]"),
        ("a=" + "Az09" * 8, "a=[redacted]"),
        ("k%65y=1", "k%65y=[redacted]"),
        ("limit=20&after=file_1", "limit=20&after=file_1"),
        ("flag", "flag"),
    ],
)
def test_of_an_operation_what_may_be_a_secret_is_hidden(query, shown):
    assert redacted(query, known=True) == shown


def test_of_what_is_no_operation_every_value_is_hidden():
    assert redacted("a=1&b=2&c", known=False) == "a=[redacted]&b=[redacted]&[redacted]"


def test_a_token_in_a_path_is_not_written_down():
    secret = "mw-" + "a1" * 32
    assert without_tokens(f"/v1/{secret}/x") == "/v1/mw-***/x"
    assert without_tokens("/v1/mw-small/x") == "/v1/mw-small/x"
