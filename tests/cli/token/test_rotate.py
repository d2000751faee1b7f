"""`modelway token rotate`: a new secret, and the grace time of the old one."""

import json
import re
import time

import pytest

from engine.stores.database import tokens
from engine.stores.database.open_database import open_database
from engine.values.caller import digest
from tests.support.commands import assert_refused

pytestmark = pytest.mark.usefixtures("empty_folder")


SECRET = re.compile(r"mw-[0-9a-f]{64}\n")


def test_rotate_prints_a_new_secret_and_keeps_the_old_one_for_the_grace_time(on, records_url):
    old = on("create", "--name", "shop").stdout.strip()
    rotated = on("rotate", "shop", "--grace", "1h")
    assert SECRET.fullmatch(rotated.stdout)
    assert "the old one is valid until" in rotated.stderr
    database = open_database(records_url)

    def find(secret):
        return tokens.caller_lookup(database, "USD")([digest(secret)]).get(digest(secret))

    assert find(rotated.stdout.strip()).expires is None
    assert abs(find(old).expires - time.time() - 3600) < 60
    again = on("rotate", "shop", "--grace", "0s")
    assert "the secret before that" in again.stderr
    assert find(old) is None
    assert find(rotated.stdout.strip()) is None
    database.close()


def test_an_invalid_grace_time_is_refused(local):
    local("create", "--name", "a")
    assert_refused(local("rotate", "a", "--grace", "1 day"), "is not a duration", status=2)


def test_json_has_the_name_and_the_new_secret(local):
    old = local("create", "--name", "shop").stdout.strip()
    document = json.loads(local("rotate", "shop", "--json").stdout)
    assert document["name"] == "shop"
    assert document["secret"].startswith("mw-")
    assert document["secret"] != old
