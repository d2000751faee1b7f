"""`modelway token import`: all lines or none."""

import json
import re

import pytest

from engine.values.caller import digest
from tests.support.commands import assert_refused

pytestmark = pytest.mark.usefixtures("empty_folder")


GOOD = {"name": "good", "sha256": digest("the secret good")}


BAD = [
    ("{", "not JSON"),
    ("[1]", "not a JSON object"),
    ({"name": "x"}, "sha256: missing"),
    ({"sha256": digest("the secret x")}, "name: missing"),
    ({"name": None, "sha256": digest("the secret x")}, "name: missing"),
    ({"name": "x", "sha256": "mw-geheim"}, "sha256: is not a SHA-256"),
    ({"name": "x", "sha256": digest("the secret x").upper()}, "sha256: is not a SHA-256"),
    (
        {"name": "x", "sha256": digest("the secret x"), "secret": "mw-geheim"},
        "import the sha256 of a secret instead",
    ),
    ({"name": "x", "sha256": digest("the secret x"), "modells": []}, "did you mean 'models'?"),
    (
        {"name": "x", "sha256": digest("the secret x"), "models": "gpt"},
        "models: is not a list of texts",
    ),
    (
        {"name": "x", "sha256": digest("the secret x"), "models": [1]},
        "models: is not a list of texts",
    ),
    ({"name": 5, "sha256": digest("the secret x")}, "name: is not a text"),
    (
        {"name": "x", "sha256": digest("the secret x"), "ips": ["10.0.0.1/8"]},
        "ips: '10.0.0.1/8' is no",
    ),
    ({"name": "x", "sha256": digest("the secret x"), "rate": "60"}, "rate: '60' is not"),
    (
        {"name": "x", "sha256": digest("the secret x"), "budget": "1 EUR/1d"},
        "budget: '1 EUR/1d' is in EUR",
    ),
    (
        {"name": "x", "sha256": digest("the secret x"), "concurrency": True},
        "concurrency: 'True' is no",
    ),
    ({"name": "x", "sha256": digest("the secret x"), "concurrency": 0}, "concurrency: '0' is no"),
    (
        {"name": "x", "sha256": digest("the secret x"), "expires": True},
        "expires: 'True' is not a time",
    ),
    ({"name": "x", "sha256": digest("the secret x"), "expires": -1}, "expires: '-1' is not a time"),
    (
        {"name": "x", "sha256": digest("the secret x"), "expires": "soon"},
        "expires: 'soon' is not a time",
    ),
    ({"name": "x", "sha256": digest("the secret x"), "previous_until": 5}, "must be used together"),
    ({"name": "good", "sha256": digest("the secret x")}, "'good' is already in line 1"),
    ({"name": "x", "sha256": digest("the secret good")}, "the same secret is in line 1"),
    ({"name": "taken", "sha256": digest("the secret x")}, "'taken' is already in the database"),
    ({"name": "x", "sha256": digest("the secret taken")}, "in the database has this secret"),
]


def test_an_invalid_line_is_named_and_nothing_is_imported(local, tmp_path):
    local("import", "-", input=json.dumps({"name": "taken", "sha256": digest("the secret taken")}))
    for line, words in BAD:
        text = line if isinstance(line, str) else json.dumps(line)
        (tmp_path / "all.jsonl").write_text(f"{json.dumps(GOOD)}\n\n{text}\n")
        result = local("import", "all.jsonl")
        assert_refused(result, "all.jsonl:3: ", words, "nothing was imported: 1 problem\n")
        assert "geheim" not in result.output
    stored = json.loads(local("list", "--format", "json").stdout)
    assert [token["name"] for token in stored] == ["taken"]


def test_all_invalid_lines_are_named_in_order(local, tmp_path):
    local("create", "--name", "taken")
    lines = [
        json.dumps({"name": "taken", "sha256": digest("the secret 1")}),
        "{",
        "[]",
        json.dumps(GOOD),
    ]
    result = local("import", "-", input="\n".join(lines))
    assert_refused(result, "nothing was imported: 3 problems")
    assert re.findall(r"stdin>?:(\d+):", result.stderr) == ["1", "2", "3"]


def test_a_line_needs_only_a_name_and_a_digest(local):
    line = {"name": "a", "sha256": digest("the secret a"), "expires": "2998-12-31", "models": None}
    assert local("import", "-", input=json.dumps(line)).exit_code == 0
    assert "2999-01-01T00:00:00Z" in local("show", "a").stdout


def test_a_missing_file_is_reported(local):
    assert_refused(local("import", "nowhere.jsonl"), "nowhere.jsonl", status=2)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"name": "shop", "sha256": digest("changeme")}, "sha256: its secret can be guessed"),
        ({"name": "shop", "sha256": digest("Shop")}, "it is the token's name"),
        (
            {
                "name": "shop",
                "sha256": digest("the secret x"),
                "previous_sha256": digest("test"),
                "previous_until": 4e9,
            },
            "previous_sha256: its secret can be guessed",
        ),
    ],
)
def test_a_secret_that_can_be_guessed_is_not_imported(local, line, reason):
    assert_refused(local("import", "-", input=json.dumps(line)), reason)
