"""`oauth2:` of a config."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.credentials import problems_of, read

CLIENT = {"token_url": "https://login.test/token", "client": "me", "secret": "s3cr3t"}


def test_a_client_has_its_secret_sent_as_basic_authentication() -> None:
    credential = read({"oauth2": CLIENT})
    assert credential.options == {**CLIENT, "method": "basic"}  # type: ignore[attr-defined]
    assert (credential.secrets, credential.header) == (("s3cr3t",), "authorization")
    assert credential.label == "oauth2 client me at login.test"


@pytest.mark.parametrize("url", ["https://[::1/token", "https://login.test:x/token"])
def test_the_token_url_is_a_url(url: str) -> None:
    [(at, message, _, code)] = problems_of({"oauth2": {**CLIENT, "token_url": url}})
    assert (at, code) == (("oauth2", "token_url"), "MW104")
    assert message.startswith("this is not a URL: ")


def test_the_authorities_are_a_file(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    credential = read({"oauth2": {**CLIENT, "ca": "ca.pem"}}, tmp_path)
    assert credential.options["ca"] == str(tmp_path / "ca.pem")  # type: ignore[attr-defined]
    [(at, _, _, code)] = problems_of({"oauth2": {**CLIENT, "ca": "other.pem"}}, tmp_path)
    assert (at, code) == (("oauth2", "ca"), "MW106")
