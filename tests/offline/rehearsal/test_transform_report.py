"""The report of transforms: the edits that were made, each with the policy that makes it."""

import pytest

from engine.offline.rehearsal.observation import request
from engine.offline.rehearsal.rehearse import rehearse
from engine.offline.rehearsal.report import report
from engine.values.caller import Caller
from tests.support.rehearsing import CONFIG, patched, planned

BODY = b'{"model": "big", "messages": [{}]}'


def set_header(name):
    return {"transform": {"request": {"header": {"set": {name: "blue"}}}}}


@pytest.fixture
def edits(tmp_path):
    """The edits of a config with two transforms and a `deny` of a header between, and with one of
    the model: side, name of the header, and whether a policy makes it."""

    def rows(denied):
        deny = {"deny": {"if": {"header": {denied: "blue"}}}}
        policies = [set_header("x-a"), deny, set_header("x-b")]
        config = patched(CONFIG, {"policies": policies, "models": {"big": set_header("x-c")}})
        result = planned(tmp_path, config)
        chat = request("POST", "/v1/chat", (), BODY)
        document = report(result, rehearse(result.plan, chat, Caller("alice")))
        return [
            (row["side"], row["edit"].split()[1], bool(row["policy"]))
            for row in document["transforms"]
        ]

    return rows


def test_edits_have_their_policy_and_those_of_the_model_none(edits):
    assert edits("x-other") == [
        ("caller", "x-a", True),
        ("caller", "x-b", True),
        ("caller", "x-c", False),
    ]


def test_edits_behind_a_refusal_are_not_listed(edits):
    assert edits("x-a") == [("caller", "x-a", True)]
