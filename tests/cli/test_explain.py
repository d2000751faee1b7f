"""`modelway explain`: what it takes, and how it exits."""

import json

import pytest
from click.testing import CliRunner

from engine import cli
from tests.support.rehearsing import AMBIGUOUS, CONFIG, ENVIRON, SECRET, write
from tests.support.signed_tokens import claims, token

BODY = '{"model": "big", "messages": [{}]}'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value in ENVIRON.items():
        monkeypatch.setenv(name, value)
    write(tmp_path)
    return tmp_path


def run(*args, **more):
    return CliRunner().invoke(cli.main, ["explain", *args], **more)


def test_a_served_request_exits_with_0():
    result = run("POST", "/v1/chat", "--token", "alice", "-d", BODY)
    assert result.exit_code == 0
    assert result.output.startswith("POST /v1/chat: served (200)\n")
    lines = CONFIG.splitlines()
    at = next(n for n, line in enumerate(lines, 1) if line.startswith("  - operation: shop.chat"))
    assert f"[gateway.yaml:{at}:16]" in result.output


def test_a_refused_request_exits_with_1():
    result = run("POST", "/v1/chat", "-d", BODY)
    assert (result.exit_code, "invalid_api_key" in result.output) == (1, True)


def test_a_header_may_carry_the_token_itself():
    result = run("POST", "/v1/chat", "-H", f"Authorization: Bearer {SECRET}", "-d", BODY)
    assert (result.exit_code, SECRET in result.output) == (0, False)


@pytest.mark.parametrize("data", ["@body.json", "@-"])
def test_the_body_may_come_from_a_file_or_standard_input(folder, data):
    (folder / "body.json").write_text(BODY)
    result = run("POST", "/v1/chat", "--token", "alice", "-d", data, input=BODY)
    assert (result.exit_code, "main as real-big" in result.output) == (0, True)


def test_json_is_one_document():
    result = run("POST", "/v1/chat", "--token", "alice", "-d", BODY, "--format", "json")
    report = json.loads(result.output)
    assert (report["served"], report["model"]["name"]) == (True, "big")


def test_upstreams_respond_as_configured():
    args = ("POST", "/v1/chat", "--token", "alice", "-d", BODY)
    assert "upstream answer 503" in run(*args, "--answers", "main=503").output
    assert run(*args, "--answers", "main=503").exit_code == 0
    assert run(*args, "--answers", "connect").exit_code == 1


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["GET"], "write METHOD and PATH, or --tool and --arguments"),
        (["GET", "v1/items/7"], "does not begin with"),
        (["GET", "/v1/items/7", "-H", "nonsense"], "name: value"),
        (["GET", "/v1/items/7", "--token", "alicia"], "did you mean 'alice'?"),
        (["GET", "/v1/items/7", "--answers", "mian=503"], "did you mean 'main'?"),
        (["GET", "/v1/items/7", "--answers", "oops"], "is not an answer"),
        (["GET", "/v1/items/7", "--answers", "999"], "is not an answer"),
        (["GET", "/v1/items/7", "-d", "@no.json"], "cannot be read"),
    ],
)
def test_wrong_usage_exits_with_2(args, words):
    result = run(*args)
    assert (result.exit_code, words in result.output) == (2, True)


def test_a_config_with_errors_is_not_explained(folder):
    (folder / "gateway.yaml").write_text(CONFIG.replace("upstream: main", "upstream: mian"))
    result = run("GET", "/v1/items/7")
    assert (result.exit_code, "unknown upstream 'mian'" in result.output) == (1, True)


def with_records(folder):
    config = CONFIG.replace("version: 1", "version: 1\nstores: {records: sqlite:///records.db}", 1)
    (folder / "gateway.yaml").write_text(config)


def test_a_token_may_be_in_the_database(folder):
    with_records(folder)
    result = CliRunner().invoke(
        cli.main, ["token", "create", "--name", "dora", "--models", "small"]
    )
    assert result.exit_code == 0, result.output
    before = (folder / "records.db").read_bytes()
    result = run("POST", "/v1/chat", "--token", "dora", "-d", BODY)
    assert (result.exit_code, "model_not_allowed" in result.output) == (1, True), result.output
    assert "dora" in result.output
    assert run("POST", "/v1/chat", "--token", "alice", "-d", BODY).exit_code == 0
    CliRunner().invoke(cli.main, ["token", "revoke", "dora"])
    result = run("POST", "/v1/chat", "--token", "dora", "-d", BODY.replace("big", "small"))
    assert (result.exit_code, "expired" in result.output) == (1, True), result.output
    assert len((folder / "records.db").read_bytes()) == len(before)


def test_a_failed_token_lookup_is_explained(folder):
    with_records(folder)
    result = run("POST", "/v1/chat", "--token", "dora", "-d", BODY)
    assert (result.exit_code, "there is no database" in result.output) == (2, True)
    assert not (folder / "records.db").exists()


def test_an_unknown_name_lists_the_known_ones():
    result = run("POST", "/v1/chat", "--token", "somebody-else", "-d", BODY)
    assert (result.exit_code, "known: " in result.output) == (2, True)


def test_invalid_json_is_reported():
    result = run("POST", "/v1/chat", "--token", "alice", "-d", ' {"model": "big"')
    assert (result.exit_code, "refused (400)" in result.output) == (1, True)
    assert "not valid JSON" in result.output


def test_a_request_that_openapi_core_reads_differently_has_a_warning(folder):
    write(folder, document=AMBIGUOUS)
    result = run("POST", "/v1/chat", "--token", "alice", "-d", BODY)
    words = (
        "MW421: the body: Modelway accepts it, openapi-core refuses it (model: 'big' is too long)"
    )
    assert f"  warning         {words}\n" in result.output
    assert result.exit_code == 0


def test_the_second_opinion_can_be_switched_off(folder):
    write(folder, document=AMBIGUOUS)
    options = ("-d", BODY, "--format", "json", "--no-second-opinion")
    result = run("POST", "/v1/chat", "--token", "alice", *options)
    assert json.loads(result.output)["warnings"] == []


ISSUER = """
callers: {jwt: [{issuer: "https://login.example.com/", audience: modelway, models: [small]}]}
"""


@pytest.mark.parametrize(
    ("secret", "code", "words"),
    [
        (token(), 1, "may not use the model 'big'"),
        (token(claims(aud="other")), 1, "refused by authenticate: The token was issued for"),
        ("no token", 1, "refused by authenticate: The token is not a valid"),
    ],
)
def test_a_json_web_token_may_stand_in_a_file(folder, secret, code, words):
    write(folder, CONFIG + ISSUER)
    (folder / "ada.jwt").write_text(f"{secret}\n")
    result = run("POST", "/v1/chat", "--token", "@ada.jwt", "-d", BODY)
    assert (result.exit_code, words in result.output) == (code, True), result.output
    assert secret not in result.output


def test_the_name_of_an_issuers_caller_says_how_it_is_explained(folder):
    write(folder, CONFIG + ISSUER)
    result = run("POST", "/v1/chat", "--token", "login.example.com:ada", "-d", BODY)
    assert (result.exit_code, "write --token @FILE" in result.output) == (2, True)
