"""`modelway token new`: the entry that it prints works, and is printed as JSON, too."""

import json
import re

import pytest

from engine.plan.assembly.make_plan import make_plan
from engine.values.caller import digest
from tests.support import yaml_text
from tests.support.commands import GOOD, modelway

pytestmark = pytest.mark.usefixtures("empty_folder")


@pytest.mark.parametrize(
    ("args", "entry"),
    [
        (["alice"], {"name": "alice"}),
        (["alice", "--expires", "2027-01-31"], {"name": "alice", "expires": "2027-01-31"}),
        (
            ["alice", "--models", "gpt-4o*", "--models", "org/m:x"],
            {"name": "alice", "models": ["gpt-4o*", "org/m:x"]},
        ),
        (['a "quoted" \\ name: {x}'], {"name": 'a "quoted" \\ name: {x}'}),
        (["007"], {"name": "007"}),
        (["true"], {"name": "true"}),
        (["null"], {"name": "null"}),
        (["é # x"], {"name": "é # x"}),
        (["two\nlines"], {"name": "two\nlines"}),
    ],
)
def test_a_new_token_has_an_entry_that_works_when_pasted(folder, args, entry):
    result = modelway("token", "new", *args)
    assert result.exit_code == 0
    secret = re.search(r"^  (mw-[0-9a-f]{64})$", result.output, re.MULTILINE)[1]
    pasted = result.output[result.output.index("  - {") :]
    text = GOOD + "models: {gpt-4o: {to: [{upstream: main}]}}\ntokens:\n" + pasted
    planned = make_plan(folder / "gateway.yaml", {}, text)
    assert planned.findings.errors == []
    caller = planned.plan.config.tokens[digest(secret)]
    assert caller.name == entry["name"]
    assert list(caller.models or []) == entry.get("models", [])
    assert (caller.expires is not None) == ("expires" in entry)
    assert secret not in pasted


def test_two_tokens_have_different_secrets():
    secrets = [re.search(r"mw-\w+", modelway("token", "new", "a").output)[0] for _ in range(2)]
    assert secrets[0] != secrets[1]


@pytest.mark.parametrize("bad", ["tomorrow", "2027-02-30", "31.01.2027", ""])
def test_a_token_with_an_invalid_date_is_refused(bad):
    result = modelway("token", "new", "a", "--expires", bad)
    assert result.exit_code == 2
    assert "mw-" not in result.output


def test_an_empty_name_is_refused():
    assert modelway("token", "new", "").exit_code == 2


def test_the_entry_of_a_token_is_yaml():
    output = modelway("token", "new", "alice").output
    entry = yaml_text.load(output[output.index("  - {") :])[0]
    assert set(entry) == {"name", "sha256"}


def test_json_has_the_secret_and_the_entry():
    document = json.loads(modelway("token", "new", "alice", "--models", "gpt-4o*", "--json").stdout)
    assert document["entry"] == {
        "name": "alice",
        "sha256": digest(document["secret"]),
        "models": ["gpt-4o*"],
    }
