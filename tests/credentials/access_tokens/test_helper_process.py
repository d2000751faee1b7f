"""Tokens through a real helper process."""

from __future__ import annotations

from pathlib import Path

import gevent
import pytest

from engine.credentials.access_tokens import helper_process
from engine.credentials.access_tokens.token import CredentialUnavailable
from tests.support.recording import recorder
from tests.support.scripted import STALL, script
from tests.support.token_servers import json_answer, numbered

OAUTH2 = "engine.credentials.fetchers.oauth2"
OPTIONS = {"client": "me", "secret": "s3cr3t-value", "method": "basic"}


def test_the_token_of_a_server_comes_back() -> None:
    with recorder() as server:
        server.speak = numbered()
        token = helper_process.fetch(OAUTH2, OPTIONS | {"token_url": server.url})
    assert token.values == {"token": "token-1"}
    assert 3500 < token.expires - token.fetched < 3610


def test_other_greenlets_run_meanwhile() -> None:
    steps: list[int] = []

    def count() -> None:
        while True:
            steps.append(1)
            gevent.sleep(0.001)

    counting = gevent.spawn(count)
    with recorder() as server:
        server.speak = numbered()
        helper_process.fetch(OAUTH2, OPTIONS | {"token_url": server.url})
    counting.kill()
    assert len(steps) > 5


def test_a_failure_comes_back_with_its_cause() -> None:
    with recorder() as server:
        server.speak = json_answer({"error": "invalid_client"}, 401)
        with pytest.raises(CredentialUnavailable) as excinfo:
            helper_process.fetch(OAUTH2, OPTIONS | {"token_url": server.url})
    assert excinfo.value.words == "the token server answered 401 invalid_client"
    assert (excinfo.value.detail, excinfo.value.lasting) == (server.url, True)


def test_a_helper_that_hangs_is_ended() -> None:
    with recorder() as server:
        server.speak = script(STALL)
        with pytest.raises(CredentialUnavailable, match="in time: 2 s"):
            helper_process.fetch(OAUTH2, OPTIONS | {"token_url": server.url}, seconds=2)


def test_a_helper_that_breaks_off_is_a_failure() -> None:
    with pytest.raises(CredentialUnavailable, match="failed"):
        helper_process.fetch(OAUTH2, OPTIONS, helper=["true"])


def test_a_helper_that_cannot_be_started_is_a_failure() -> None:
    with pytest.raises(CredentialUnavailable, match="cannot be started"):
        helper_process.fetch(OAUTH2, OPTIONS, helper=["/no/such/file"])


def test_no_secret_is_in_its_arguments_or_environment(tmp_path: Path) -> None:
    output_file = tmp_path / "shown"
    script_file = tmp_path / "helper.sh"
    script_file.write_text(f"#!/bin/sh\necho $0 $@ > {output_file}; env >> {output_file}\n")
    script_file.chmod(0o700)
    with pytest.raises(CredentialUnavailable):
        helper_process.fetch(OAUTH2, OPTIONS, helper=[str(script_file)])
    assert "oauth2" in output_file.read_text()
    assert "s3cr3t" not in output_file.read_text()
