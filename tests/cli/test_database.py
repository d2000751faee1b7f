"""The database of the token commands, from the config or an option, and what is wrong with it."""

import json
from pathlib import Path

import pytest

from engine.stores.database.open_database import open_database
from engine.values.caller import digest
from tests.support.commands import assert_refused, modelway

pytestmark = pytest.mark.usefixtures("empty_folder")


CONFIG = """version: 1
stores: {records: sqlite:///var/modelway.db, token_ttl: 3s}
currency: EUR
upstreams: {main: {url: "${NOT_SET_HERE}"}}
tokens: [{name: fixed, sha256: "c35824a7e6624639f6c799c65c4d17c094118c6d85890740d56fe52974961486"}]
"""


def test_the_config_names_the_database_and_the_currency(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "gateway.yaml").write_text(CONFIG)
    where = ["--config", "home/gateway.yaml"]
    assert modelway("token", "create", "--name", "a", "--budget", "5 EUR/1d", *where).exit_code == 0
    assert (tmp_path / "home" / "var" / "modelway.db").exists()
    assert_refused(
        modelway("token", "create", "--name", "b", "--budget", "5 USD/1d", *where),
        "in EUR",
        status=2,
    )
    assert "within 3 s" in modelway("token", "revoke", "a", *where).stderr


def test_tokens_of_the_config_are_not_changed(tmp_path):
    (tmp_path / "gateway.yaml").write_text(CONFIG)
    assert_refused(modelway("token", "create", "--name", "fixed"), "is already in gateway.yaml")
    modelway("token", "create", "--name", "a")
    assert_refused(modelway("token", "revoke", "fixed"), "is in gateway.yaml: change it there")
    for line in (
        {"name": "fixed", "sha256": digest("the secret x")},
        {"name": "x", "sha256": digest("the secret test")},
    ):
        assert_refused(modelway("token", "import", "-", input=json.dumps(line)), "in gateway.yaml")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (None, ["cannot read gateway.yaml", "--database"]),
        ("version: 1\n", ["no database is configured", "sqlite:///var/modelway.db"]),
        ("version: [\n", ["cannot be used", "gateway.yaml:"]),
        ("version: 1\nstores: {records: 5}\n", ["gateway.yaml:2:"]),
        ("version: 1\nstores: {records: '${NOT_SET_HERE}'}\n", ["NOT_SET_HERE", "gateway.yaml:2:"]),
        ("version: 1\nstores: {record: x}\n", ["gateway.yaml:2:", "record"]),
        ("version: 1\nstores: {records: mysql://x/y}\n", ["gateway.yaml:2:"]),
    ],
)
def test_a_config_without_a_database_is_explained(tmp_path, config, words):
    if config is not None:
        (tmp_path / "gateway.yaml").write_text(config)
    assert_refused(modelway("token", "create", "--name", "a"), *words)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://me:geheim@host/x", "is not a supported database"),
        ("postgresql+psycopg://me:geheim@127.0.0.1:1/x", "does not answer"),
        ("sqlite:////proc/nowhere/x.db", "cannot make"),
    ],
)
def test_an_unusable_database_is_reported_in_one_line(url, words):
    result = modelway("token", "create", "--name", "a", "--database", url)
    assert_refused(result, words)
    assert "geheim" not in result.output
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [["list"], ["show", "a"], ["export"], ["revoke", "a"]])
def test_reading_creates_no_database(local, tmp_path, command):
    assert_refused(local(*command), "there is no database", "modelway token create")
    assert list(Path(tmp_path).iterdir()) == []


def test_a_newer_database_is_refused(on, records_url):
    on("create", "--name", "a")
    database = open_database(records_url)
    database.write(lambda c: c.exec_driver_sql("UPDATE alembic_version SET version_num = 'r9'"))
    database.close()
    assert_refused(on("create", "--name", "b"), "made by a newer Modelway", "run that version")


def test_a_file_without_write_permission_is_reported(local, tmp_path, monkeypatch):
    local("create", "--name", "a")
    for file in tmp_path.glob("x.db*"):
        file.write_bytes(b"not a database at all" * 100)
    assert_refused(local("revoke", "a"), "the file is no SQLite database")
