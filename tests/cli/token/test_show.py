"""`modelway token show`: one token, without its secret."""

import json
import re

import pytest

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_show_prints_everything_except_the_secret(local):
    secret = local("create", "--name", "shop", "--models", "gpt-4o*").stdout.strip()
    output = local("show", "shop").stdout
    assert re.search(r"^state +active$", output, re.MULTILINE)
    assert re.search(r"^models +gpt-4o\*$", output, re.MULTILINE)
    assert re.search(r"^operations +all$", output, re.MULTILINE)
    assert re.search(r"^expires +never$", output, re.MULTILINE)
    assert secret not in output


def test_json_has_every_field(local):
    local("create", "--name", "shop", "--models", "gpt-4o*")
    document = json.loads(local("show", "shop", "--json").stdout)
    assert (document["name"], document["models"]) == ("shop", ["gpt-4o*"])
    assert (document["state"], document["expires"]) == ("active", None)
