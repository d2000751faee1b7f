"""`google:` of a config."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.credentials import problems_of, read

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
KEY = {"type": "service_account", "client_email": "a", "private_key": "b", "token_uri": "c"}


def test_without_a_file_they_are_the_default_credentials() -> None:
    credential = read({"google": {}})
    assert credential.options == {"scope": SCOPE}  # type: ignore[attr-defined]
    assert credential.label == "google default credentials"


def test_a_file_is_relative_to_the_config(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    path.write_text(json.dumps(KEY))
    credential = read({"google": {"file": "key.json", "scope": "s"}}, tmp_path)
    assert credential.options == {"scope": "s", "file": str(path)}  # type: ignore[attr-defined]
    assert credential.label == "google file key.json"


def test_the_project_that_pays_is_a_header() -> None:
    credential = read({"google": {"quota_project": "p-1"}})
    assert credential.headers == (("x-goog-user-project", "p-1"),)  # type: ignore[attr-defined]
    assert credential.options == {"scope": SCOPE}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a credential file: its 'type' is not one of "),
        ('{"type": "riddle"}', "is not a credential file: its 'type' is not one of "),
        ('{"type": "service_account"}', "of type service_account: client_email is missing"),
        ('{"type": "external_account", "audience": "a"}', "subject_token_type is missing"),
    ],
)
def test_a_file_of_another_form_is_a_problem(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "key.json").write_text(text)
    [(at, message, _, code)] = problems_of({"google": {"file": "key.json"}}, tmp_path)
    assert (at, code) == (("google", "file"), "MW104")
    assert message.startswith("'key.json' ")
    assert problem in message


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    [(at, _, _, code)] = problems_of({"google": {"file": "key.json"}}, tmp_path)
    assert (at, code) == (("google", "file"), "MW106")


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.credentials.interface.credential.find_spec", lambda name: None)
    [(at, _, hint, code)] = problems_of({"google": {}})
    assert (at, hint, code) == (("google",), "pip install 'modelway[google]'", "MW108")
