"""`modelway mock`: the server and the application that it starts."""

import socket

import pytest
from falcon.testing import TestClient

from tests.support.commands import modelway
from tests.support.masters import application, start_in_process


@pytest.fixture
def masters(monkeypatch):
    monkeypatch.setattr("engine.cli.mock.exit_if_unavailable", lambda addresses: None)
    return start_in_process(monkeypatch)


def test_a_port_in_use_is_found_before_the_documents_are_read(folder, monkeypatch):
    masters = start_in_process(monkeypatch)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        result = modelway("mock", "-c", "bad.yaml", "--port", str(port))
    assert (result.exit_code, masters) == (1, [])
    assert f"cannot listen on 127.0.0.1:{port} (--port)" in str(result.exception)


def test_it_listens_on_the_loopback_and_counts_its_documents(folder, masters):
    result = modelway("mock", "-c", "gateway.yaml", "--port", "9123", "--workers", "2")
    assert result.stderr == "mock: 1 document on http://127.0.0.1:9123\n"
    (master,) = masters
    assert (master.server.listen, master.server.workers) == ("127.0.0.1:9123", 2)


def test_it_serves_the_documents_of_the_shipped_config_by_default(empty_folder, masters):
    assert "mock: 5 documents" in modelway("mock").stderr


def test_it_serves_no_other_documents_than_those_of_its_config(folder, masters):
    modelway("mock", "-c", "gateway.yaml")
    headers = {"Authorization": "Bearer mock-credential"}
    client = TestClient(application(masters[0]))
    assert client.simulate_get("/v1/models", headers=headers).status_code == 404


def test_it_accepts_the_credential_of_its_option_alone(empty_folder, masters):
    modelway("mock", "--credential", "mine")
    client = TestClient(application(masters[0]))
    for credential, status in (("mine", 200), ("mock-credential", 401)):
        headers = {"Authorization": f"Bearer {credential}"}
        assert client.simulate_get("/v1/models", headers=headers).status_code == status


def test_a_config_with_errors_is_not_served(folder, masters):
    result = modelway("mock", "-c", "bad.yaml")
    assert (result.exit_code, masters) == (1, [])
    assert "unknown upstream 'mian'" in result.stderr


def test_the_config_of_the_folder_and_of_the_variable_come_before_the_shipped_one(folder, masters):
    assert modelway("mock").stderr.startswith("mock: 1 document on")
    result = modelway("mock", env={"MODELWAY_CONFIG": "missing.yaml"})
    assert result.exit_code == 1
    assert "missing.yaml" in result.stderr
