"""Keys of AWS as botocore finds them, from local servers of STS and of metadata."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.credentials.fetchers.aws import fetch
from tests.support.ports import free_port
from tests.support.recording import Recorder, answer, recorder
from tests.support.token_servers import aws_instance, form_of, in_an_hour, json_answer

OPTIONS = {"region": "eu-central-1"}
KEYS = {"access_key": "AKIA1", "secret_key": "s3cr3t", "session_token": "session"}
ROLE = "arn:aws:iam::123456789012:role/gateway"


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys of the machine's own."""
    for name in (
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"),
        *("AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
        *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN"),
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


@pytest.fixture
def server() -> Iterator[Recorder]:
    with recorder() as recording:
        yield recording


def failure(**options: str) -> CredentialUnavailable:
    with pytest.raises(CredentialUnavailable) as raised:
        fetch({**OPTIONS, **options})
    return raised.value


def assert_for_an_hour(fetched: tuple[dict[str, str], float | None]) -> None:
    values, expires = fetched
    assert values == KEYS
    assert expires is not None
    assert abs(expires - time.time() - 3600) < 60


def test_keys_of_the_environment_have_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA1")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t")
    assert fetch(OPTIONS) == ({**KEYS, "session_token": ""}, None)


def test_a_profile_has_keys(tmp_path: Path) -> None:
    text = "[work]\naws_access_key_id=AKIA1\naws_secret_access_key=s3cr3t\n"
    (tmp_path / "credentials").write_text(f"{text}aws_session_token=session\n")
    assert fetch({**OPTIONS, "profile": "work"}) == (KEYS, None)


def test_a_profile_that_is_not_there_is_named() -> None:
    failed = failure(profile="work")
    assert failed.words == "there are no AWS keys"
    assert "(work)" in failed.detail
    assert failed.lasting


def sts(document: str = "", status: int = 200) -> object:
    body = document or (
        '<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">'
        "<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AKIA1</AccessKeyId>"
        "<SecretAccessKey>s3cr3t</SecretAccessKey><SessionToken>session</SessionToken>"
        f"<Expiration>{in_an_hour()}</Expiration></Credentials>"
        "</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
    )
    return answer(body.encode(), ["Content-Type: text/xml"], status)


@pytest.fixture
def web_identity(server: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    (tmp_path / "token").write_text("kubernetes-token")
    monkeypatch.setenv("AWS_ROLE_ARN", ROLE)
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", server.url)
    server.speak = sts()  # type: ignore[assignment]
    return server


def test_a_web_identity_assumes_its_role(web_identity: Recorder) -> None:
    assert_for_an_hour(fetch(OPTIONS))
    form = form_of(web_identity.last)
    assert (form["Action"], form["RoleArn"]) == ("AssumeRoleWithWebIdentity", ROLE)
    assert form["WebIdentityToken"] == "kubernetes-token"


def test_a_refused_web_identity_is_named(web_identity: Recorder) -> None:
    text = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>Not you.</Message></Error>"
    web_identity.speak = sts(f"{text}</ErrorResponse>", 403)  # type: ignore[assignment]
    failed = failure()
    assert failed.words == "the token service of AWS answered AccessDenied"
    assert "Not you." in failed.detail
    assert failed.lasting


def test_a_token_service_that_fails_is_asked_again_later(web_identity: Recorder) -> None:
    text = "<ErrorResponse><Error><Code>InternalFailure</Code></Error></ErrorResponse>"
    web_identity.speak = sts(text, 500)  # type: ignore[assignment]
    assert not failure().lasting


def test_a_token_service_that_is_not_there_is_named(
    web_identity: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", url)
    failed = failure()
    assert url in failed.detail
    assert not failed.lasting


def test_a_missing_token_file_is_named(
    web_identity: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/no/such/token")
    assert "/no/such/token" in failure().detail


def test_the_role_of_a_container_is_asked_with_its_token(
    server: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = {"AccessKeyId": "AKIA1", "SecretAccessKey": "s3cr3t", "Token": "session"}
    server.speak = json_answer({**document, "Expiration": in_an_hour()})
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{server.url}/v1/credentials")
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "s3cr3t-too")
    assert_for_an_hour(fetch(OPTIONS))
    assert server.last.values("authorization") == ["s3cr3t-too"]


def test_the_role_of_an_instance_is_asked_by_version_2(
    server: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.speak = aws_instance
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "false")
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url)
    assert_for_an_hour(fetch(OPTIONS))


def test_missing_keys_are_reported() -> None:
    failed = failure()
    assert failed.words == "no AWS keys were found"
    assert "AWS_ACCESS_KEY_ID" in failed.detail
    assert failed.lasting
