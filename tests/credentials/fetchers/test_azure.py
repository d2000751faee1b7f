"""Tokens of Microsoft Entra ID against a local authority and metadata service."""

from __future__ import annotations

import datetime
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jwt
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from engine.credentials.access_tokens.token import CredentialUnavailable
from engine.credentials.fetchers.azure import fetch
from tests.support.peer import Authority, Certificate
from tests.support.ports import free_port
from tests.support.recording import ReceivedRequest, Recorder, recorder
from tests.support.token_servers import azure_machine, by_path, form_of, json_answer, tls_context

SCOPE = "https://cognitiveservices.azure.com/.default"
RESOURCE = SCOPE.removesuffix("/.default")
TENANT, CLIENT = "11111111-2222-3333-4444-555555555555", "66666666-7777-8888-9999-000000000000"
TOKEN_PATH = f"/{TENANT}/oauth2/v2.0/token"
GIVEN = {"access_token": "entra-token", "expires_in": 3599, "token_type": "Bearer"}
NAMES = (
    *("AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET", "AZURE_AUTHORITY_HOST"),
    *("AZURE_CLIENT_CERTIFICATE_PATH", "AZURE_FEDERATED_TOKEN_FILE"),
    *("IDENTITY_ENDPOINT", "IDENTITY_HEADER", "MSI_ENDPOINT", "MSI_SECRET", "IMDS_ENDPOINT"),
)


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No credentials of the machine's own."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Certificate, str]:
    authority = Authority(tmp_path_factory.mktemp("authority"))
    return authority.issue("127.0.0.1"), authority.path


@pytest.fixture
def entra(
    certificate: tuple[Certificate, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Recorder]:
    """An authority, which the library reaches by TLS alone."""
    issued, ca = certificate
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", ca)
    with recorder(tls_context(issued)) as recording:
        recording.speak = speak(recording, json_answer(GIVEN))
        yield recording


def speak(server: Recorder, token: Any) -> Any:
    def configuration(received: ReceivedRequest, sock: socket.socket) -> None:
        document = {
            "issuer": f"{server.url}/{TENANT}/v2.0",
            "token_endpoint": f"{server.url}{TOKEN_PATH}",
            "authorization_endpoint": f"{server.url}/{TENANT}/oauth2/v2.0/authorize",
        }
        json_answer(document)(received, sock)

    place = f"/{TENANT}/v2.0/.well-known/openid-configuration"
    return by_path({place: configuration, TOKEN_PATH: token})


def options(server: Recorder | None = None, **more: str) -> dict[str, str]:
    return {"scope": SCOPE, **({"authority": server.url} if server else {}), **more}


def rsa_identity() -> bytes:
    """A certificate and its RSA key in one PEM text."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "application")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    no_password = serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, no_password)
    return certificate.public_bytes(pem) + private


def failure(**given: str) -> CredentialUnavailable:
    with pytest.raises(CredentialUnavailable) as excinfo:
        fetch(given)
    return excinfo.value


def test_an_application_proves_itself_by_its_secret(entra: Recorder) -> None:
    values, expires = fetch(options(entra, tenant=TENANT, client=CLIENT, secret="s3cr3t"))
    assert values == {"token": "entra-token"}
    assert expires is not None
    assert abs(expires - time.time() - 3599) < 60
    form = form_of(entra.last)
    assert (form["grant_type"], form["client_secret"]) == ("client_credentials", "s3cr3t")
    assert (form["client_id"], form["scope"]) == (CLIENT, SCOPE)


def test_an_application_proves_itself_by_its_certificate(entra: Recorder, tmp_path: Path) -> None:
    path = tmp_path / "application.pem"
    application = rsa_identity()
    path.write_bytes(application)
    fetch(options(entra, tenant=TENANT, client=CLIENT, certificate=str(path)))
    form = form_of(entra.last)
    key: Any = x509.load_pem_x509_certificate(application).public_key()
    assertion = form["client_assertion"]
    audience = f"{entra.url}{TOKEN_PATH}"
    algorithms = [jwt.get_unverified_header(assertion)["alg"]]
    claims = jwt.decode(assertion, key, algorithms=algorithms, audience=audience)
    assert (claims["iss"], claims["sub"]) == (CLIENT, CLIENT)


def test_a_workload_sends_the_token_of_its_file(entra: Recorder, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("kubernetes-token")
    values, _ = fetch(options(entra, tenant=TENANT, client=CLIENT, token_file=str(path)))
    assert values == {"token": "entra-token"}
    assert form_of(entra.last)["client_assertion"] == "kubernetes-token"


@pytest.mark.parametrize(
    ("variable", "field"),
    [("AZURE_CLIENT_SECRET", "client_secret"), ("AZURE_FEDERATED_TOKEN_FILE", "client_assertion")],
)
def test_the_environment_may_name_the_proof(
    entra: Recorder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    field: str,
) -> None:
    path = tmp_path / "token"
    path.write_text(str(path))
    monkeypatch.setenv("AZURE_TENANT_ID", TENANT)
    monkeypatch.setenv("AZURE_CLIENT_ID", CLIENT)
    monkeypatch.setenv(variable, str(path))
    fetch(options(entra))
    assert form_of(entra.last)[field] == str(path)


def test_a_refusal_is_named(entra: Recorder) -> None:
    error = {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid secret."}
    entra.speak = speak(entra, json_answer(error, 401))
    failure_of_fetch = failure(**options(entra, tenant=TENANT, client=CLIENT, secret="s3cr3t"))
    assert failure_of_fetch.words == "Microsoft Entra ID gave no token"
    assert "AADSTS7000215: Invalid secret." in failure_of_fetch.detail
    assert failure_of_fetch.lasting


def test_a_file_that_is_no_certificate_is_named(entra: Recorder, tmp_path: Path) -> None:
    path = tmp_path / "application.pem"
    path.write_text("nothing")
    failure_of_fetch = failure(
        **options(entra, tenant=TENANT, client=CLIENT, certificate=str(path))
    )
    assert failure_of_fetch.words == "there is no Azure token"
    assert failure_of_fetch.detail


def test_an_authority_that_is_not_there_is_named() -> None:
    url = f"https://127.0.0.1:{free_port()}"
    given = {"scope": SCOPE, "tenant": TENANT, "client": CLIENT, "secret": "s", "authority": url}
    failure_of_fetch = failure(**given)
    assert failure_of_fetch.words == "Microsoft Entra ID cannot be reached"
    assert not failure_of_fetch.lasting


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """The metadata service (IMDS) of a virtual machine."""
    with recorder() as recording:
        monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", recording.url)
        recording.speak = azure_machine
        yield recording


@pytest.mark.parametrize("client", ["", CLIENT])
def test_a_managed_identity_is_that_of_the_machine(machine: Recorder, client: str) -> None:
    values, expires = fetch(options(**({"client": client} if client else {})))
    assert values == {"token": "azure-machine"}
    assert expires is not None
    target = machine.last.target
    assert machine.last.values("metadata") == ["true"]
    assert f"resource={RESOURCE}" in unquote(target)
    assert (f"client_id={client}" in target) is bool(client)


def test_an_identity_of_app_service_is_asked_by_its_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with recorder() as server:
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{server.url}/msi/token")
        monkeypatch.setenv("IDENTITY_HEADER", "s3cr3t")
        given = {"access_token": "of the app", "expires_on": str(int(time.time()) + 3599)}
        token = json_answer({**given, "resource": RESOURCE, "token_type": "Bearer"})
        server.speak = by_path({"/msi/token": token})
        assert fetch(options())[0] == {"token": "of the app"}
        assert server.last.values("x-identity-header") == ["s3cr3t"]


def test_a_machine_without_an_identity_is_named(machine: Recorder) -> None:
    error = {"error": "invalid_request", "error_description": "Identity not found"}
    machine.speak = json_answer(error, 400)
    failure_of_fetch = failure(**options())
    assert (
        "Identity not found" in failure_of_fetch.detail
        or "no managed identity" in failure_of_fetch.detail.lower()
    )
    assert failure_of_fetch.lasting
