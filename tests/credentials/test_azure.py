"""`azure:` of a config."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.credentials import problems_of, read

SCOPE = "https://cognitiveservices.azure.com/.default"
APPLICATION = {"tenant": "t", "client": "c"}


def test_an_application_has_a_secret() -> None:
    credential = read({"azure": {**APPLICATION, "secret": "s3cr3t"}})
    assert credential.options == {  # type: ignore[attr-defined]
        **APPLICATION,
        "scope": SCOPE,
        "secret": "s3cr3t",
    }
    assert (credential.secrets, credential.label) == (("s3cr3t",), "azure client c")


@pytest.mark.parametrize("name", ["certificate", "token_file"])
def test_files_are_relative_to_the_config(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    credential = read({"azure": {**APPLICATION, name: "file"}}, tmp_path)
    assert credential.options[name] == str(tmp_path / "file")  # type: ignore[attr-defined]
    assert credential.secrets == ()
    [(at, _, _, code)] = problems_of({"azure": {**APPLICATION, name: "other"}}, tmp_path)
    assert (at, code) == (("azure", name), "MW106")


def test_without_a_proof_it_is_the_environment_or_the_machine() -> None:
    assert read({"azure": {}}).label == "azure environment or managed identity"
    assert read({"azure": {"client": "c"}}).label == "azure client c"


@pytest.mark.parametrize(
    ("options", "at", "message"),
    [
        (
            {**APPLICATION, "secret": "a", "certificate": "file"},
            ("azure", "certificate"),
            "'secret' and 'certificate' together",
        ),
        ({"client": "c", "secret": "a"}, ("azure",), "'secret' without 'tenant'"),
        ({"tenant": "t", "token_file": "file"}, ("azure",), "'token_file' without 'client'"),
        (
            {"tenant": "t"},
            ("azure", "tenant"),
            "'tenant' without a secret, certificate or token_file",
        ),
    ],
)
def test_an_application_is_complete(
    tmp_path: Path, options: dict[str, str], at: tuple[str, ...], message: str
) -> None:
    (tmp_path / "file").touch()
    [problem] = problems_of({"azure": options}, tmp_path)
    assert problem[:2] == (at, message)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.credentials.interface.credential.find_spec", lambda name: None)
    [(at, _, hint, code)] = problems_of({"azure": {}})
    assert (at, hint, code) == (("azure",), "pip install 'modelway[azure]'", "MW108")
