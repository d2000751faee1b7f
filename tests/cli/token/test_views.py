"""The fields of a token as commands print them."""

import json
import re

import pytest

from engine.values.caller import digest

pytestmark = pytest.mark.usefixtures("empty_folder")


def test_an_expired_token_has_that_state(local):
    line = {"name": "old", "sha256": digest("the secret s"), "expires": 5}
    local("import", "-", input=json.dumps(line))
    assert re.search(r"^state +expired$", local("show", "old").stdout, re.MULTILINE)
